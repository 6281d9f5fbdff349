import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveKey, regenerateKey } from '../../src/app/keys/keys.ts';
import { limitSubject } from '../../src/domain/access/keys.ts';
import { generation, makeTokenBundle, refreshing } from './token-bundle.ts';
import type { Call, TokenBundle } from './token-bundle.ts';

const actor = { kind: 'system', name: 'a test' } as const;

let bundle: TokenBundle;
beforeAll(async () => {
  bundle = await makeTokenBundle();
});
afterAll(() => bundle.end());

/** A workspace of its own with one OAuth key, so that no test meets another's limits. */
async function setup(settings: { accessTokenMinutes?: number } = {}) {
  const workspaceId = await bundle.makeWorkspace();
  const { key, secret } = await bundle.makeKey({ workspaceId, ...settings });
  return { workspaceId, key, secret, form: generation(workspaceId, secret) };
}

async function issue(client: { form: Record<string, string> }) {
  const answer = await bundle.post('/v1/oauth/token', client.form);
  expect(answer.statusCode).toBe(200);
  return answer.json<{ access_token: string; refresh_token: string }>();
}

describe('success (interface 2.2, 4.1, 4.2, decision D17, D18)', () => {
  test('generation answers the envelope and the members of RFC 6749, not to be stored', async () => {
    const { form } = await setup();
    const answer = await bundle.post('/v1/oauth/token', form);
    expect(answer.statusCode).toBe(200);
    const members = {
      access_token: expect.stringMatching(/^cat_[A-Za-z0-9_-]{120}$/),
      refresh_token: expect.stringMatching(/^crt_[A-Za-z0-9_-]{120}$/),
      token_type: 'Bearer',
      expires_in: 900,
    };
    expect(answer.json()).toEqual({ status: 'SUCCESS', data: members, ...members });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  test('refresh answers a new access token and no refresh token; the old ones stay alive (decision D14)', async () => {
    const client = await setup();
    const first = await issue(client);
    const answer = await bundle.post('/v1/oauth/refresh', refreshing(client.workspaceId, first.refresh_token));
    expect(answer.statusCode).toBe(200);
    const members = {
      access_token: expect.stringMatching(/^cat_/),
      token_type: 'Bearer',
      expires_in: 900,
    };
    expect(answer.json()).toEqual({ status: 'SUCCESS', data: members, ...members });
    expect(answer.json().access_token).not.toBe(first.access_token);
    const again = await bundle.post('/v1/oauth/refresh', refreshing(client.workspaceId, first.refresh_token));
    expect(again.statusCode).toBe(200);
    const second = await issue(client);
    for (const token of [first.access_token, answer.json().access_token, second.access_token]) {
      expect((await bundle.guarded(token)).statusCode).toBe(200);
    }
  });

  test.each([5, 60])('expires_in follows the key: %i minutes (decision D15)', async (accessTokenMinutes) => {
    const { form } = await setup({ accessTokenMinutes });
    expect((await bundle.post('/v1/oauth/token', form)).json().expires_in).toBe(accessTokenMinutes * 60);
  });

  test.each([
    ['a charset', { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }],
    ['capitals', { 'content-type': 'Application/X-WWW-Form-URLEncoded' }],
  ])('a media type with %s is accepted (decision D17)', async (_name, headers) => {
    const { form } = await setup();
    expect((await bundle.post('/v1/oauth/token', form, { headers })).statusCode).toBe(200);
  });

  test('HTTP Basic client authentication is accepted, form-encoded as RFC 6749 §2.3.1 says (decision D18)', async () => {
    const { workspaceId, secret } = await setup();
    const encoded = secret.replaceAll('_', '%5F').replaceAll('-', '%2D');
    for (const password of [secret, encoded]) {
      const headers = { authorization: `Basic ${Buffer.from(`${workspaceId}:${password}`).toString('base64')}` };
      const answer = await bundle.post('/v1/oauth/token', { grant_type: 'client_credentials' }, { headers });
      expect(answer.statusCode).toBe(200);
    }
  });

  test('unknown fields are ignored with a warning; a field that may be a pasted secret is not named (decision D5)', async () => {
    const { form, secret } = await setup();
    const answer = await bundle.post('/v1/oauth/token', { ...form, scope: 'push', [secret]: '' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-svc-warning']).toBe('unknown field "scope", unknown field "(unreadable)"');
  });

  test('the same Idempotency-Key and body give the first answer again, another body 409 (decision D4)', async () => {
    const { form } = await setup();
    const headers = { 'idempotency-key': 'first-try' };
    const first = await bundle.post('/v1/oauth/token', form, { headers });
    const again = await bundle.post('/v1/oauth/token', form, { headers });
    expect(again.json()).toEqual(first.json());
    const other = await bundle.post('/v1/oauth/token', { ...form, extra: '1' }, { headers });
    expect(other.statusCode).toBe(409);
    expect(other.json()).toMatchObject({ status: 'FAILURE', error_type: 'IDEMPOTENCY_CONFLICT' });
  });

  test('an Idempotency-Key over 255 characters is 400', async () => {
    const { form } = await setup();
    const answer = await bundle.post('/v1/oauth/token', form, { headers: { 'idempotency-key': 'x'.repeat(256) } });
    expect([answer.statusCode, answer.json().error_type]).toEqual([400, 'INVALID_REQUEST']);
  });

  test('a stored answer is not given to who no longer has the right secret', async () => {
    const { form, key, workspaceId } = await setup();
    const headers = { 'idempotency-key': 'k' };
    await bundle.post('/v1/oauth/token', form, { headers });
    await archiveKey(bundle, { workspaceId, keyId: key.id, actor });
    expect((await bundle.post('/v1/oauth/token', form, { headers })).json().error_type).toBe('ER011');
  });
});

type Row = {
  name: string;
  path?: string;
  form: Record<string, string> | string;
  call?: Call;
  status: number;
  errorType: string;
  error: string;
};

describe('errors (interface 7, decision D10, D12, D17)', () => {
  const id = 'client_id=WS1';
  const generate = 'grant_type=client_credentials';
  const refresh = 'grant_type=refresh_token';
  const token = '/v1/oauth/token';
  const renewal = '/v1/oauth/refresh';
  const revocation = '/v1/oauth/revoke';
  const bad = { status: 400, error: 'invalid_request' };
  const rows: Row[] = [
    { name: 'grant_type missing', form: `${id}&client_secret=x`, ...bad, errorType: 'ER018' },
    { name: 'grant_type empty', form: `grant_type=&${id}&client_secret=x`, ...bad, errorType: 'ER018' },
    {
      name: 'grant_type not client_credentials',
      form: `grant_type=password&${id}&client_secret=x`,
      ...bad,
      errorType: 'ER018',
      error: 'unsupported_grant_type',
    },
    {
      name: 'grant_type in capitals',
      form: `grant_type=CLIENT_CREDENTIALS&${id}&client_secret=x`,
      ...bad,
      errorType: 'ER018',
      error: 'unsupported_grant_type',
    },
    { name: 'an empty form', form: '', ...bad, errorType: 'ER018' },
    { name: 'client_id missing', form: `${generate}&client_secret=x`, ...bad, errorType: 'ER019' },
    { name: 'client_id empty', form: `${generate}&client_id=&client_secret=x`, ...bad, errorType: 'ER019' },
    { name: 'client_id and secret missing', form: generate, ...bad, errorType: 'ER019' },
    { name: 'client_secret missing', form: `${generate}&${id}`, ...bad, errorType: 'ER020' },
    { name: 'client_secret empty', form: `${generate}&${id}&client_secret=`, ...bad, errorType: 'ER020' },
    {
      name: 'workspace unknown',
      form: `${generate}&${id}&client_secret=x`,
      status: 401,
      errorType: 'ER011',
      error: 'invalid_client',
    },
    {
      name: 'client_id with NUL',
      form: `${generate}&client_id=%00&client_secret=%00`,
      status: 401,
      errorType: 'ER011',
      error: 'invalid_client',
    },
    { name: 'grant_type twice', form: `${generate}&${generate}&${id}&client_secret=x`, ...bad, errorType: 'ER018' },
    { name: 'client_id twice', form: `${generate}&${id}&${id}&client_secret=x`, ...bad, errorType: 'ER019' },
    {
      name: 'client_secret twice',
      form: `${generate}&${id}&client_secret=x&client_secret=x`,
      ...bad,
      errorType: 'ER020',
    },
    {
      name: 'form and header name different clients',
      form: `${generate}&${id}&client_secret=x`,
      call: { headers: { authorization: `Basic ${btoa('WS2:x')}` } },
      ...bad,
      errorType: 'ER019',
    },
    {
      name: 'secret in the query',
      path: `${token}?client_secret=x`,
      form: `${generate}&${id}&client_secret=x`,
      ...bad,
      errorType: 'ER020',
    },
    {
      name: 'client_id in the query',
      path: `${token}?client_id=x`,
      form: `${generate}&client_secret=x`,
      ...bad,
      errorType: 'ER019',
    },
    {
      name: 'JSON',
      form: '{"grant_type":"client_credentials"}',
      call: { headers: { 'content-type': 'application/json' } },
      status: 415,
      errorType: 'UNSUPPORTED_MEDIA_TYPE',
      error: 'invalid_request',
    },
    {
      name: 'a similar media type',
      form: generate,
      call: { headers: { 'content-type': 'application/x-www-form-urlencoded-x' } },
      status: 415,
      errorType: 'UNSUPPORTED_MEDIA_TYPE',
      error: 'invalid_request',
    },
    {
      name: 'over 8 KB',
      form: `${generate}&${id}&client_secret=${'x'.repeat(8192)}`,
      status: 413,
      errorType: 'PAYLOAD_TOO_LARGE',
      error: 'invalid_request',
    },
    {
      name: 'refresh: grant_type missing',
      path: renewal,
      form: `${id}&refresh_token=x`,
      ...bad,
      errorType: 'ER018',
    },
    {
      name: 'refresh: grant_type of generation',
      path: renewal,
      form: `${generate}&${id}&refresh_token=x`,
      ...bad,
      errorType: 'ER018',
      error: 'unsupported_grant_type',
    },
    {
      name: 'refresh: client_id missing',
      path: renewal,
      form: `${refresh}&refresh_token=x`,
      ...bad,
      errorType: 'ER019',
    },
    { name: 'refresh: refresh_token missing', path: renewal, form: `${refresh}&${id}`, ...bad, errorType: 'ER021' },
    {
      name: 'refresh: refresh_token twice',
      path: renewal,
      form: `${refresh}&${id}&refresh_token=x&refresh_token=y`,
      ...bad,
      errorType: 'ER021',
    },
    {
      name: 'refresh: token in the query',
      path: `${renewal}?refresh_token=x`,
      form: `${refresh}&${id}&refresh_token=x`,
      ...bad,
      errorType: 'ER021',
    },
    {
      name: 'refresh: token unknown',
      path: renewal,
      form: `${refresh}&${id}&refresh_token=x`,
      status: 401,
      errorType: 'ER010',
      error: 'invalid_grant',
    },
    {
      name: 'refresh: JSON',
      path: renewal,
      form: '{}',
      call: { headers: { 'content-type': 'application/json' } },
      status: 415,
      errorType: 'UNSUPPORTED_MEDIA_TYPE',
      error: 'invalid_request',
    },
    {
      name: 'revoke: token missing',
      path: revocation,
      form: `${id}&client_secret=x`,
      ...bad,
      errorType: 'INVALID_REQUEST',
    },
    {
      name: 'revoke: credentials wrong',
      path: revocation,
      form: `${id}&client_secret=x&token=y`,
      status: 401,
      errorType: 'ER011',
      error: 'invalid_client',
    },
  ];

  test.each(rows)('$name: $status $errorType', async ({ name, path = token, form, call, status, errorType, error }) => {
    // Rows do not share limits: each comes from an address of its own.
    const address = `10.0.1.${rows.findIndex((row) => row.name === name)}`;
    const answer = await bundle.post(path, form, { address, ...call });
    expect({ status: answer.statusCode, body: answer.json() }).toEqual({
      status,
      body: {
        status: 'FAILURE',
        error_type: errorType,
        reason: expect.stringMatching(/./),
        error,
        error_description: answer.json().reason,
      },
    });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect('www-authenticate' in answer.headers).toBe(status === 401);
  });

  test('a request without body and media type is 415', async () => {
    const answer = await bundle.server.inject({ method: 'POST', url: token });
    expect([answer.statusCode, answer.json().error_type]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test.each(['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'] as const)(
    '%s is 405 with Allow: POST, and no credentials are processed',
    async (method) => {
      for (const url of [token, renewal, revocation]) {
        const answer = await bundle.server.inject({ method, url: `${url}?client_secret=x` });
        expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
      }
    },
  );

  test('a key of another kind is 401 ER012, but only to who holds its secret', async () => {
    const workspaceId = await bundle.makeWorkspace();
    for (const kind of ['data', 'push', 'campaigns'] as const) {
      const { secret } = await bundle.makeKey({ workspaceId, kind });
      const answer = await bundle.post(token, generation(workspaceId, secret));
      expect([answer.statusCode, answer.json().error_type]).toEqual([401, 'ER012']);
      const wrong = await bundle.post(
        token,
        generation(workspaceId, `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`),
      );
      expect([wrong.statusCode, wrong.json().error_type]).toEqual([401, 'ER011']);
    }
  });

  test('an unknown workspace, a wrong secret and a foreign secret are the same answer', async () => {
    const [own, foreign] = [await setup(), await setup()];
    const answers = await Promise.all([
      bundle.post(token, generation('NOBODY', own.secret)),
      bundle.post(token, generation(own.workspaceId, 'wrong')),
      bundle.post(token, generation(own.workspaceId, foreign.secret)),
    ]);
    const [first] = answers;
    expect(first!.json().error_type).toBe('ER011');
    for (const answer of answers) {
      expect(answer.body).toBe(first!.body);
      expect(answer.statusCode).toBe(401);
    }
  });

  test('of requests that come together each gets what its own credentials earn', async () => {
    const [own, foreign] = [await setup(), await setup()];
    const data = await bundle.makeKey({ workspaceId: own.workspaceId, kind: 'data' });
    const archived = await bundle.makeKey({ workspaceId: own.workspaceId, name: 'Archived' });
    await archiveKey(bundle, { workspaceId: own.workspaceId, keyId: archived.key.id, actor });
    const asked = [
      { form: generation(own.workspaceId, own.secret), earns: 'SUCCESS' },
      { form: generation(foreign.workspaceId, own.secret), earns: 'ER011' },
      { form: generation(own.workspaceId, data.secret), earns: 'ER012' },
      { form: generation(foreign.workspaceId, foreign.secret), earns: 'SUCCESS' },
      { form: generation(own.workspaceId, archived.secret), earns: 'ER011' },
      ...Array.from({ length: 4 }, () => ({ form: generation(own.workspaceId, own.secret), earns: 'SUCCESS' })),
      { form: generation(own.workspaceId, own.secret), earns: 'RATE_LIMIT_EXCEEDED' },
    ];
    const answers = await Promise.all(asked.map(({ form }) => bundle.post(token, form)));
    expect(answers.map((answer) => answer.json().error_type ?? answer.json().status)).toEqual(
      asked.map(({ earns }) => earns),
    );
    const issued = answers.flatMap((answer, place) =>
      answer.statusCode === 200 ? [{ ...answer.json(), owner: asked[place]!.form.client_id }] : [],
    );
    for (const { access_token, owner } of issued)
      expect((await bundle.guarded(access_token)).json()).toMatchObject({ workspace: owner });
    expect(new Set(issued.map(({ access_token }) => access_token)).size).toBe(6);
  });

  test('of requests that come together those of a caller with guesses are served and counted like the others', async () => {
    const [guessing, other] = [await setup(), await setup()];
    expect((await bundle.post(token, generation(guessing.workspaceId, 'wrong'))).statusCode).toBe(401);
    // The callers of one address share its guesses, so the other has one of its own.
    const forms = [
      ...Array.from({ length: 6 }, () => ({ form: guessing.form })),
      { form: generation(guessing.workspaceId, 'also wrong') },
      { form: other.form, address: '203.0.113.77' },
    ];
    const answers = await Promise.all(forms.map(({ form, ...call }) => bundle.post(token, form, call)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 429, 401, 200]);
    const counted = await bundle.database<{ events: number }[]>`
      select cardinality(events) as events from limit_windows
      where operation = 'token' and subject = any(${[guessing, other].map(({ workspaceId, secret }) => limitSubject([workspaceId, secret]))}::bytea[])
      order by events`;
    expect(counted.map(({ events }) => events)).toEqual([1, 5]);
  });

  test('who used Basic is challenged for Basic, others are not (a browser would ask for a password)', async () => {
    const headers = { authorization: `Basic ${btoa('WS9:wrong')}` };
    const basic = await bundle.post(token, { grant_type: 'client_credentials' }, { headers });
    expect(basic.headers['www-authenticate']).toMatch(/^Basic /);
    const form = await bundle.post(token, generation('WS9', 'wrong2'));
    expect(form.headers['www-authenticate']).toMatch(/^Bearer /);
  });

  test('another client_id than the token was issued to is ER013, an access token as refresh token ER010', async () => {
    const [own, other] = [await setup(), await setup()];
    const { access_token, refresh_token } = await issue(own);
    const mismatch = await bundle.post(renewal, refreshing(other.workspaceId, refresh_token));
    expect([mismatch.statusCode, mismatch.json().error_type]).toEqual([401, 'ER013']);
    const wrongKind = await bundle.post(renewal, refreshing(own.workspaceId, access_token));
    expect([wrongKind.statusCode, wrongKind.json().error_type]).toEqual([401, 'ER010']);
    expect((await bundle.guarded(refresh_token)).statusCode).toBe(401);
  });

  test('a secret at refresh is optional, checked when sent, and required when the workspace says so (decision D19)', async () => {
    const client = await setup();
    const { refresh_token } = await issue(client);
    const form = refreshing(client.workspaceId, refresh_token);
    expect((await bundle.post(renewal, { ...form, client_secret: client.secret })).statusCode).toBe(200);
    expect((await bundle.post(renewal, { ...form, client_secret: 'wrong' })).json().error_type).toBe('ER011');
    await bundle.database`update workspaces set secret_required_at_refresh = true where id = ${client.workspaceId}`;
    const missing = await bundle.post(renewal, form);
    expect([missing.statusCode, missing.json().error_type]).toEqual([400, 'ER020']);
    expect((await bundle.post(renewal, { ...form, client_secret: client.secret })).statusCode).toBe(200);
  });

  test('checks run in the order media type, grant_type, client_id, client_secret, limit, credentials (decision D10)', async () => {
    const { workspaceId } = await setup();
    const wrong = generation(workspaceId, 'not-the-secret');
    const types = async (forms: (Record<string, string> | string)[]) => {
      const found: string[] = [];
      for (const form of forms) found.push((await bundle.post(token, form, { address: '10.2.0.1' })).json().error_type);
      return found;
    };
    // Refused before the limit: not counted. Wrong credentials: counted, so the sixth is the limit's.
    await types(Array.from({ length: 10 }, () => `${generate}&client_id=${workspaceId}`));
    expect(await types(Array.from({ length: 6 }, () => wrong))).toEqual([
      ...Array.from({ length: 5 }, () => 'ER011'),
      'RATE_LIMIT_EXCEEDED',
    ]);
    // Over the limit, the earlier checks still speak first.
    const json = { 'content-type': 'application/json' };
    const over = await bundle.post(token, wrong, { address: '10.2.0.1', headers: json });
    expect(over.statusCode).toBe(415);
    expect(
      await types([
        { ...wrong, grant_type: 'x' },
        { ...wrong, client_id: '' },
        { ...wrong, client_secret: '' },
      ]),
    ).toEqual(['ER018', 'ER019', 'ER020']);
  });
});

describe('the end of tokens (interface 3.2, decision D13, D14)', () => {
  test('a refresh token works 30 days less a second after issue and not a second later', async () => {
    const own = await makeTokenBundle();
    try {
      const workspaceId = await own.makeWorkspace();
      const { secret } = await own.makeKey({ workspaceId });
      const { refresh_token } = (await own.post('/v1/oauth/token', generation(workspaceId, secret))).json();
      const days30 = 30 * 24 * 60 * 60 * 1000;
      own.clock.advance(days30 - 1000);
      const form = refreshing(workspaceId, refresh_token);
      expect((await own.post('/v1/oauth/refresh', form)).statusCode).toBe(200);
      own.clock.advance(2000);
      const late = await own.post('/v1/oauth/refresh', form);
      expect([late.statusCode, late.json().error_type]).toEqual([401, 'ER010']);
    } finally {
      await own.end();
    }
  });

  test('an access token is live until its last second, and ER008 from then on: a day and a year later', async () => {
    const own = await makeTokenBundle();
    try {
      const workspaceId = await own.makeWorkspace();
      const { key, secret } = await own.makeKey({ workspaceId });
      const { access_token } = (await own.post('/v1/oauth/token', generation(workspaceId, secret))).json();
      own.clock.advance(900_000 - 1);
      const live = await own.guarded(access_token);
      expect([live.statusCode, live.json()]).toEqual([200, { key: key.id, workspace: workspaceId }]);
      own.clock.advance(1);
      const expired = await own.guarded(access_token);
      expect([expired.statusCode, expired.json().code]).toEqual([401, 'ER008']);
      for (const days of [1, 365]) {
        own.clock.advance(days * 24 * 60 * 60 * 1000);
        expect((await own.guarded(access_token)).json().code).toBe('ER008');
      }
    } finally {
      await own.end();
    }
  });

  test.each(['archived', 'regenerated'])(
    'a key that is %s ends its tokens at once, on other nodes within 1 s',
    async (how) => {
      const client = await setup();
      const { access_token, refresh_token } = await issue(client);
      const otherNode = await bundle.makeServer();
      const headers = { authorization: `Bearer ${access_token}` };
      const check = async (server: FastifyInstance) => {
        const guarded = await server.inject({ url: '/guarded/data', headers });
        return guarded.statusCode === 200 ? 200 : guarded.json().code;
      };
      // Both nodes have the key in memory.
      for (const server of [bundle.server, otherNode]) expect(await check(server)).toBe(200);
      const id = { workspaceId: client.workspaceId, keyId: client.key.id };
      if (how === 'archived') await archiveKey(bundle, { ...id, actor });
      else await regenerateKey(bundle, id);
      expect(await check(bundle.server)).toBe('ER001');
      bundle.clock.advance(1000);
      expect(await check(otherNode)).toBe('ER001');
      const refreshed = await bundle.post('/v1/oauth/refresh', refreshing(client.workspaceId, refresh_token));
      expect([refreshed.statusCode, refreshed.json().error_type]).toEqual([401, 'ER010']);
      expect((await bundle.post('/v1/oauth/token', client.form)).json().error_type).toBe('ER011');
      await otherNode.close();
    },
  );

  test('revoking (RFC 7009) ends an access token alone and a refresh token with its family; unknown is 200', async () => {
    const [client, stranger] = [await setup(), await setup()];
    const credentials = { client_id: client.workspaceId, client_secret: client.secret };
    const first = await issue(client);
    const refreshed = (
      await bundle.post('/v1/oauth/refresh', refreshing(client.workspaceId, first.refresh_token))
    ).json();
    const other = await issue(client);
    const revoke = (token: string, by: Record<string, string> = credentials) =>
      bundle.post('/v1/oauth/revoke', { ...by, token, token_type_hint: 'nonsense' });
    const liveness = async () =>
      Promise.all(
        [first, refreshed, other].map(async (token) => (await bundle.guarded(token.access_token)).statusCode),
      );

    const foreign = await revoke(first.refresh_token, {
      client_id: stranger.workspaceId,
      client_secret: stranger.secret,
    });
    expect([foreign.statusCode, foreign.json()]).toEqual([200, { status: 'SUCCESS' }]);
    expect(await liveness()).toEqual([200, 200, 200]);
    expect((await revoke('unknown')).statusCode).toBe(200);
    expect((await revoke(first.access_token)).statusCode).toBe(200);
    expect(await liveness()).toEqual([401, 200, 200]);
    expect((await revoke(first.refresh_token)).statusCode).toBe(200);
    expect(await liveness()).toEqual([401, 401, 200]);
    expect((await revoke(first.refresh_token)).statusCode).toBe(200);
    const dead = await bundle.post('/v1/oauth/refresh', refreshing(client.workspaceId, first.refresh_token));
    expect(dead.json().error_type).toBe('ER010');
  });
});

test('a workspace called through another data center is refused like unknown credentials (decision D1)', async () => {
  const own = await makeTokenBundle({ serviceDomain: 'push.example' });
  try {
    const workspaceId = await own.makeWorkspace();
    const { secret } = await own.makeKey({ workspaceId });
    await own.database`update workspaces set data_center = '03' where id = ${workspaceId}`;
    const at = (host: string) => ({ headers: { host } });
    const form = generation(workspaceId, secret);
    const right = await own.post('/v1/oauth/token', form, at('oauth2-03.push.example:8443'));
    expect(right.statusCode).toBe(200);
    expect((await own.post('/v1/oauth/token', form, at('localhost'))).statusCode).toBe(200);
    const wrong = await own.post('/v1/oauth/token', form, at('oauth2-01.push.example'));
    expect([wrong.statusCode, wrong.json().error_type]).toEqual([401, 'ER011']);
    const { access_token, refresh_token } = right.json();
    const refresh = refreshing(workspaceId, refresh_token);
    expect((await own.post('/v1/oauth/refresh', refresh, at('oauth2-01.push.example'))).json().error_type).toBe(
      'ER010',
    );
    expect((await own.post('/v1/oauth/refresh', refresh, at('oauth2-03.push.example'))).statusCode).toBe(200);
    const guarded = (host: string) =>
      own.server.inject({ url: '/guarded/data', headers: { host, authorization: `Bearer ${access_token}` } });
    expect((await guarded('api-03.push.example')).statusCode).toBe(200);
    expect((await guarded('api-101.push.example')).json().code).toBe('ER001');
  } finally {
    await own.end();
  }
});
