import { once } from 'node:events';
import { connect } from 'node:net';
import type { LoadContext, SoakAction } from './soak-action.ts';

/** Bad requests, requests that are given up, connections that say half a request or nothing; and the probes. */
export function hostileLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId, keys, url } = bundle;
  const { hostname, port } = new URL(url);
  const data = { authorization: `Basic ${Buffer.from(`${workspaceId}:${keys.data}`).toString('base64')}` };
  const json = { 'content-type': 'application/json' };
  const users = `/v1/customer/${workspaceId}`;
  const bad: (() => Promise<unknown>)[] = [
    () =>
      callNode({
        kind: 'bad JSON',
        method: 'POST',
        path: users,
        headers: { ...data, ...json },
        body: '{"a":',
        expected: [400],
      }),
    () =>
      callNode({
        kind: 'bad body',
        method: 'POST',
        path: users,
        headers: data,
        body: { type: 'nobody' },
        expected: [400],
      }),
    () =>
      callNode({
        kind: 'too large',
        method: 'POST',
        path: users,
        headers: data,
        body: { a: 'x'.repeat(200_000) },
        expected: [413],
      }),
    () =>
      callNode({
        kind: 'wrong key',
        method: 'POST',
        path: users,
        headers: { authorization: 'Basic eDp5' },
        body: {},
        expected: [401, 429],
      }),
    () =>
      callNode({ kind: 'unknown path', method: 'GET', path: `/nowhere/${random.between(1, 1e9)}`, expected: [404] }),
    () => callNode({ kind: 'wrong method', method: 'GET', path: '/v1/oauth/token', expected: [405] }),
    () =>
      callNode({
        kind: 'bad cookie',
        method: 'GET',
        path: '/console/api/session',
        headers: { cookie: 'carillon_session=x' },
        expected: [401],
      }),
    () => callNode({ kind: 'bad query', method: 'GET', path: '/sandbox/inbox?limit=0', expected: [400] }),
  ];
  let next = 0;
  const halves = [
    'POST /v1/oauth/token HTTP/1.1\r\nHost: x\r\n',
    `POST ${users} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    'GET /readyz',
    '',
  ];

  /** Says a few bytes and then nothing, until the node ends it or the load does. */
  async function openHalf(words: string, ending: AbortSignal): Promise<void> {
    const socket = connect(Number(port), hostname);
    const end = (): void => void socket.destroy();
    ending.addEventListener('abort', end);
    socket.on('error', () => {});
    socket.resume();
    socket.write(words);
    await once(socket, 'close');
    ending.removeEventListener('abort', end);
  }

  return [
    {
      name: 'readyz',
      everySeconds: 2,
      run: async () => void (await callNode({ kind: 'readyz', method: 'GET', path: '/readyz', expected: [200] })),
    },
    {
      name: 'livez',
      everySeconds: 5,
      run: async () => void (await callNode({ kind: 'livez', method: 'GET', path: '/livez', expected: [200] })),
    },
    { name: 'bad request', everySeconds: 1, run: async () => void (await bad[(next += 1) % bad.length]!()) },
    {
      name: 'request given up',
      everySeconds: 1.5,
      async run() {
        const call = { kind: 'given up', method: 'POST', path: `/v1/transition/${workspaceId}`, headers: data };
        const elements = Array.from({ length: 20 }, (_, number) => ({
          type: 'customer',
          customer_id: `written-${number + 1}`,
          attributes: { n: number },
        }));
        const body = { type: 'transition', elements };
        await callNode({ ...call, body, expected: [200], abortAfterMilliseconds: random.between(1, 12) });
      },
    },
    // As soon as the node has ended one, the next is there: so many are open at any time.
    ...halves.map((words, number) => ({
      name: `half a request ${number}`,
      everySeconds: 0.1,
      run: (ending: AbortSignal) => openHalf(words, ending),
    })),
  ];
}
