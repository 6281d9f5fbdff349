import { once } from 'node:events';
import { connect } from 'node:net';
import { authorize } from '../rig/caller.ts';
import { steadyUsers } from './bundle.ts';
import type { NodeCall } from './bundle.ts';
import type { LoadContext, SoakAction } from './run-actions.ts';

type Issued = { data: { access_token: string; refresh_token: string } };

/** Tokens generated, used, refreshed and revoked; wrong secrets guessed from elsewhere, more than are answered. */
export function tokenLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, workspaceId, keys, random } = bundle;
  const client = { client_id: workspaceId, client_secret: keys.oauth };

  type Form = { kind: string; path: string; fields: Record<string, string> };

  const post = ({ kind, path, fields }: Form, more: Partial<NodeCall> = {}) =>
    callNode({
      kind,
      method: 'POST',
      path: `/v1/oauth/${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
      expected: [200],
      ...more,
    });

  return [
    {
      name: 'token',
      // Five a minute and thirty in ten minutes are answered; the clock that moves forgets the latter.
      everySeconds: 15,
      async run() {
        const expected = [200, 429];
        const generated = await post(
          { kind: 'token', path: 'token', fields: { grant_type: 'client_credentials', ...client } },
          { expected },
        );
        if (generated?.status !== 200) return;
        const { data } = generated.json() as Issued;
        const refresh = { grant_type: 'refresh_token', refresh_token: data.refresh_token, client_id: workspaceId };
        const refreshed = await post({ kind: 'token refresh', path: 'refresh', fields: refresh }, { expected });
        const last = refreshed?.status === 200 ? (refreshed.json() as Issued).data : data;
        await post({ kind: 'token revoke', path: 'revoke', fields: { token: last.access_token, ...client } });
        await post({ kind: 'token revoke', path: 'revoke', fields: { token: last.refresh_token, ...client } });
      },
    },
    {
      name: 'wrong secret',
      everySeconds: 2,
      async run() {
        const fields = {
          grant_type: 'client_credentials',
          client_id: `nobody-${random.between(1, 1e9)}`,
          client_secret: 'x',
        };
        const localAddress = `127.0.0.${random.between(2, 5)}`;
        await post({ kind: 'token guessed', path: 'token', fields: fields }, { localAddress, expected: [401, 429] });
      },
    },
  ];
}

const api = '/console/api';
const account = { email: 'olga@example.com', password: 'nine lives of a soak' };

/** The console's pages, polled with a session that ends with the day and is opened anew. */
export function consoleLoad({ bundle, ledger }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId, signInCode } = bundle;
  let cookie = '';

  const enter = async (path: string, body: object): Promise<void> => {
    const call = { kind: 'console sign-in', method: 'POST', path: `${api}/${path}`, body };
    const answer = await callNode({ ...call, expected: [204, 429] });
    if (answer?.status === 204) cookie = String(answer.headers['set-cookie']).split(';')[0]!;
  };
  /** The link of the start works once, so it invites the account that signs in from then on. */
  const signIn = async (): Promise<void> => {
    if (cookie !== '') return enter('session/password', account);
    await enter('session', { code: signInCode });
    const body = { email: account.email, role: 'owner' };
    const call = { kind: 'console invite', method: 'POST', path: `${api}/invitations`, headers: { cookie }, body };
    const invited = await callNode({ ...call, expected: [200, 201] });
    const code = String(invited?.json().link).split('#invitation=')[1]!;
    await enter('invitation/acceptance', { code, name: 'Olga', password: account.password });
  };
  const ask = async (kind: string, path: string, body?: object): Promise<void> => {
    if (cookie === '') await signIn();
    const call = { kind: `console ${kind}`, method: body ? 'POST' : 'GET', path: `${api}/${path}` };
    const answer = await callNode({ ...call, headers: { cookie }, ...(body && { body }), expected: [200, 401] });
    if (answer?.status === 401) await signIn();
  };
  const of = `workspaceId=${workspaceId}`;
  const lastPush = (): string | undefined => [...ledger.once].at(-1);
  const pages: (() => Promise<void>)[] = [
    () => ask('people', `people?${of}&q=demo-user-${random.between(0, steadyUsers - 1)}`),
    () => ask('deliveries', `deliveries?${of}`),
    () => ask('calls', `calls?${of}`),
    () => ask('segments', `segments?${of}`),
    () => ask('callbacks', `callbacks?${of}`),
    () => ask('inbox', `inbox?${of}`),
    () => ask('system', `system?${of}`),
    () => ask('sandbox', 'sandbox'),
    () => ask('keys', `keys?${of}`),
    async () => {
      const id = lastPush();
      if (id === undefined) return;
      await ask('campaign', `campaigns/${id}?${of}`);
      await ask('campaign results', `campaigns/${id}/results?${of}`);
    },
  ];
  let page = 0;

  return [
    { name: 'console overview', everySeconds: 2, run: () => ask('overview', `overview?${of}`) },
    { name: 'console page', everySeconds: 1, run: () => pages[(page += 1) % pages.length]!() },
    {
      // Each is hashed in one of the pool's threads, which keeps the memory that it took for it.
      name: 'console password guessed',
      everySeconds: 2,
      async run() {
        const body = { email: `nobody-${random.between(1, 1e6)}@example.com`, password: 'not the right one' };
        const call = { kind: 'console guess', method: 'POST', path: `${api}/session/password`, body };
        const localAddress = `127.0.0.${random.between(10, 30)}`;
        await callNode({ ...call, localAddress, expected: [401, 429] });
      },
    },
    {
      name: 'console events',
      everySeconds: 6,
      async run() {
        const id = [...ledger.periodic].at(-1);
        if (id === undefined || cookie === '') return;
        // An open page, and then a closed one.
        const call = { kind: 'console events', method: 'GET', path: `${api}/campaigns/${id}/progress/events?${of}` };
        await callNode({ ...call, headers: { cookie }, expected: [200, 401], abortAfterMilliseconds: 4_000 });
      },
    },
  ];
}

/** Bad requests, requests that are given up, connections that say half a request or nothing; and the probes. */
export function hostileLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId, url } = bundle;
  const { hostname, port } = new URL(url);
  const data = authorize(bundle, 'data');
  const users = `/v1/customer/${workspaceId}`;
  const get = async (kind: string, path: string, more: Partial<NodeCall> = {}): Promise<void> =>
    void (await callNode({ kind, method: 'GET', path, expected: [200], ...more }));
  const post = async (kind: string, body: unknown, more: Partial<NodeCall> = {}): Promise<void> =>
    void (await callNode({ kind, method: 'POST', path: users, headers: data, body, expected: [400], ...more }));
  const bad: (() => Promise<void>)[] = [
    () => post('bad JSON', '{"a":'),
    () => post('bad body', { type: 'nobody' }),
    () => post('too large', { a: 'x'.repeat(200_000) }, { expected: [413] }),
    () => post('wrong key', {}, { headers: { authorization: 'Basic eDp5' }, expected: [401, 429] }),
    () => get('unknown path', `/nowhere/${random.between(1, 1e9)}`, { expected: [404] }),
    () => get('wrong method', '/v1/oauth/token', { expected: [405] }),
    () => get('bad cookie', '/console/api/session', { headers: { cookie: 'carillon_session=x' }, expected: [401] }),
    () => get('bad query', '/sandbox/inbox?limit=0', { expected: [400] }),
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
    { name: 'readyz', everySeconds: 2, run: () => get('readyz', '/readyz') },
    { name: 'livez', everySeconds: 5, run: () => get('livez', '/livez') },
    { name: 'bad request', everySeconds: 1, run: () => bad[(next += 1) % bad.length]!() },
    {
      name: 'request given up',
      everySeconds: 1.5,
      async run() {
        const path = `/v1/transition/${workspaceId}`;
        const elements = Array.from({ length: 20 }, (_, number) => ({
          ...{ type: 'customer', customer_id: `written-${number + 1}`, attributes: { n: number } },
        }));
        const abortAfterMilliseconds = random.between(1, 12);
        await post('given up', { type: 'transition', elements }, { path, expected: [200], abortAfterMilliseconds });
      },
    },
    // As soon as the node has ended one, the next one opens, so one of each is open at any time.
    ...halves.map((words, number) => ({
      name: `half a request ${number}`,
      everySeconds: 0.1,
      run: (ending: AbortSignal) => openHalf(words, ending),
    })),
  ];
}

// Shares of the requests: no device is refused so often that its attempts are used up.
const faults: object[] = [
  {},
  { fcm: { status: 503, probability: 0.15 } },
  {},
  { apns: { status: 429, headers: { 'retry-after': '1' }, probability: 0.15 } },
  {},
  { webpush: { status: 500, probability: 0.1 }, fcm: { goawayEvery: 200 }, apns: { goawayEvery: 200 } },
  {},
  { fcm: { reset: true, probability: 0.02 }, apns: { delayMilliseconds: 50 } },
];

const advanceSeconds = 8 * 3600;

/** Providers that fail for a while, and the clock: a day of the installation takes about a minute. */
export function sandboxLoad({ bundle, time }: LoadContext): SoakAction[] {
  let next = 0;
  return [
    {
      name: 'faults',
      everySeconds: 10,
      async run() {
        const body = faults[(next += 1) % faults.length]!;
        const call = { kind: 'faults', method: 'POST', path: '/sandbox/faults', body };
        await bundle.callNode({ ...call, expected: [204] });
      },
    },
    { name: 'clock', everySeconds: 15, run: () => time.advance(advanceSeconds) },
  ];
}
