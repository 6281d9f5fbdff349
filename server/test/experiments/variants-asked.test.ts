import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { android, campaign, expectStatus, faultsOf } from '../campaigns/authoring-bundle.ts';
import { contentIn, makeVariationBundle, shares } from './variation-bundle.ts';
import type { VariationBundle } from './variation-bundle.ts';

let bundle: VariationBundle;
beforeAll(async () => {
  bundle = await makeVariationBundle();
  await bundle.addPhones(12);
  await bundle.setAttribute('user-1', { locale: 'pt_BR' });
  await bundle.setAttribute('user-2', { locale: 'zh-TW' });
  await bundle.setAttribute('user-3', { locale: 'de' });
  await bundle.database`update devices set locale = 'pt-BR' where push_id = 'push-user-3'`;
  await bundle.setAttribute('user-4', { locale: 'nothing of a language' });
});
afterAll(() => bundle.close());

const content = (more: object) => ({ campaign_content: more });
const three = ['default', 'pt', 'de'];

describe('the language of a user', () => {
  test('is the device’s, else the attribute’s, from the exact tag to the language to the default', async () => {
    const locales = ['default', 'pt', 'pt-BR', 'zh-Hant', 'de'];
    await bundle.live(content({ locales, content: contentIn(locales, 1) }));
    await bundle.deliver();
    const titles = bundle.titles();
    const of = (customer: string) => titles.get(customer);
    expect(['user-0', 'user-1', 'user-2', 'user-3', 'user-4'].map(of)).toEqual([
      ...['default 1', 'pt-BR 1', 'zh-Hant 1', 'pt-BR 1', 'default 1'],
    ]);
    // Without Brazilian words those of Portuguese are closest.
    const id = await bundle.live(content({ content: contentIn(three, 1) }));
    await bundle.deliver();
    expect(['user-1', 'user-3'].map((customer) => bundle.titles().get(customer))).toEqual(['pt 1', 'pt 1']);
    expect(bundle.messages.map(({ language }) => language).sort()).toEqual([
      'pt',
      'pt',
      ...new Array(10).fill(undefined),
    ]);
    const figures = await bundle.locales(id);
    expect(Object.keys(figures).sort()).toEqual(['all_locales', 'de', 'default', 'pt']);
    expect(figures.pt.variations.all_variations.performance_stats.sent).toBe(2);
    expect(Object.keys(figures.pt.variations)).toEqual(['all_variations']);
    expect((await bundle.explain(id, 'user-1')).runs[0].devices[0]).toMatchObject({ variation: null, locale: 'pt' });
  });
});

describe('campaign_content with variations', () => {
  test('is stored and shown as it was sent, in V5 and V1', async () => {
    const sent = { variation_details: shares(60, 40), content: contentIn(three, 2) };
    const id = await bundle.live({ ...content(sent), basic_details: { name: 'Varied', platforms: ['ANDROID'] } });
    expect((await bundle.get(id)).campaign_content).toEqual(sent);
    const v1 = await bundle.call('POST', '/v1/campaigns', {
      request_id: 'v1-varied',
      ...campaign({ ...content(sent), delivery_controls: {}, advanced: {} }),
    });
    expectStatus(v1, 201);
    expect((await bundle.row(v1.json().campaign_id)).variants).toMatchObject({
      locales: three,
      percents: [60, 40],
    });
    await bundle.deliver();
    // Both campaigns draw for themselves.
    expect(bundle.sent).toHaveLength(24);
  });

  const faults = async (more: object): Promise<string[]> => {
    const answer = await bundle.call('POST', '/v5/campaigns', campaign(content(more)));
    return answer.statusCode === 201 ? faultsOf(await bundle.act(answer.json().data.id, 'PUBLISH')) : faultsOf(answer);
  };
  const flat = { push: { android } };
  const two = contentIn(['default'], 2);

  test.each<[string, object, string]>([
    [
      'shares that are not 100',
      { variation_details: shares(60, 30), content: two },
      'variation_details.manual_distribution_percentage must be 100 together.',
    ],
    [
      'no shares',
      { variation_details: { no_of_variations: 2 }, content: two },
      'variation_details.manual_distribution_percentage is required.',
    ],
    [
      'a share of another',
      { variation_details: { ...shares(50, 50), no_of_variations: 1 }, content: contentIn(['default'], 1) },
      'variation_details.manual_distribution_percentage.variation_2 must be variation_1.',
    ],
    [
      'ten variations',
      { variation_details: shares(...new Array<number>(10).fill(10)), content: contentIn(['default'], 10) },
      'variation_details.no_of_variations must be a whole number from 1 to 9.',
    ],
    [
      'several of a flat content',
      { variation_details: shares(50, 50), content: flat },
      'variation_details.no_of_variations must be 1 for content.push.',
    ],
    [
      'locales of a flat content',
      { locales: ['default', 'de'], content: flat },
      'locales must name the locales of content, and no others.',
    ],
    [
      'a variation without content',
      { variation_details: shares(50, 50), content: { default: { variation_1: { push: { android } } } } },
      'content.default.variation_2.push is required.',
    ],
    [
      'a variation too many',
      { content: contentIn(['default'], 2) },
      'content.default.variation_2 must be variation_1.',
    ],
    ['no default', { content: contentIn(['de'], 1) }, 'content.default.variation_1.push is required.'],
    [
      'no language tag',
      { content: contentIn(['default', 'b@d'], 1) },
      'content.b@d must be push, default, or a language tag.',
    ],
    ['a language twice', { content: contentIn(['default', 'pt-br', 'pt-BR'], 1) }, 'content.pt-BR is given twice.'],
    [
      'other locales than it has',
      { locales: ['default', 'fr'], content: contentIn(three, 1) },
      'locales must name the locales of content, and no others.',
    ],
    [
      'texts in languages twice',
      {
        content: {
          ...contentIn(['default'], 1),
          de: { variation_1: { push: { android, locales: { de: { android: { title: 'T', message: 'M' } } } } } },
        },
      },
      'content.de.variation_1.push.locales cannot stand beside campaign_content.locales.',
    ],
  ])('%s is refused by name', async (_name, more, fault) => {
    expect((await faults(more)).map((text) => text.replace('campaign_content.', ''))).toContain(fault);
  });

  test('names unknown fields in each of its contents, and none of its own', async () => {
    const answer = await bundle.call(
      'POST',
      '/v5/campaigns',
      campaign(
        content({
          variation_details: shares(50, 50),
          content: {
            default: { variation_1: { push: { android: { ...android, odd: 1 } } }, variation_2: { push: { android } } },
          },
        }),
      ),
    );
    expect(answer.headers['x-svc-warning']).toBe(
      'unknown field "campaign_content.content.default.variation_1.push.android.odd"',
    );
  });
});

