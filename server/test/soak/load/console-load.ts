import { steadyUsers } from '../soak-bundle.ts';
import type { LoadContext, SoakAction } from './soak-action.ts';

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
