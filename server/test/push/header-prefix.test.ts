import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKeyCurl } from '../../src/app/keys/key-curl.ts';
import { spellAbbreviation } from '../../src/domain/abbreviation.ts';
import { errorRegistry } from '../../src/domain/errors.ts';
import { clientNotFound } from '../../src/http/segments/answers.ts';
import { parseCreate } from '../../src/http/segments/file-segments.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makePushBundle, userBody } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

describe('an installation whose abbreviation is Acme', () => {
  let bundle: PushBundle;
  const acme = makeVendorHeaders('Acme');
  beforeAll(async () => {
    bundle = await makePushBundle({ headerPrefix: 'Acme' });
    await bundle.addUser('ada', {}, 'gaid-1');
  });
  afterAll(() => bundle?.end());

  const name = (attribute: string, more: object = {}) => ({
    targetUserAttributes: { attribute, comparisonParameter: 'is', attributeValue: 'gaid-1', ...more },
  });

  async function countTargets(campaignId: string): Promise<number> {
    const [run] = await bundle.database`
      select jsonb_array_length(target_users) as targets from runs where campaign_id = ${campaignId}`;
    return run!.targets as number;
  }

  test.each(['ACME_GAID', 'SVC_GAID'])('finds users by %s', async (attribute) => {
    const body = userBody('gaid-1', { campaignName: `Found by ${attribute}`, ...name(attribute) });
    const answer = (await bundle.send(body)).json();
    expect(answer).toMatchObject({ status: 'Success' });
    expect(await countTargets(answer.cid)).toBe(1);
  });

  test('does not recognize names with another abbreviation, and leaves the caller’s names unchanged', async () => {
    const other = await bundle.send(userBody('gaid-1', { campaignName: 'Found by other', ...name('OTHER_GAID') }));
    expect(other.json().Error_Message).toBe(
      'Error parsing parameters: targetUserAttributes.attribute: is unknown; a custom attribute needs isCustom',
    );
    await bundle.addUser('bob', { ACME_GAID: 'own-1' });
    const named = name('ACME_GAID', { isCustom: true, attributeValue: 'own-1' });
    const own = await bundle.send(userBody('own-1', { campaignName: 'Found by own', ...named }));
    expect(await countTargets(own.json().cid)).toBe(1);
  });

  test('names its headers as callers write them', async () => {
    const headers = { 'x-acme-query-type': 'all users', 'x-svc-query-type': 'all users' };
    const answer = await bundle.send(userBody('ada', { campaignName: 'Differs in a header' }), { headers });
    expect(answer.json().Error_Message).toBe(
      'Error parsing parameters: X-ACME-Query-Type: differs from targetAudience',
    );
    expect(clientNotFound(acme, '').message).toBe(
      'Carillon Client not found. Please check values for headers - ACME-APPKEY or ACME-DBNAME',
    );
    expect(spellAbbreviation(errorRegistry.PUSH_APP_ID_MISSING.advice, 'Acme')).toContain(
      'the header X-ACME-APPKEY in v2.1',
    );
    const key = { workspaceId: 'W', dbName: 'w', url: 'https://push.example', secret: 's', headerPrefix: 'Acme' };
    expect(makeKeyCurl({ ...key, kind: 'push' })).toContain("-H 'X-ACME-APPKEY: W'");
    expect(makeKeyCurl({ ...key, kind: 'data' })).toContain("-H 'ACME-DBNAME: w'");
  });

  test('accepts its own name for a column of a user file', () => {
    const file = { name: 'N', attribute_name: 'ACME_GAID', attribute_type: 'string', file_url: 'https://x.example/f' };
    expect(parseCreate({ ...file, expiry_time: 30 }, acme.prefixes).attributeName).toBe('SVC_GAID');
  });

  test('leaves a similar name unchanged', () => {
    expect(spellAbbreviation('X-SVC-APPKEY, svc_gaid, SVC_GAID', 'Acme')).toBe('X-ACME-APPKEY, acme_gaid, ACME_GAID');
    expect(spellAbbreviation('a svc file, MYSVC-1', 'Acme')).toBe('a svc file, MYSVC-1');
  });
});
