import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addUtm } from '../../src/domain/content/utm.ts';
import { android, campaign, expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

const utm = { utm_source: 'push', utm_medium: 'app', utm_campaign: 'Spring & more' };
const added = 'utm_source=push&utm_medium=app&utm_campaign=Spring%20%26%20more';

describe('the parameters of a link', () => {
  test.each([
    ['https://shop.example', `https://shop.example?${added}`],
    ['https://shop.example/a?b=1', `https://shop.example/a?b=1&${added}`],
    ['https://shop.example/a?', `https://shop.example/a?${added}`],
    ['http://shop.example/a#part', `http://shop.example/a?${added}#part`],
    ['https://shop.example/%7Ea?x=a%2Fb&x=%20', `https://shop.example/%7Ea?x=a%2Fb&x=%20&${added}`],
  ])('adds them to %s', (address, expected) => {
    expect(addUtm(address, utm)).toBe(expected);
  });

  test('keeps them if the link has them', () => {
    expect(addUtm('https://shop.example/?utm_source=own', utm)).toBe(
      'https://shop.example/?utm_source=own&utm_medium=app&utm_campaign=Spring%20%26%20more',
    );
    const full = `https://shop.example/?${added}`;
    expect(addUtm(full, utm)).toBe(full);
  });

  test.each(['shop://17', 'tel:4711', 'HomeActivity', '', 'https://'])('does not add them to %j', (address) => {
    expect(addUtm(address, utm)).toBe(address);
  });
});

describe('a campaign with utm_params (fact 6.2)', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevicesOf(['user-1']);
    await bundle.setAttribute('user-1', { page: 'p-1?x=1' });
  });
  afterAll(() => bundle.close());

  const links = (value: string) => ({
    campaign_content: {
      content: {
        push: {
          android: {
            ...android,
            basic_details: {
              ...android.basic_details,
              ...{ default_click_action: 'DEEPLINKING', default_click_action_value: value },
            },
          },
        },
      },
    },
  });

  test.each([
    ['a link that is the same for all', 'https://shop.example/a', `https://shop.example/a?${added}`],
    [
      'a link that is rendered for each user',
      'https://shop.example/{{UserAttribute.page}}',
      `https://shop.example/p-1?x=1&${added}`,
    ],
    ['a place in the app', 'shop://cart', 'shop://cart'],
  ])('sends %s', async (_what, value, expected) => {
    await bundle.live({ ...links(value), utm_params: utm });
    expect(await bundle.deliver()).toEqual(['user-1']);
    const [message] = bundle.messages as { content: { defaultAction: { value: string } } }[];
    expect(message!.content.defaultAction.value).toBe(expected);
  });

  test('shows them in the preview, and keeps them in the record', async () => {
    const body = { ...links('https://shop.example/a'), utm_params: utm };
    const id = await bundle.draft(body);
    expect((await bundle.get(id)).utm_params).toEqual(utm);
    const preview = await bundle.call('POST', '/v5/campaigns/preview', {
      ...{ draft_id: id, platform: 'ANDROID', identifier: 'uid', identifier_value: 'user-1' },
    });
    expectStatus(preview, 200);
    expect(preview.body).toContain(`https://shop.example/a?${added}`);
  });

  test.each<[object, string[]]>([
    [{ utm_source: 'a' }, ['utm_params.utm_medium is required.']],
    [{ ...utm, utm_source: '{{UserAttribute.a}}' }, ['utm_params.utm_source cannot be a template.']],
    [{ ...utm, 'a b': 'x' }, ['utm_params.a b must be a name of letters, digits and _.~-.']],
    [
      { ...utm, a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' },
      ['utm_params may have at most 5 parameters of other names.'],
    ],
  ])('is rejected with %j', async (utm_params, faults) => {
    const body = campaign({ utm_params });
    const drafted = await bundle.call('POST', '/v5/campaigns', body);
    const refused = drafted.statusCode === 201 ? await bundle.act(drafted.json().data.id, 'PUBLISH') : drafted;
    expect(faultsOf(refused)).toEqual(faults);
  });
});
