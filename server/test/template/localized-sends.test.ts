import { afterAll, beforeAll, expect, test } from 'vitest';
import { previewCampaign } from '../../src/app/campaigns/preview-campaign.ts';
import { countRunBadges } from '../../src/engine/fan-out/deliver-to-eligible.ts';
import { makePersonaliseDevices } from '../../src/engine/fan-out/compose-message.ts';
import { tagsFor } from '../../src/domain/content/locales.ts';
import type { RunToSend } from '../../src/storage/runs/run-states.ts';
import type { AudienceDevice } from '../../src/storage/campaigns/audience.ts';
import { makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';
import type { AuthoringBundle } from '../campaigns/authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  // Platforms in turn: user-0 and user-3 Android, user-1 and user-4 iOS, user-2 and user-5 Web.
  await bundle.addDevices(6);
  bundle.answer(() => ({ kind: 'accepted' }));
});
afterAll(() => bundle.close());

async function speak(customerId: string, { device, user }: { device?: string; user?: unknown }): Promise<void> {
  await bundle.database`
    update devices set locale = ${device ?? null} where user_id = (select id from users where customer_id = ${customerId})`;
  await bundle.setAttribute(customerId, { locale: user ?? null });
}

let names = 0;
const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
const texts = { title: 'Order', message: 'Ready' };
const locales = (platform: string) => ({
  de: { [platform]: { title: 'Bestellung', message: 'Fertig' } },
  pt: { [platform]: { title: 'Encomenda', message: 'Pronta' } },
  'pt-BR': { [platform]: { title: 'Pedido' } },
  'sr-Latn': { [platform]: { title: 'Porudžbina' } },
});

async function send(content: object, given: Record<string, any> = {}) {
  const payload = { ANDROID: content, IOS: content, WEB: { ...web, ...content } };
  const merged: Record<string, object> = {};
  for (const platform of ['ANDROID', 'IOS', 'WEB'])
    for (const [tag, own] of Object.entries(locales(platform))) merged[tag] = { ...merged[tag], ...own };
  const cid = await bundle.push({
    campaignName: `Localized ${(names += 1)}`,
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    payload: { ...payload, locales: { ...merged, ...given } },
  });
  if (cid === undefined) throw new Error('the push was refused');
  await bundle.deliver();
  const shown: Record<string, (string | undefined)[]> = {};
  for (const [place, { pushId }] of bundle.sent.entries()) {
    const { content: sent, language } = bundle.messages[place]!;
    shown[pushId.replace('push-', '')] = [sent.title, sent.message, language];
  }
  return shown;
}

const base = ['Order', 'Ready', undefined];

test('the closest language of the device counts, then the user’s; a text that is missing there is the wider one’s', async () => {
  await speak('user-0', { device: 'pt-BR', user: 'de' });
  await speak('user-1', { user: 'de_AT' });
  await speak('user-2', { device: 'fr', user: 'de' });
  await speak('user-3', { device: 'sr-Latn-RS' });
  await speak('user-4', { user: 'no language at all' });
  await speak('user-5', { device: 'pt-PT' });
  expect(await send(texts)).toEqual({
    'user-0': ['Pedido', 'Pronta', 'pt-BR'],
    'user-1': ['Bestellung', 'Fertig', 'de'],
    // What the device says is not overruled by what is known of the user.
    'user-2': base,
    'user-3': ['Porudžbina', 'Ready', 'sr-Latn'],
    'user-4': base,
    'user-5': ['Encomenda', 'Pronta', 'pt'],
  });
});

test('templates of a language are rendered, and the fallback is in no language', async () => {
  await bundle.setAttribute('user-0', { u_fn: 'Ada' });
  const named = '{{ UserAttribute["First Name"] }}';
  const android = { pt: { ANDROID: { title: `Olá ${named}` } }, 'pt-BR': { ANDROID: { message: 'Oi' } } };
  await speak('user-3', { device: 'pt' });
  const shown = await send({ ...texts, fallback: { title: 'F', message: 'For all' } }, android);
  expect(shown['user-0']).toEqual(['Olá Ada', 'Oi', 'pt-BR']);
  expect(shown['user-3']).toEqual(['F', 'For all', undefined]);
  expect(shown['user-1']).toEqual(['Bestellung', 'Fertig', 'de']);
});

test('all who read a language get one object, so that their messages are serialized once', async () => {
  const content = {
    ANDROID: { ...texts, richContent: [], additionalActions: [], locales: { de: { title: 'Bestellung' } } },
  };
  const run = { workspaceId: bundle.workspaceId, content, settings: {} } as never;
  await bundle.database`update devices set locale = 'de'`;
  const rows = await bundle.database`select bucket, id, user_id, platform, push_id from devices`;
  const devices = rows.map(({ bucket, id, user_id: userId, push_id: pushId }) => ({
    bucket,
    id,
    userId,
    platform: 'ANDROID',
    pushId,
    appId: null,
  }));
  const recipients = await makePersonaliseDevices({ database: bundle.database })(
    run,
    devices as unknown as AudienceDevice[],
  );
  expect(recipients).toHaveLength(6);
  expect(new Set(recipients.map(({ localized }) => localized)).size).toBe(1);
  expect(recipients[0]!.localized).toMatchObject({
    language: 'de',
    content: { title: 'Bestellung', message: 'Ready' },
  });
});

test('a preview says in which language a user gets it', async () => {
  await speak('user-0', { device: 'pt-BR' });
  const content = {
    push: {
      android: { basic_details: { title: 'Order', message: 'Ready' } },
      locales: { pt: { android: { title: 'Encomenda' } } },
    },
  };
  const preview = await previewCampaign(
    { database: bundle.database },
    {
      workspaceId: bundle.workspaceId,
      source: { parts: { channel: 'PUSH', basic_details: { platforms: ['ANDROID'] }, campaign_content: { content } } },
      platform: undefined,
      named: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', value: 'user-0' },
      event: {},
      shown: { variation: undefined, locale: undefined },
    },
  );
  expect(preview.platforms).toMatchObject([
    { language: 'pt', personal: { content: { title: 'Encomenda', message: 'Ready' } } },
  ]);
});

test('a script that a tag does not name is the likely one', () => {
  expect(tagsFor('pt-BR')).toEqual(['pt-BR', 'pt-Latn', 'pt']);
  expect(tagsFor('zh-TW')).toEqual(['zh-TW', 'zh-Hant', 'zh']);
  expect(tagsFor('sr-Cyrl-RS')).toEqual(['sr-Cyrl-RS', 'sr-Cyrl', 'sr']);
  expect(tagsFor('de')).toEqual(['de', 'de-Latn']);
});

test('a run without templates, locales and badges asks nothing and makes nothing for a device', async () => {
  const content = { ANDROID: { ...texts, richContent: [], additionalActions: [] } };
  const run = { workspaceId: bundle.workspaceId, content, settings: {} } as unknown as RunToSend;
  const devices = [{ bucket: 1, id: 'd', userId: 'u', platform: 'ANDROID', pushId: 'p', appId: null }] as never[];
  const noDatabase = undefined as never;
  const recipients = await makePersonaliseDevices({ database: noDatabase })(run, devices);
  expect(recipients).toBe(devices);
  expect(await countRunBadges(noDatabase, { run, recipients })).toBe(devices);
});
