import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CampaignContent } from '../../src/domain/content/content.ts';
import { measureContent } from '../../src/engine/fan-out/compose-message.ts';
import { warnOfSizes } from '../../src/http/push/routes.ts';
import { propertyRuns } from '../property-runs.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;
beforeAll(async () => {
  bundle = await makePushBundle();
});
afterAll(() => bundle?.end());

const web = { redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };

async function send(payload: object, more: object = {}) {
  const campaignName = `Sized number ${(names += 1)}`;
  const answer = await bundle.send(goodBody({ campaignName, targetPlatform: Object.keys(payload), payload, ...more }));
  const { status, ...ids } = answer.json() as Record<string, unknown>;
  return {
    told: { status, members: Object.keys(ids) },
    warning: answer.headers['x-svc-warning'] as string | undefined,
  };
}

const texts = (length: number, more: object = {}) => ({ title: 'Order 17', message: 'x'.repeat(length), ...more });

test.each<[string, object, RegExp]>([
  ['Android', { ANDROID: texts(4_000) }, /^payload\.ANDROID makes 4\d\d\d bytes where 4096 fit$/],
  ['iPhones', { IOS: texts(4_000) }, /^payload\.IOS makes 4\d\d\d bytes where 4096 fit$/],
  ['browsers', { WEB: texts(4_000, web) }, /^payload\.WEB makes 4\d\d\d bytes where 3993 fit$/],
  [
    'Firefox on Android alone',
    { WEB: texts(2_900, web) },
    /^payload\.WEB makes 3\d\d\d bytes where 2967 fit for Firefox on Android$/,
  ],
  [
    'several platforms, each by itself',
    { ANDROID: texts(10), IOS: texts(4_000), WEB: texts(4_000, web) },
    /^payload\.IOS makes 4\d\d\d bytes where 4096 fit, payload\.WEB makes 4\d\d\d bytes where 3993 fit$/,
  ],
  [
    'texts that are personalised, as they stand',
    { ANDROID: texts(4_000, { title: 'Hi {{ UserAttribute["First Name"] }}' }) },
    /^payload\.ANDROID makes 4\d\d\d bytes where 4096 fit$/,
  ],
])('names a plain text that cannot fit in a header: %s', async (_what, payload, warning) => {
  const { told, warning: given } = await send(payload);
  expect(given).toMatch(warning);
  // The body of the answer stays as the contract has it (interface 2.11).
  const { told: usual } = await send({ ANDROID: texts(10) });
  expect(told).toEqual(usual);
});

test('reports a fallback that cannot fit as the fallback', async () => {
  const title = 'Hi {{ UserAttribute["First Name"] }}';
  const { told, warning } = await send({ ANDROID: texts(10, { title, fallback: texts(4_000) }) });
  expect(told).toMatchObject({ status: 'Success' });
  expect(warning).toMatch(/^payload\.ANDROID\.fallback makes 4\d\d\d bytes where 4096 fit$/);
});

test('reports nothing that fits', async () => {
  const payload = { ANDROID: texts(2_000), IOS: texts(2_000), WEB: texts(2_000, web) };
  expect((await send(payload)).warning).toBeUndefined();
});

const androidPayload = { mode: 'both', pushFrom: 'carillon', dataPrefix: null } as const;
// The longest that a message can become: the service's own address, before that of the page.
const defaults = { dataPrefix: 'svc', publicUrl: 'https://push.example.com' };

test('skips no short content that measuring would report', () => {
  const short = fc.string({ unit: 'binary', maxLength: 700 });
  const contents = fc.record({ title: short, message: short, redirectUrl: short.map((text) => `https://a.b/${text}`) });
  fc.assert(
    fc.property(contents, fc.constantFrom('ANDROID', 'IOS', 'WEB'), (drawn, platform) => {
      const { redirectUrl, ...given } = drawn;
      const own = {
        ANDROID: { ...given, richContent: [], additionalActions: [] },
        IOS: { ...given, richContent: [], additionalActions: [], enableBadge: true },
        WEB: { ...given, redirectUrl, iconUrl: 'https://a.b/i' },
      }[platform];
      const content = { [platform]: own } as unknown as CampaignContent;
      const measure: Parameters<typeof warnOfSizes>[1]['measure'] = (shown) => measureContent(shown, defaults);
      const measured = measureContent(
        { workspaceId: 'WORKSPACE1', androidPayload, platform, content: own } as never,
        defaults,
      );
      const warnings = warnOfSizes({ content }, { measure, workspaceId: 'WORKSPACE1', androidPayload });
      expect(warnings).toHaveLength(measured.bytes > measured.maxEverywhere ? 1 : 0);
    }),
    { numRuns: propertyRuns(300) },
  );
});
