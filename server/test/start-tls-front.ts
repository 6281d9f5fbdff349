import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { TlsPair } from '../src/http/server/listener.ts';

export type TlsFront = {
  url: string;
  /** How the connections up to now came. */
  counts: { secure: number; plain: number };
  stop(): Promise<void>;
};

// What asks for TLS before anything else is said (PostgreSQL's protocol, SSLRequest).
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** A server of PostgreSQL's protocol that speaks TLS, or with no certificate refuses to, in front of a database of the tests. */
export async function startTlsFront(databaseUrl: string, pair: TlsPair | undefined): Promise<TlsFront> {
  const target = new URL(databaseUrl);
  const counts = { secure: 0, plain: 0 };
  const open = new Set<Socket>();
  const follow = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket));
  };
  const pass = (socket: Socket, first?: Buffer): void => {
    const behind = connect(Number(target.port), target.hostname);
    follow(behind);
    if (first) behind.write(first);
    socket.pipe(behind).pipe(socket);
    socket.once('close', () => behind.destroy());
    behind.once('close', () => socket.destroy());
  };
  const server = createServer((socket) => {
    follow(socket);
    socket.once('data', (first) => {
      if (!first.equals(sslRequest)) {
        counts.plain += 1;
        return pass(socket, first);
      }
      if (!pair) return void socket.write('N', () => socket.once('data', (second) => pass(socket, second)));
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(pair) });
      follow(secure);
      secure.once('secure', () => {
        counts.secure += 1;
        pass(secure);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = 'localhost';
  url.port = String((server.address() as AddressInfo).port);
  return {
    ...{ url: url.href, counts },
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
