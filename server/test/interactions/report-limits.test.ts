import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address, makeInteractionBundle } from './interaction-bundle.ts';
import type { InteractionBundle } from './interaction-bundle.ts';

describe('the limit of reports, at the routes,', () => {
  let bundle: InteractionBundle;
  let runId: string;
  let campaignId: string;
  beforeAll(async () => {
    bundle = await makeInteractionBundle({
      token: { events: 3, seconds: 60 },
      address: { events: 6, seconds: 60 },
      unknownToken: { events: 6, seconds: 60 },
    });
    campaignId = await bundle.addCampaign();
    runId = await bundle.addRun(campaignId);
  });
  afterAll(() => bundle.stop());

  const impressions = async (device: number, from: string[]) => {
    const { token } = bundle.pass(runId, { device });
    const statuses: number[] = [];
    for (const [number, address] of from.entries())
      statuses.push((await bundle.post({ token, kind: 'impression', id: `${number}` }, { from: address })).statusCode);
    return statuses;
  };

  test('a token is limited wherever it is used from, others are not; refused reports are not counted', async () => {
    expect(await impressions(1, ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'])).toEqual([204, 204, 204, 429]);
    expect(await impressions(2, ['10.0.0.5'])).toEqual([204]);
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB IMPRESSION': [4, 2] });
    const { token, clickProof } = bundle.pass(runId, { device: 1 });
    const refused = await bundle.post({ token, kind: 'click' }, { from: '10.0.0.6' });
    expect(refused.json()).toMatchObject({ code: 'INTERACTION_RATE_LIMITED', status: 429 });
    expect(refused.headers['retry-after']).toBe('20');
    // A person who clicks goes on in any case.
    const click = await bundle.click(`${token}.${clickProof}`, address, '10.0.0.6');
    expect(click.statusCode).toBe(302);
    expect((await bundle.figures(campaignId))['WEB CLICK']).toBeUndefined();
    bundle.clock.advance(20_000);
    expect((await bundle.post({ token, kind: 'click' }, { from: '10.0.0.6' })).statusCode).toBe(204);
  });

  test('limits guesses at tokens of an address; a /64 of IPv6 is one address', async () => {
    const guess = (from: string) => bundle.post({ token: 'x', kind: 'click' }, { from });
    const statuses = [];
    for (let number = 1; number <= 7; number += 1) statuses.push((await guess(`2001:db8::${number}`)).statusCode);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429]);
    expect((await guess('2001:db8:0:1::1')).statusCode).toBe(404);
    const click = await bundle.click('x.y', address, '2001:db8::9');
    expect(click.statusCode).toBe(429);
  });

  test('accepts genuine reports and clicks from an address whose guesses are refused, up to their own limit', async () => {
    const from = '10.1.0.1';
    const guess = () => bundle.post({ token: 'x', kind: 'click' }, { from });
    for (let number = 1; number <= 7; number += 1) await guess();
    expect((await guess()).statusCode).toBe(429);
    const clicked = async () => (await bundle.figures(campaignId))['WEB CLICK']?.[0] ?? 0;
    const before = await clicked();
    const { token, clickProof } = bundle.pass(runId, { device: 30 });
    expect((await bundle.click(`${token}.${clickProof}`, address, from)).statusCode).toBe(302);
    expect(await clicked()).toBe(before + 1);
    const statuses = [];
    for (let device = 31; device <= 36; device += 1) statuses.push(...(await impressions(device, [from])));
    expect(statuses).toEqual([204, 204, 204, 204, 204, 429]);
  });

  test('leads a person on whose click is beyond the limit of the address, and leaves the click uncounted', async () => {
    const from = '10.1.0.2';
    for (let device = 41; device <= 46; device += 1) await impressions(device, [from]);
    const before = await bundle.figures(campaignId);
    const { token, clickProof } = bundle.pass(runId, { device: 47 });
    expect((await bundle.click(`${token}.${clickProof}`, address, from)).statusCode).toBe(302);
    expect(await bundle.figures(campaignId)).toEqual(before);
  });
});
