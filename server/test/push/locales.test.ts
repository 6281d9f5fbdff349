import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentPushContent } from '../../src/http/campaigns/push-content.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;
beforeAll(async () => {
  bundle = await makePushBundle();
});
afterAll(() => bundle?.end());

const texts = { title: 'Order 17', message: 'Ready' };
const web = { ...texts, redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };

function send(locales: unknown, payload: object = { ANDROID: texts, WEB: web }, more: object = {}) {
  const campaignName = `Localized number ${(names += 1)}`;
  const targetPlatform = Object.keys(payload);
  return bundle.send(goodBody({ campaignName, targetPlatform, payload: { ...payload, locales }, ...more }));
}

test('stores texts by platform and canonical tag, shows them like campaigns do, and reports none as unknown', async () => {
  const answer = await send({
    de: { ANDROID: { title: 'Bestellung 17', Summary: 'Laden' }, WEB: { redirectURL: 'https://shop.example/de' } },
    'PT-br': { ANDROID: { message: 'Pronto, {{ UserAttribute["First Name"] }}' } },
  });
  expect(answer.json().Error_Message).toBeUndefined();
  expect(answer.headers['x-svc-warning']).toBeUndefined();
  const [row] = await bundle.database`select content from campaigns where id = ${answer.json().cid}`;
  expect(row!.content.ANDROID.locales).toEqual({
    de: { title: 'Bestellung 17', summary: 'Laden' },
    'pt-BR': { message: 'Pronto, {{ UserAttribute["First Name"] }}' },
  });
  expect(row!.content.WEB.locales).toEqual({ de: { redirectUrl: 'https://shop.example/de' } });
  expect(presentPushContent(row!.content).push).toMatchObject({
    locales: {
      de: { android: { title: 'Bestellung 17', summary: 'Laden' }, web: { redirectURL: 'https://shop.example/de' } },
      'pt-BR': { android: { message: 'Pronto, {{ UserAttribute["First Name"] }}' } },
    },
  });
});

test('names a language whose message is too large in a header', async () => {
  const answer = await send(
    { de: { ANDROID: { message: 'x'.repeat(4_000) } }, nl: { ANDROID: { title: 'Klaar' } } },
    { ANDROID: texts },
  );
  expect(answer.json().status).toBe('Success');
  expect(answer.headers['x-svc-warning']).toMatch(/^payload\.locales\.de\.ANDROID makes 4\d\d\d bytes where 4096 fit$/);
});

describe('a rejected push, of which nothing is stored', () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`de-x-n${index}`, {}]));
  test.each<[string, unknown, string]>([
    ['', [], 'must be an object'],
    ['', many, 'must have at most 50 languages'],
    ['.not a tag', { 'not a tag': {} }, 'is no language tag'],
    ['.DE', { de: {}, DE: {} }, 'is given twice'],
    ['.de', { de: 'Hallo' }, 'must be an object'],
    ['.de.IOS', { de: { IOS: { title: 'T' } } }, 'is not a platform of this push'],
    ['.de.ANDROID.options', { de: { ANDROID: { options: {} } } }, 'is no text and no address'],
    ['.de.ANDROID.subtitle', { de: { ANDROID: { subtitle: 'S' } } }, 'is no text and no address'],
    ['.de.ANDROID.title', { de: { ANDROID: { title: '' } } }, 'is required'],
    ['.de.ANDROID.title', { de: { ANDROID: { title: 5 } } }, 'must be a text'],
    ['.de.WEB.imageURL', { de: { WEB: { imageURL: 'http://shop.example/' } } }, 'must be a URL with https'],
  ])('has invalid locales%s', async (field, locales, reason) => {
    const before = await bundle.countRows();
    const answer = await send(locales);
    expect(answer.json()).toMatchObject({
      status: 'Fail',
      Error_Message: `Error parsing parameters: payload.locales${field}: ${reason}`,
    });
    expect(await bundle.countRows()).toEqual(before);
  });

  test('has texts for a language but is silent', async () => {
    const pairs = { defaultAction: { kvPairs: { sync: 'orders' } } };
    const answer = await send({ de: {} }, { ANDROID: pairs }, { advancedSettings: { silent: true } });
    expect(answer.json().Error_Message).toMatch(/payload\.locales: cannot be in a silent message$/);
  });
});
