import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { archiveKey } from '../../src/app/keys/keys.ts';
import {
  endAllTokens,
  readTokenSecrets,
  retireTokenSecret,
  rotateTokenSecret,
} from '../../src/app/tokens/token-secrets.ts';
import { hashSecret, makeSecret } from '../../src/domain/access/keys.ts';
import { makeTokenSigner, readToken } from '../../src/domain/access/tokens.ts';
import type { TokenClaims } from '../../src/domain/access/tokens.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeRotateTokenSecrets } from '../../src/engine/housekeeping/expiry.ts';
import { makeDropOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { makeLog } from '../../src/log.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startGate } from '../rig/gate.ts';
import { generation, makeTokenBundle, postTo, refreshing, start } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';

const actor = { kind: 'system', name: 'a test' } as const;
const minute = 60_000;
const day = 24 * 60 * minute;

let bundle: TokenBundle;
let client: Awaited<ReturnType<typeof setup>>;
beforeEach(async () => {
  bundle = await makeTokenBundle();
  await bundle.database`
    insert into installation (created_at, master_key_check) values (${start}, ${Buffer.alloc(45, 1)})`;
  client = await setup();
});
afterEach(() => bundle.end());

async function setup() {
  const workspaceId = await bundle.makeWorkspace();
  const { key, secret } = await bundle.makeKey({ workspaceId });
  const credentials = { client_id: workspaceId, client_secret: secret };
  return { workspaceId, key, secret, credentials, form: generation(workspaceId, secret) };
}

type Tokens = { access_token: string; refresh_token: string };

async function issue(of = client): Promise<Tokens> {
  const answer = await bundle.post('/v1/oauth/token', of.form);
  expect(answer.statusCode).toBe(200);
  return answer.json<Tokens>();
}

/** 200, or the code of the refusal. */
async function check(token: string, on: FastifyInstance = bundle.server): Promise<200 | string> {
  const answer = await on.inject({ url: '/guarded/data', headers: { authorization: `Bearer ${token}` } });
  return answer.statusCode === 200 ? 200 : (answer.json<{ code: string }>().code ?? String(answer.statusCode));
}

async function refresh(token: string, on: FastifyInstance = bundle.server): Promise<200 | string> {
  const form = refreshing(client.workspaceId, token);
  const answer = await postTo(on, { path: '/v1/oauth/refresh', form });
  return answer.statusCode === 200 ? 200 : answer.json<{ error_type: string }>().error_type;
}

const revoke = (token: string, by = client) => bundle.post('/v1/oauth/revoke', { ...by.credentials, token });
const claimsOf = (token: string): TokenClaims => readToken(token)!.claims;

/** Signs claims as this installation would: what an attacker cannot, and what may be left from another time or place. */
async function sign(claims: TokenClaims): Promise<string> {
  const [row] = await bundle.database<{ encrypted: Buffer }[]>`
    select secret_sealed as encrypted from token_secrets where number = ${claims.secretNumber}`;
  const context = encryptionContext.tokenSecret({ number: claims.secretNumber });
  return makeTokenSigner(bundle.encryption.decrypt(row!.encrypted, context)).write(claims);
}

const secretDependencies = () => ({ database: bundle.database, clock: bundle.clock, encryption: bundle.encryption });

async function countTokenRows(): Promise<number> {
  const [row] = await bundle.database<{ rows: number }[]>`
    select (select count(*) from access_tokens) + (select count(*) from refresh_tokens)
      + (select count(*) from token_revocations) as rows`;
  return row!.rows;
}

test('stores nothing when it issues and refreshes', async () => {
  const { refresh_token } = await issue();
  for (let call = 0; call < 5; call += 1) expect(await refresh(refresh_token)).toBe(200);
  expect(await countTokenRows()).toBe(0);
});

describe('a token that this installation did not issue so', () => {
  type Forged = { name: string; make: (token: string) => Promise<string> | string; code: string };
  const changed = (change: Partial<TokenClaims>) => (token: string) => sign({ ...claimsOf(token), ...change });

  test.each<Forged>([
    { name: 'with another signature', make: (token) => `${token.slice(0, -43)}${'A'.repeat(43)}`, code: 'ER001' },
    {
      name: 'with one character changed',
      make: (token) => token.slice(0, 60) + flip(token[60]!) + token.slice(61),
      code: 'ER001',
    },
    { name: 'truncated', make: (token) => token.slice(0, 100), code: 'ER001' },
    {
      name: 'signed under a secret of the attacker',
      make: (token) => makeTokenSigner(randomBytes(32)).write(claimsOf(token)),
      code: 'ER001',
    },
    {
      name: 'signed under an unknown secret',
      make: (token) => makeTokenSigner(randomBytes(32)).write({ ...claimsOf(token), secretNumber: 9 }),
      code: 'ER001',
    },
    { name: 'of the key of another workspace', make: changed({ workspaceNumber: 999_999 }), code: 'ER001' },
    { name: 'of a key that does not exist', make: changed({ keyNumber: 999_999 }), code: 'ER001' },
    { name: 'of a later generation of the key', make: changed({ keyGeneration: 2 }), code: 'ER001' },
    { name: 'of another installation with the same secrets', make: changed({ epoch: 1_900_000_000 }), code: 'ER001' },
    { name: 'issued 61 s ahead', make: changed({ issuedAt: new Date(start.getTime() + 61_000) }), code: 'ER001' },
    { name: 'expired yesterday', make: changed({ issuedAt: new Date(start.getTime() - day) }), code: 'ER008' },
    { name: 'expired a year ago', make: changed({ issuedAt: new Date(start.getTime() - 365 * day) }), code: 'ER008' },
  ])('is $code as access token and ER010 as refresh token if it is $name', async ({ make, code }) => {
    const { access_token, refresh_token } = await issue();
    expect(await check(await make(access_token))).toBe(code);
    const forged = await make(refresh_token);
    // A refresh token lives for 30 days, so that one of yesterday is valid.
    expect(await refresh(forged)).toBe(readToken(forged) && (await isLiveRefresh(forged)) ? 200 : 'ER010');
    expect(await check(access_token)).toBe(200);
  });

  const flip = (letter: string): string => (letter === 'A' ? 'B' : 'A');
  const isLiveRefresh = async (token: string): Promise<boolean> => {
    const { issuedAt } = claimsOf(token);
    return issuedAt.getTime() === start.getTime() - day;
  };

  test('is ER001 if it is of an earlier epoch, and ER008 once it has expired', async () => {
    const tokens = await issue();
    await endAllTokens(bundle, { actor });
    bundle.clock.advance(1_000);
    expect(await check(tokens.access_token)).toBe('ER001');
    expect(await refresh(tokens.refresh_token)).toBe('ER010');
    expect(await check((await issue()).access_token)).toBe(200);
    bundle.clock.advance(15 * minute);
    expect(await check(tokens.access_token)).toBe('ER008');
  });

  test('gets another epoch from each restore, in seconds', async () => {
    const first = await endAllTokens(bundle, { actor });
    expect(first).toBeGreaterThan(1_700_000_000);
    expect(await endAllTokens(bundle, { actor })).toBeGreaterThan(first);
  });
});

describe('revocation', () => {
  test('takes effect at once on the node that answered it, and within a second on another', async () => {
    const other = await bundle.makeNode();
    const [single, family] = [await issue(), await issue()];
    const all = [single.access_token, family.access_token];
    for (const server of [bundle.server, other.server])
      for (const token of all) expect(await check(token, server)).toBe(200);
    await revoke(single.access_token);
    await revoke(family.refresh_token);
    for (const token of all) expect(await check(token)).toBe('ER001');
    bundle.clock.advance(1_000);
    for (const token of all) expect(await check(token, other.server)).toBe('ER001');
    expect(await refresh(single.refresh_token, other.server)).toBe(200);
    expect(await refresh(family.refresh_token, other.server)).toBe('ER010');
    await other.server.close();
  });

  test('ends the access token of a refresh that is under way', async () => {
    const { refresh_token } = await issue();
    const form = refreshing(client.workspaceId, refresh_token);
    const [refreshed] = await Promise.all([bundle.post('/v1/oauth/refresh', form), revoke(refresh_token)]);
    // It came before or after; in both cases nothing lives on.
    if (refreshed.statusCode === 200) expect(await check(refreshed.json().access_token)).toBe('ER001');
    expect(await refresh(refresh_token)).toBe('ER010');
  });

  test('stores a row until a day after the token has expired, also by a sandbox clock that is ahead', async () => {
    const { access_token } = await issue();
    await revoke(access_token);
    expect(await countTokenRows()).toBe(1);
    const drop = makeDropOldRecords({ database: bundle.database, clock: bundle.clock, inboxMessages: 10 });
    bundle.clock.setOffset(400 * day);
    await drop.runOnce(bundle.clock.now());
    bundle.clock.setOffset(0);
    expect(await check(access_token)).toBe('ER001');
    bundle.clock.advance(15 * minute + day + 1);
    await drop.runOnce(bundle.clock.now());
    expect(await countTokenRows()).toBe(0);
  });

  test('stores nothing for a key of another workspace, or for an expired token', async () => {
    const { access_token } = await issue();
    await revoke(access_token, await setup());
    expect(await check(access_token)).toBe(200);
    bundle.clock.advance(15 * minute);
    await revoke(access_token);
    expect(await countTokenRows()).toBe(0);
  });

  test('refuses every token on a node that is cut off from the database for a second', async () => {
    const gate = await startGate(bundle.url.replace('postgres:', 'http:'));
    const url = new URL(bundle.url);
    url.port = new URL(gate.origin).port;
    const database = openDatabase({ url: url.href, connections: 4, name: 'cut off' });
    const { server } = await bundle.makeNode({ database });
    const { access_token } = await issue();
    const untouched = await issue();
    expect(await check(access_token, server)).toBe(200);
    await gate.close();
    // Within the second the node needs no database.
    expect(await check(untouched.access_token, server)).toBe(200);
    await revoke(access_token);
    expect(await check(access_token)).toBe('ER001');
    for (let second = 1; second <= 10; second += 1) {
      bundle.clock.advance(1_000);
      expect(await check(access_token, server)).not.toBe(200);
      expect(await check(untouched.access_token, server)).not.toBe(200);
    }
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await server.inject({ url: '/guarded/data', headers })).statusCode).toBe(503);
    await gate.open();
    expect(await check(access_token, server)).toBe('ER001');
    expect(await check(untouched.access_token, server)).toBe(200);
    await server.close();
    await database.end();
    await gate.close();
  });

  test('keeps no read that began before it', async () => {
    const { access_token } = await issue();
    expect(await check(access_token)).toBe(200);
    // From half a second on the key is read again while calls go on.
    bundle.clock.advance(600);
    await Promise.all([check(access_token), revoke(access_token)]);
    expect(await check(access_token)).toBe('ER001');
  });
});

