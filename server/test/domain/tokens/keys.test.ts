import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/domain/errors.ts';
import { dataCenterOfHost, namesUnknownDataCenter } from '../../../src/domain/access/data-centers.ts';
import {
  keyKinds,
  assertKeySettings,
  opensAsPassword,
  knownScopes,
  hintOfSecret,
  isSecret,
  makeSecret,
} from '../../../src/domain/access/keys.ts';
import { isWorkspaceId } from '../../../src/domain/ids.ts';

describe('the settings of a key (decision D15, fact 1)', () => {
  const fault = (settings: Record<string, unknown>): unknown => {
    try {
      assertKeySettings(settings);
      return undefined;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return [error.code, error.context];
    }
  };
  const refused = (field: string, reason: string) => ['PARAMETER_INVALID', { field, reason }];
  const badName = refused('name', 'must have 1 to 100 characters');
  const badText = refused('name', 'must be well-formed Unicode without NUL');
  const badMinutes = refused('accessTokenMinutes', 'must be a whole number from 5 to 60');

  test.each<[object, unknown]>([
    [{}, undefined],
    [{ name: 'a' }, undefined],
    [{ name: '😀'.repeat(100) }, undefined],
    [{ name: '' }, badName],
    [{ name: '   ' }, badName],
    [{ name: '😀'.repeat(101) }, badName],
    [{ name: 'a\0' }, badText],
    [{ name: 'a\ud800' }, badText],
    [{ scopes: ['push'] }, undefined],
    [{ scopes: [...knownScopes] }, undefined],
    [{ scopes: [] }, refused('scopes', 'must name at least one scope')],
    [
      { scopes: ['push', 'PUSH'] },
      refused(
        'scopes',
        'must be some of data, segmentation, push, campaign, offering, decision-policy, inform, dashboard-analyze',
      ),
    ],
    [{ accessTokenMinutes: 5 }, undefined],
    [{ accessTokenMinutes: 60 }, undefined],
    [{ accessTokenMinutes: 4 }, badMinutes],
    [{ accessTokenMinutes: 61 }, badMinutes],
    [{ accessTokenMinutes: 15.5 }, badMinutes],
    [{ accessTokenMinutes: Number.NaN }, badMinutes],
  ])('are checked: %j', (settings, expected) => {
    expect(fault(settings as Record<string, unknown>)).toEqual(expected);
  });
});

test('accepts the secret of a key as a password on the routes of its scopes, but not of an OAuth key (decision D20)', () => {
  const opening = keyKinds.filter((kind) => opensAsPassword({ kind, scopes: ['data', 'push'] }, 'push'));
  expect(opening).toEqual(['data', 'push', 'campaigns']);
  expect(opensAsPassword({ kind: 'data', scopes: ['data', 'segmentation'] }, 'push')).toBe(false);
  expect(opensAsPassword({ kind: 'push', scopes: [] }, 'push')).toBe(false);
});

describe('secrets', () => {
  test('are a prefix and 32 random bytes in base64url', () => {
    const asked: number[] = [];
    const secret = makeSecret('push', (bytes) => {
      asked.push(bytes);
      return Buffer.alloc(bytes, 0xff);
    });
    expect(secret).toBe(`cpk_${'_'.repeat(42)}8`);
    expect(asked).toEqual([32]);
  });

  test('show their prefix and their last four characters', () => {
    expect(hintOfSecret('cpk_abcdefghijklmnop')).toBe('cpk_…mnop');
  });

  test('contain letters, digits, dashes and underscores', () => {
    const secret = makeSecret('data');
    expect(isSecret('data', secret)).toBe(true);
    for (const other of ['|', ':', ' ', 'é', '\n'])
      expect(isSecret('data', `${secret.slice(0, 20)}${other}${secret.slice(21)}`)).toBe(false);
    expect(isSecret('data', ` ${secret.slice(0, -1)}`)).toBe(false);
    expect(isSecret('data', secret.slice(0, -1))).toBe(false);
  });
});

test('accepts a workspace id of 1 to 64 letters, digits, dashes and underscores', () => {
  for (const id of ['A', 'shop_DEBUG', 'x-1', 'x'.repeat(64)]) expect(isWorkspaceId(id)).toBe(true);
  for (const id of ['', 'a b', 'a|b', 'a\0', 'a\n', '\na', 'é', 'x'.repeat(65)]) expect(isWorkspaceId(id)).toBe(false);
});

test.each<[host: string, dataCenter: string | undefined, isUnknown: boolean]>([
  ['oauth2-01.push.example', '01', false],
  ['oauth2-01.push.example.', '01', false],
  ['api-07.push.example', undefined, true],
  ['PUSHAPI-1.push.example', undefined, true],
  ['oauth2-.push.example', undefined, true],
  ['oauth2.push.example', undefined, false],
  ['xoauth2-07.push.example', undefined, false],
  ['x.api-07.push.example', undefined, false],
  ['oauth2-07.other.example', undefined, false],
  ['push.example', undefined, false],
])('maps the host %s to the data center %s, which is unknown: %s (decision D1)', (host, dataCenter, isUnknown) => {
  expect(dataCenterOfHost(host, 'Push.Example')).toBe(dataCenter);
  expect(namesUnknownDataCenter(host, 'Push.Example')).toBe(isUnknown);
  expect(namesUnknownDataCenter(host, undefined)).toBe(false);
});
