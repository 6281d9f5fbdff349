import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isOutage } from '../../src/domain/database-faults.ts';
import { openDatabase } from '../../src/storage/database.ts';

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const ready = message('Z', 'I');
const ended = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

test('a session that is ended as soon as it is prepared is an outage for who was to have it, and no fault of ours', async () => {
  const server = createServer((socket) => {
    let messages = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      messages += 1;
      // The start; then the settings of the session, with its end in the same piece.
      if (messages === 1) socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
      else socket.end(Buffer.concat([message('C', 'SET\0'), ready, ended]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const database = openDatabase({ url: `postgres://u:p@127.0.0.1:${port}/d`, connections: 1, name: 'lost' });
  try {
    const error: unknown = await database`select 1`.catch((fault: unknown) => fault);
    expect(error).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(isOutage(error)).toBe(true);
  } finally {
    await database.end();
    server.close();
  }
});