describe('token secrets', () => {
  const rotateWhenDue = async () => {
    const job = makeRotateTokenSecrets({ ...secretDependencies(), log: makeLog({ level: 'silent', pretty: false }) });
    await job.runOnce(bundle.clock.now());
    return (await readTokenSecrets(bundle)).secrets.map(({ state }) => state);
  };

  test('accept tokens while there are two, and refuse a third', async () => {
    const other = await bundle.makeNode();
    const old = await issue();
    expect(await check(old.access_token, other.server)).toBe(200);
    expect(await rotateTokenSecret(secretDependencies(), { actor })).toBe(2);
    bundle.clock.advance(1_000);
    const young = await issue();
    expect([old, young].map(({ access_token }) => claimsOf(access_token).secretNumber)).toEqual([1, 2]);
    for (const { access_token } of [old, young]) expect(await check(access_token, other.server)).toBe(200);
    expect(await refresh(old.refresh_token)).toBe(200);
    await expect(rotateTokenSecret(secretDependencies(), { actor })).rejects.toMatchObject({
      code: 'PARAMETER_INVALID',
    });
    await other.server.close();
  });

  test('accept a token on a node that read them before the one that signed it was added', async () => {
    const other = await bundle.makeNode();
    expect(await check((await issue()).access_token, other.server)).toBe(200);
    await retireTokenSecret(secretDependencies(), { actor, number: 1 });
    const fresh = await bundle.makeNode();
    const answer = await postTo(fresh.server, { path: '/v1/oauth/token', form: client.form });
    expect(await check(answer.json().access_token, other.server)).toBe(200);
    await Promise.all([other.server.close(), fresh.server.close()]);
  });

  test('ends the tokens under a secret that is retired early, and recognises them as expired later', async () => {
    const { access_token, refresh_token } = await issue();
    expect(await retireTokenSecret(secretDependencies(), { actor, number: 1 })).toBe(2);
    bundle.clock.advance(1_000);
    expect(await check(access_token)).toBe('ER001');
    expect(await refresh(refresh_token)).toBe('ER010');
    expect(await check((await issue()).access_token)).toBe(200);
    bundle.clock.advance(365 * day);
    expect(await check(access_token)).toBe('ER008');
    await expect(retireTokenSecret(secretDependencies(), { actor, number: 1 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('are replaced after 90 days, and retire 31 days later, when the last token has expired', async () => {
    await issue();
    expect(await rotateWhenDue()).toEqual(['issues']);
    bundle.clock.advance(90 * day);
    expect(await rotateWhenDue()).toEqual(['accepts', 'issues']);
    const { access_token } = await issue();
    bundle.clock.advance(30 * day);
    expect(await rotateWhenDue()).toEqual(['accepts', 'issues']);
    bundle.clock.advance(day);
    expect(await rotateWhenDue()).toEqual(['retired', 'issues']);
    expect(await check(access_token)).toBe('ER008');
  });

  test('stay when the sandbox clock jumps a year', async () => {
    const { access_token } = await issue();
    bundle.clock.setOffset(365 * day);
    expect(await rotateWhenDue()).toEqual(['issues']);
    expect(await check(access_token)).toBe('ER008');
    bundle.clock.setOffset(0);
    expect(await check(access_token)).toBe(200);
  });

  test('are added once by two nodes that start together', async () => {
    const other = await bundle.makeNode();
    const answers = await Promise.all(
      [bundle.server, other.server].map((server) => postTo(server, { path: '/v1/oauth/token', form: client.form })),
    );
    expect((await readTokenSecrets(bundle)).secrets).toHaveLength(1);
    for (const answer of answers)
      for (const server of [bundle.server, other.server])
        expect(await check(answer.json().access_token, server)).toBe(200);
    await other.server.close();
  });

  test('keep tokens valid through a rotation of the master key, on nodes that run and on those that start', async () => {
    const { access_token } = await issue();
    const next = makeEncryption(Buffer.alloc(32, 8));
    const [row] = await bundle.database<{ encrypted: Buffer }[]>`select secret_sealed as encrypted from token_secrets`;
    const context = encryptionContext.tokenSecret({ number: 1 });
    const encrypted = next.encrypt(bundle.encryption.decrypt(row!.encrypted, context), context);
    await bundle.database`update token_secrets set secret_sealed = ${encrypted}`;
    bundle.clock.advance(1_000);
    const started = await bundle.makeNode({ encryption: next });
    for (const server of [bundle.server, started.server]) expect(await check(access_token, server)).toBe(200);
    await started.server.close();
  });
});

describe('time', () => {
  test('makes a token invalid that was issued while the sandbox was ahead, once the clock is back', async () => {
    bundle.clock.setOffset(40 * day);
    const { access_token, refresh_token } = await issue();
    expect(await check(access_token)).toBe(200);
    bundle.clock.setOffset(0);
    expect(await check(access_token)).toBe('ER001');
    expect(await refresh(refresh_token)).toBe('ER010');
    expect(await check((await issue()).access_token)).toBe(200);
  });
});

describe('a token that was stored before tokens verified themselves', () => {
  async function storeTokens() {
    const [accessToken, refreshToken] = [makeSecret('access-token'), makeSecret('refresh-token')];
    const { workspaceId, key } = client;
    const until = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
    await bundle.database`
      insert into refresh_tokens (token_hash, workspace_id, key_id, key_generation, issued_at, expires_at)
      values (${hashSecret(refreshToken)}, ${workspaceId}, ${key.id}, 1, ${start}, ${until(30 * day)})`;
    await bundle.database`
      insert into access_tokens (
        token_hash, workspace_id, key_id, key_generation, refresh_token_hash, issued_at, expires_at
      )
      values (
        ${hashSecret(accessToken)}, ${workspaceId}, ${key.id}, 1, ${hashSecret(refreshToken)}, ${start},
        ${until(15 * minute)}
      )`;
    return { accessToken, refreshToken };
  }

  test('is valid until it expires, and is refreshed to one that verifies itself', async () => {
    const { accessToken, refreshToken } = await storeTokens();
    expect(await check(accessToken)).toBe(200);
    bundle.clock.advance(15 * minute - 1);
    expect(await check(accessToken)).toBe(200);
    bundle.clock.advance(1);
    expect(await check(accessToken)).toBe('ER008');
    bundle.clock.advance(29 * day);
    expect(await refresh(refreshToken)).toBe(200);
    bundle.clock.advance(day);
    expect(await refresh(refreshToken)).toBe('ER010');
  });

  test('ends with its key and with a revocation, and takes along what was issued from it since', async () => {
    const { accessToken, refreshToken } = await storeTokens();
    const form = refreshing(client.workspaceId, refreshToken);
    const { access_token } = (await bundle.post('/v1/oauth/refresh', form)).json();
    for (const token of [accessToken, access_token]) expect(await check(token)).toBe(200);
    await revoke(refreshToken);
    for (const token of [accessToken, access_token]) expect(await check(token)).toBe('ER001');
    expect(await refresh(refreshToken)).toBe('ER010');
    const other = await storeTokens();
    await archiveKey(bundle, { workspaceId: client.workspaceId, keyId: client.key.id, actor });
    expect(await check(other.accessToken)).toBe('ER001');
    expect(await refresh(other.refreshToken)).toBe('ER010');
  });

  test('ends with the epoch', async () => {
    const { accessToken, refreshToken } = await storeTokens();
    await endAllTokens(bundle, { actor });
    expect(await check(accessToken)).toBe('ER001');
    expect(await refresh(refreshToken)).toBe('ER010');
  });
});
