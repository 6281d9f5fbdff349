import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
let folder: string;
let receiver: Server;
let receiverUrl: string;
const received: { headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  bundle = await startCarillonBundle();
  folder = await mkdtemp(join(tmpdir(), 'carillon-cli-'));
  receiver = createServer(async (request, response) => {
    if (request.url === '/people.csv') return response.writeHead(200, { 'content-type': 'text/csv' }).end('tim\n');
    let body = '';
    for await (const piece of request) body += piece;
    received.push({ headers: request.headers, body });
    return response.writeHead(200).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(async () => {
  receiver?.close();
  await bundle?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function run(...parameters: string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> {
  const { code, stdout, stderr } = await runCommand(bundle, parameters);
  return { code, lines: stdout.trimEnd().split('\n'), stderr };
}

const create = (...more: string[]) =>
  run('segments', 'create', '--attribute', 'uid', '--type', 'string', '--expiry-days', '30', ...more);

/** Resolves when no operation of the segment is open. */
const ended = (name: string) =>
  until(async () => {
    const [row] = await bundle.database`
      select count(*) as open from segment_operations join segments on segments.id = segment_operations.segment_id
      where segments.name = ${name} and segment_operations.ended_at is null`;
    return row!.open === 0;
  });

describe('carillon segments', () => {
  test('create posts a file of this machine; show tells what became of it, with the rejected lines', async () => {
    const path = join(folder, 'people.csv');
    await writeFile(path, 'ada\n\nnobody\na,b\ngrace');
    const created = await create('--name', 'From a file', '--file', path);
    expect([created.code, created.stderr]).toEqual([0, '']);
    expect(created.lines[0]).toBe('Segment    From a file');
    await ended('From a file');
    const shown = await run('segments', 'show', 'From a file');
    expect(shown.code).toBe(0);
    expect(shown.lines).toEqual([
      'Segment    From a file',
      expect.stringMatching(/^Segment id [0-9a-f]{24}$/),
      'Kind       FILE',
      'State      READY',
      'Users      2',
      expect.stringMatching(/^Created    \d{4}-/),
      expect.stringMatching(/^Expires    \d{4}-/),
      '',
      'NUMBER  OPERATION  STATE      FOUND  PROCESSED  USERS  MESSAGE',
      '1       CREATE     SUCCEEDED  5      3          2',
      '',
      'Rejected lines of operation 1:',
      '  line 2: the line is empty',
      '  line 4: the value contains a comma',
    ]);
  });

  test('create downloads from an address, and list shows all', async () => {
    const created = await create('--name', 'From an address', '--url', `${receiverUrl}/people.csv`);
    expect(created.code).toBe(0);
    await ended('From an address');
    const { lines } = await run('segments', 'list');
    expect(lines[0]).toMatch(/^NAME +KIND +STATE +USERS +EXPIRES$/);
    expect(lines[1]).toMatch(/^From an address +FILE +READY +1 +\d{4}-/);
    expect(lines.at(-1)).toMatch(/^\d of 1000 active$/);
  });

  test('what is refused is said in one line, with code 2, and nothing is stored', async () => {
    const path = join(folder, 'one.csv');
    await writeFile(path, 'ada');
    const refused: [string[], string][] = [
      [['--name', 'From a file', '--file', path], 'carillon: Name already exists : From a file\n'],
      [['--name', 'Both', '--file', path, '--url', receiverUrl], 'carillon: Give either --file or --url.\n'],
      [['--name', 'Neither'], 'carillon: Give either --file or --url.\n'],
      [['--name', 'Ftp', '--url', 'ftp://example.com/a'], 'must be a URL with http or https'],
      [['--name', 'Late', '--file', path, '--expiry-days', '0'], 'expiry_time'],
      [['--name', 'Nowhere', '--file', join(folder, 'missing.csv')], 'missing.csv cannot be used'],
      [['--name', 'Elsewhere', '--file', path, '--workspace', 'NONE'], 'carillon: There is no workspace NONE.\n'],
    ];
    for (const [parameters, sentence] of refused) {
      const { code, stderr } = await create(...parameters);
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
    const unknown = await run('segments', 'show', 'Nobody');
    expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: Segment not found with the given name: Nobody\n']);
    const [row] = await bundle.database`select count(*) as segments from segments`;
    expect(row!.segments).toBe(2);
  });
});

describe('carillon callbacks', () => {
  test('list, resend and secret: a delivered callback comes again, signed with the secret', async () => {
    const path = join(folder, 'told.csv');
    await writeFile(path, 'ada');
    await create('--name', 'Told', '--file', path, '--callback-url', `${receiverUrl}/callback`);
    const delivered = async () => (await run('callbacks', 'list')).lines.find((line) => line.includes('DELIVERED'));
    const line = await until(delivered);
    const id = line.split(' ')[0]!;
    expect(line).toMatch(new RegExp(`^${id}  \\S+  DELIVERED  1      0        ${receiverUrl}/callback$`));

    const again = await run('callbacks', 'resend', id);
    expect([again.code, again.lines[0]]).toEqual([0, `Callback   ${id}`]);
    await until(async () => received.length === 2);
    const { lines } = await run('callbacks', 'secret');
    const secret = /^Secret {5}(whsec_.+)$/.exec(lines[1]!)![1]!;
    for (const { headers, body } of received) {
      expect(headers['webhook-id']).toBe(id);
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    const unknown = await run('callbacks', 'resend', 'a'.repeat(24));
    expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: There is nothing with that id.\n']);
  });
});
