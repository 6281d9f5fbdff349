import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
let code: string;
let cookie: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  code = bundle.block.console.split('#sign-in=')[1]!;
});
afterAll(() => bundle.stop());

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  bundle.call('POST', '/console/api/session', { body, headers });

describe('signing in', () => {
  test('no page data without a session', async () => {
    for (const path of ['overview', `inbox?workspaceId=${bundle.workspaceId}`]) {
      expect((await bundle.call('GET', `/console/api/${path}`)).status).toBe(401);
      const headers = { cookie: 'carillon_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };
      expect((await bundle.call('GET', `/console/api/${path}`, { headers })).status).toBe(401);
    }
  });

  test.each([[{}], [{ code: 'short' }], [{ code: 'x'.repeat(43) }], [{ code: 5 }], ['text']])(
    '%j opens nothing',
    async (body) => {
      const answer = await signIn(body);
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers.get('set-cookie')).toBeNull();
    },
  );

  test('what opened nothing is in the audit log, which the role of the application may write', async () => {
    const lines = await bundle.database`
      select workspace_id from audit_log where action = 'account.sign-in-failed' and detail ->> 'way' = 'start link'`;
    expect(lines).toEqual([{ workspace_id: null }]);
  });

  test('a request from another site is refused, whatever it knows', async () => {
    expect((await signIn({ code }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signIn({ code }, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await signIn({ code }, { origin: 'null' })).status).toBe(403);
  });

  test('the link opens one session, in a cookie that no script and no other site gets; the second use fails', async () => {
    const answer = await signIn({ code });
    expect(answer.status).toBe(204);
    const header = answer.headers.get('set-cookie')!;
    // On plain http a browser would drop a cookie that is `Secure` or begins with `__Host-`.
    expect(header).toMatch(
      /^carillon_session_[0-9a-f]{8}=\S+; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
    cookie = header.split(';')[0]!;
    expect((await signIn({ code })).status).toBe(401);
  });

  test('the session shows the overview, and never a secret', async () => {
    const answer = await bundle.call('GET', '/console/api/overview', { headers: { cookie } });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      workspace: { id: bundle.workspaceId },
      isSandbox: true,
      verdict: { level: 'well', headline: 'All is well', findings: [] },
    });
    const users = await bundle.call('GET', `/console/api/overview/people?workspaceId=${bundle.workspaceId}`, {
      headers: { cookie },
    });
    expect(users.json().users).toBe(3);
    const { curl: _curl, ...shown } = answer.json();
    for (const secret of Object.values(bundle.keys)) expect(JSON.stringify(shown)).not.toContain(secret);
  });

  test('signing out ends it on the server too', async () => {
    const headers = { cookie };
    expect((await bundle.call('DELETE', '/console/api/session', { headers })).status).toBe(204);
    expect((await bundle.call('GET', '/console/api/overview', { headers })).status).toBe(401);
  });
});

describe('the pages', () => {
  test('come with a policy under which no foreign script runs and no page frames them', async () => {
    const page = await bundle.call('GET', '/console/');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test.each(['/console/../package.json', '/console/%2e%2e/package.json', '/console/..%2f..%2fserver/src/main.ts'])(
    '%s leads nowhere else',
    async (path) => {
      const answer = await bundle.call('GET', path);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.text).not.toContain('workspaces');
    },
  );
});

describe('the address of the service', () => {
  const home = (accept: string) => fetch(bundle.url, { headers: { accept }, redirect: 'manual' });

  test('leads a browser to the console, and is nothing for other callers', async () => {
    const browser = await home('text/html,application/xhtml+xml,*/*;q=0.8');
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/']);
    for (const accept of ['*/*', 'application/json']) {
      const answer = await home(accept);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { code: 404, status: 'error', reason: 'Page not found. Please recheck the URL' },
      ]);
    }
  });
});

test('the first steps are ticked by what is in the database', async () => {
  const { database, workspaceId } = bundle;
  const fresh = await signIn({ code: (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1] });
  const signedIn = fresh.headers.get('set-cookie')!.split(';', 1)[0]!;
  const read = async () =>
    (
      await bundle.call('GET', `/console/api/overview/first-steps?workspaceId=${workspaceId}`, {
        headers: { cookie: signedIn },
      })
    ).json();
  await database`delete from account_links`;
  expect(await read()).toEqual({ hasPushed: false, hasProvider: false, hasUsers: false, hasInvited: false });
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values (${'a'.repeat(24)}, ${workspaceId}, 'First', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}',
      '{"ANDROID": {"title": "Hello", "message": "There"}}', '{"kind": "soon"}', 'SENT', 'test', now(), now())`;
  const [ada] = await database<
    { createdAt: Date }[]
  >`select created_at as "createdAt" from users where customer_id = 'ada'`;
  // Computed here: a cluster adds no interval to a column of rows that it changes.
  const anHourLater = new Date(ada!.createdAt.getTime() + 3_600_000);
  await database`update users set created_at = ${anHourLater} where customer_id = 'ada'`;
  await database`update provider_credentials set simulated = false where provider = 'fcm'`;
  await bundle.call('POST', '/console/api/invitations', {
    headers: { cookie: signedIn },
    body: { email: 'olga@example.com', role: 'analyst' },
  });
  expect(await read()).toEqual({ hasPushed: true, hasProvider: true, hasUsers: true, hasInvited: true });
});

// Last of all: a session does not outlive the leap.
test('every reply says what time it is here, by the clock that a sandbox moves', async () => {
  await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 3 * 86_400 } });
  const { headers } = await bundle.call('GET', '/console/api/session');
  const ahead = Date.parse(headers.get('carillon-time')!) - Date.now();
  expect(ahead / 86_400_000).toBeCloseTo(3, 1);
});
