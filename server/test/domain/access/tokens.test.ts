import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expiryOf,
  makeTokenSigner,
  planTokenSecrets,
  readToken,
  stateOfClaims,
} from '../../../src/domain/access/tokens.ts';
import type { TokenClaims, TokenFacts, TokenKey } from '../../../src/domain/access/tokens.ts';
import { propertyRuns } from '../../property-runs.ts';

const at = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number): Date => new Date(at.getTime() + seconds * 1000);
const days = 24 * 60 * 60;
const secret = Buffer.alloc(32, 5);
const signer = makeTokenSigner(secret);

const claims: TokenClaims = {
  ...{ kind: 'access-token', secretNumber: 3, epoch: 1_772_366_400, workspaceNumber: 17, keyNumber: 4_711 },
  ...{ keyGeneration: 2, grant: Buffer.alloc(8, 1), issuedAt: at, lifetimeSeconds: 900, id: Buffer.alloc(16, 2) },
};

describe('the form of a token', () => {
  const numberUpTo = (max: number) => fc.integer({ min: 0, max });
  const anyClaims = fc.record({
    kind: fc.constantFrom('access-token' as const, 'refresh-token' as const),
    secretNumber: numberUpTo(65_535),
    epoch: numberUpTo(2 ** 48 - 1),
    workspaceNumber: numberUpTo(2 ** 40 - 1),
    keyNumber: numberUpTo(2 ** 48 - 1),
    keyGeneration: numberUpTo(2 ** 32 - 1),
    grant: fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    issuedAt: numberUpTo(2 ** 48 - 1).map((milliseconds) => new Date(milliseconds)),
    lifetimeSeconds: numberUpTo(2 ** 32 - 1),
    id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
  });

  test('reads and verifies whatever was written, in 124 characters', () => {
    fc.assert(
      fc.property(anyClaims, (written) => {
        const text = signer.write(written);
        expect(text).toMatch(/^c[ar]t_[A-Za-z0-9_-]{120}$/);
        const read = readToken(text)!;
        expect(read.claims).toEqual(written);
        expect(signer.verifies(read)).toBe(true);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('is signed with HMAC-SHA-256 over the prefix and the claims (RFC 2104)', () => {
    const text = signer.write(claims);
    const bytes = Buffer.from(text.slice(4), 'base64url');
    const expected = createHmac('sha256', secret).update('cat_').update(bytes.subarray(0, 58)).digest();
    expect(bytes.subarray(58)).toEqual(expected);
  });

  test('rejects a token with any one bit changed, or with the other prefix', () => {
    const text = signer.write(claims);
    const bytes = Buffer.from(text.slice(4), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const read = readToken(`cat_${changed.toString('base64url')}`);
      expect(read !== undefined && signer.verifies(read), `bit ${bit}`).toBe(false);
    }
    expect(signer.verifies(readToken(`crt_${text.slice(4)}`)!)).toBe(false);
  });

  test.each([
    ['one character less', (text: string) => text.slice(0, -1)],
    ['one character more', (text: string) => `${text}A`],
    ['half of it', (text: string) => text.slice(0, 62)],
    ['padding', (text: string) => `${text.slice(0, -1)}=`],
    ['characters of plain base64', (text: string) => `${text.slice(0, -2)}+/`],
    ['a line break', (text: string) => `${text.slice(0, -1)}\n`],
    ['another prefix', (text: string) => `cok_${text.slice(4)}`],
    ['capitals in the prefix', (text: string) => `CAT_${text.slice(4)}`],
    ['nothing', () => ''],
  ])('does not read %s', (_name, change) => {
    expect(readToken(change(signer.write(claims)))).toBeUndefined();
  });

  test('accepts none of many random tokens, under any of 100 secrets', () => {
    const signers = Array.from({ length: 100 }, () => makeTokenSigner(randomBytes(32)));
    const runs = propertyRuns(1_000_000, 20_000);
    const pool = randomBytes(90 * 1_000);
    let accepted = 0;
    for (let run = 0; run < runs; run += 1) {
      if (run % 1_000 === 0) randomBytes(pool.length).copy(pool);
      const bytes = pool.subarray((run % 1_000) * 90, (run % 1_000) * 90 + 90);
      bytes[0] = 1;
      const read = readToken(`cat_${bytes.toString('base64url')}`)!;
      if (signers[run % 100]!.verifies(read)) accepted += 1;
    }
    expect(accepted).toBe(0);
  });
});

describe('the state of a token with a verified signature', () => {
  const key: TokenKey = { workspaceNumber: 17, generation: 2, archivedAt: null, isRevoked: () => false };
  const facts: TokenFacts = { at, epoch: claims.epoch, isSecretRetired: false, key };
  const revoked = (subject: Buffer): TokenKey => ({ ...key, isRevoked: (asked) => asked.equals(subject) });

  type Row = { name: string; claims?: Partial<TokenClaims>; facts?: Partial<TokenFacts>; state: string };
  test.each<Row>([
    { name: 'just issued', state: 'live' },
    { name: 'a millisecond before its expiry', facts: { at: new Date(after(900).getTime() - 1) }, state: 'live' },
    { name: 'at its expiry', facts: { at: after(900) }, state: 'expired' },
    { name: 'expired yesterday', facts: { at: after(900 + days) }, state: 'expired' },
    { name: 'expired a year ago', facts: { at: after(900 + 365 * days) }, state: 'expired' },
    { name: 'issued 60 s ahead', facts: { at: after(-60) }, state: 'live' },
    { name: 'issued more than 60 s ahead', facts: { at: after(-60.001) }, state: 'invalid' },
    { name: 'of a key that is gone', facts: { key: undefined }, state: 'invalid' },
    { name: 'of an archived key', facts: { key: { ...key, archivedAt: at } }, state: 'invalid' },
    {
      name: 'of an archived key, and expired',
      facts: { at: after(900), key: { ...key, archivedAt: at } },
      state: 'invalid',
    },
    { name: 'of an older generation', facts: { key: { ...key, generation: 3 } }, state: 'invalid' },
    { name: 'of a key of another workspace', facts: { key: { ...key, workspaceNumber: 18 } }, state: 'invalid' },
    { name: 'revoked', facts: { key: revoked(claims.id) }, state: 'invalid' },
    { name: 'of a revoked grant', facts: { key: revoked(claims.grant) }, state: 'invalid' },
    { name: 'under a retired secret', facts: { isSecretRetired: true }, state: 'invalid' },
    { name: 'under a retired secret, expired', facts: { isSecretRetired: true, at: after(900) }, state: 'expired' },
    { name: 'of an earlier epoch', claims: { epoch: claims.epoch - 1 }, state: 'invalid' },
    { name: 'of a later epoch', claims: { epoch: claims.epoch + 1 }, state: 'invalid' },
    { name: 'of an earlier epoch, expired', claims: { epoch: 1 }, facts: { at: after(900) }, state: 'expired' },
  ])('reports a token $name as $state (decision D13, D14)', (row) => {
    expect(stateOfClaims({ ...claims, ...row.claims }, { ...facts, ...row.facts })).toBe(row.state);
  });

  test('expires after its lifetime', () => {
    expect(expiryOf(claims)).toEqual(after(900));
  });
});

describe('the plan of token secrets', () => {
  const dates = (number: number, from: { created: number; succeeded?: number; retired?: number }) => ({
    number,
    createdAt: after(from.created * days),
    succeededAt: from.succeeded === undefined ? null : after(from.succeeded * days),
    retiredAt: from.retired === undefined ? null : after(from.retired * days),
  });
  const plan = (secrets: ReturnType<typeof dates>[], day: number) => planTokenSecrets(secrets, after(day * days));

  test('adds the first secret', () => {
    expect(plan([], 0)).toEqual({ retire: [], isNewDue: true });
  });

  test('adds one after 90 days, and not before', () => {
    const secrets = [dates(1, { created: 0 })];
    expect(plan(secrets, 89.9)).toEqual({ retire: [], isNewDue: false });
    expect(plan(secrets, 90)).toEqual({ retire: [], isNewDue: true });
  });

  test('retires the previous one 31 days after it last issued, when every token under it has expired', () => {
    const secrets = [dates(1, { created: 0, succeeded: 90 }), dates(2, { created: 90 })];
    expect(plan(secrets, 120.9)).toEqual({ retire: [], isNewDue: false });
    expect(plan(secrets, 121)).toEqual({ retire: [1], isNewDue: false });
  });

  test('never lets more than two accept, however long no job ran', () => {
    const secrets = [dates(1, { created: 0, succeeded: 200 }), dates(2, { created: 100 })];
    expect(plan(secrets, 210)).toEqual({ retire: [], isNewDue: false });
    expect(plan(secrets, 400)).toEqual({ retire: [1], isNewDue: true });
  });

  test('replaces a secret that was retired early', () => {
    expect(plan([dates(1, { created: 0, succeeded: 5, retired: 5 })], 5)).toEqual({ retire: [], isNewDue: true });
  });

  test('retires nothing by a clock that is behind', () => {
    expect(plan([dates(1, { created: 0, succeeded: 90 }), dates(2, { created: 90 })], -400)).toEqual({
      ...{ retire: [], isNewDue: false },
    });
  });
});