describe('a test and a preview of a campaign with variations', () => {
  const varied = content({ variation_details: shares(50, 50), content: contentIn(three, 2) });
  const inline = (more: object) => ({ channel: 'PUSH', ...varied, ...more });
  const meta = (more: object) => ({
    test_campaign_meta: { identifier: 'uid', identifier_values: ['user-0', 'user-1'], ...more },
  });

  test('is sent of the variation asked for, to each person in their own language or in the one asked for', async () => {
    const sendTest = async (more: object) => {
      expectStatus(await bundle.call('POST', '/v5/campaigns/test', inline(meta(more))), 200);
      await bundle.deliver();
      return ['user-0', 'user-1'].map((customer) => bundle.titles().get(customer));
    };
    expect(await sendTest({})).toEqual(['default 1', 'pt 1']);
    const [last] = await bundle.database`select id from runs order by created_at desc, id desc limit 1`;
    const noted = await bundle.database`
      select locale from readable_deliveries as deliveries where run_id = ${last!.id} order by locale`;
    expect(noted.map(({ locale }) => locale)).toEqual(['default', 'pt']);
    expect(await sendTest({ variation: 'variation_2' })).toEqual(['default 2', 'pt 2']);
    expect(await sendTest({ variation: 2, locale_name: 'de' })).toEqual(['de 2', 'de 2']);
    expect(await sendTest({ locale_name: 'DEFAULT' })).toEqual(['default 1', 'default 1']);
  });

  test('is rendered so, too', async () => {
    const show = async (more: object) => {
      const named = { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_value: 'user-1' };
      const answer = await bundle.call('POST', '/v5/campaigns/preview', inline({ ...named, ...more }));
      expectStatus(answer, 200);
      const { language, content: shown } = answer.json().data.platforms.android;
      return [language, shown.basic_details.title];
    };
    expect(await show({})).toEqual(['pt', 'pt 1']);
    expect(await show({ variation: 'variation_2' })).toEqual(['pt', 'pt 2']);
    expect(await show({ variation: '2', locale_name: 'de' })).toEqual(['de', 'de 2']);
    expect(await show({ locale_name: 'default' })).toEqual([undefined, 'default 1']);
  });

  test.each([
    [{ variation: 'variation_3' }, 'test_campaign_meta.variation is not among the variations of campaign_content.'],
    [{ variation: 'second' }, 'test_campaign_meta.variation must be variation_1, variation_2 ….'],
    [{ locale_name: 'fr' }, 'test_campaign_meta.locale_name is not among the locales of campaign_content.'],
  ])('of %j is refused', async (more, fault) => {
    expect(faultsOf(await bundle.call('POST', '/v5/campaigns/test', inline(meta(more))))).toEqual([fault]);
  });
});
