import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import examples from '../../server/src/http/openapi/examples.json' with { type: 'json' };
import type { Example } from '../../server/src/http/openapi/document.ts';
import { installTools } from './install-tools.ts';

const minutes = 60_000;

type Operation = {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, unknown>;
};
type Described = { method: string; path: string; operation: Operation };
type Reply = { status: number; answer: unknown };

/** Members and kinds of values, not the values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

describe.skipIf(process.env.FULL !== '1')("Prism's mock of the document (FULL=1)", () => {
  let bundle: CarillonBundle;
  let folder: string;
  let mock: ChildProcess;
  let mockUrl: string;
  let operations: Described[];
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    const modules = await installTools();
    folder = await mkdtemp(join(tmpdir(), 'carillon-mock-'));
    const text = await (await fetch(`${bundle.url}/openapi.json`)).text();
    await writeFile(join(folder, 'openapi.json'), text);
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    const port = await findPort();
    mockUrl = `http://127.0.0.1:${port}`;
    const prism = join(modules, '@stoplight/prism-cli/dist/index.js');
    mock = spawn(process.execPath, [prism, 'mock', 'openapi.json', '-p', String(port), '-v', 'fatal'], {
      cwd: folder,
      env: { PATH: process.env.PATH },
      stdio: 'ignore',
    });
    await until(() =>
      fetch(`${mockUrl}/livez`).then(
        () => true,
        () => false,
      ),
    );
  }, 15 * minutes);
  afterAll(async () => {
    if (mock) {
      mock.kill();
      await once(mock, 'exit');
    }
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function send(url: string, { method, path, operation }: Described, asked: Asked): Promise<Reply> {
    const placeOf = new Map((operation.parameters ?? []).map(({ name, in: place }) => [name, place]));
    const target = new URL(url);
    const headers: Record<string, string> = { ...asked.headers };
    let filled = path;
    for (const [starred, value] of Object.entries(asked.parameters ?? {})) {
      const name = starred.replace('*', 'SVC');
      const place = placeOf.get(name);
      if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      else if (place === 'query') target.searchParams.set(name, value);
      else headers[name] = value;
    }
    target.pathname = filled;
    const isForm = 'application/x-www-form-urlencoded' in (operation.requestBody?.content ?? {});
    const body = isForm ? new URLSearchParams(asked.body as Record<string, string>) : JSON.stringify(asked.body);
    if (asked.body !== undefined && !isForm) headers['content-type'] = 'application/json';
    const reply = await fetch(target, {
      method,
      headers,
      redirect: 'manual',
      ...(asked.body === undefined ? {} : { body }),
    });
    const text = await reply.text();
    return { status: reply.status, answer: /^[[{]/.test(text) ? JSON.parse(text) : undefined };
  }
  type Asked = { parameters?: Record<string, string>; headers?: Record<string, string>; body?: unknown };

  const exampleOf = ({ operation }: Described): Example => examples[operation.operationId as keyof typeof examples];

  test(
    'it takes every request that the server took, and replies in the same shape',
    async () => {
      const differing: unknown[] = [];
      for (const described of operations) {
        const { parameters = {}, body, status, answer } = exampleOf(described);
        const isOpen = described.operation.security.some((scheme) => Object.keys(scheme).length === 0);
        const scheme = described.operation.security.flatMap((one) => Object.keys(one))[0];
        const headers: Record<string, string> =
          isOpen || scheme === undefined
            ? {}
            : {
                authorization: ['bearer', 'appKey'].includes(scheme) ? 'Bearer shown' : `Basic ${btoa('shown:shown')}`,
              };
        // Where there are two kinds of success, the mock is told which.
        const successes = Object.keys(described.operation.responses).filter((code) => code.startsWith('2'));
        const prefer: Record<string, string> = successes.length > 1 ? { prefer: `code=${status}` } : {};
        const mocked = await send(mockUrl, described, { parameters, headers: { ...headers, ...prefer }, body });
        const ours = { status, shape: shapeOf(answer) };
        const theirs = { status: mocked.status, shape: shapeOf(mocked.answer) };
        if (JSON.stringify(ours) !== JSON.stringify(theirs))
          differing.push({ at: described.operation.operationId, ours, theirs, said: mocked.answer });
      }
      expect(operations.length).toBeGreaterThan(70);
      expect(differing).toEqual([]);
    },
    5 * minutes,
  );

  test(
    'without credentials both refuse with 401 what has to have them, and nothing else',
    async () => {
      const differing: unknown[] = [];
      const guarded = operations.filter(
        ({ operation: { security } }) =>
          security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0),
      );
      for (const described of guarded) {
        const { parameters = {}, body } = exampleOf(described);
        const asked = { parameters, body };
        const [mocked, ours] = [await send(mockUrl, described, asked), await send(bundle.url, described, asked)];
        if (mocked.status !== 401 || ours.status !== 401)
          differing.push({ at: described.operation.operationId, mocked: mocked.status, ours });
      }
      expect(guarded.length).toBeGreaterThan(40);
      expect(differing).toEqual([]);
    },
    5 * minutes,
  );
});

async function findPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
