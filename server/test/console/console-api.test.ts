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
    expect(header).toMatch(/^carillon_session=\S+; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/);
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
