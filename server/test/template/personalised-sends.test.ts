import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { previewCampaign } from '../../src/app/campaigns/preview-campaign.ts';
import { tagsFor } from '../../src/domain/content/locales.ts';
import { makePersonaliseDevices } from '../../src/engine/fan-out/compose-message.ts';
import { countRunBadges } from '../../src/engine/fan-out/deliver-to-eligible.ts';
import type { AudienceDevice } from '../../src/storage/campaigns/audience.ts';
import type { RunToSend } from '../../src/storage/runs/run-states.ts';
import { android, expectStatus, faultsOf, makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';
import type { AuthoringBundle } from '../campaigns/authoring-bundle.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

describe('personalised sends', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    // Platforms in turn: user-0 Android, user-1 iOS, user-2 Web, user-3 Android.
    await bundle.addDevices(4);
    await bundle.setAttribute('user-0', {
      u_fn: 'Ada',
      points: 1_250,
      city: 'São Paulo',
      link: 'https://shop.example/a',
    });
    await bundle.setAttribute('user-1', { 'First Name': 'Grace', points: 3, link: 'javascript:alert(1)' });
    await bundle.setAttribute('user-2', { u_fn: 'Tim', points: 0, link: 'https://shop.example/t' });
    await bundle.setAttribute('user-3', { points: 7 });
  });
  afterAll(() => bundle.close());
  beforeEach(() => bundle.answer(() => ({ kind: 'accepted' })));

  let names = 0;
  const everyone = ['ANDROID', 'IOS', 'WEB'];
  const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
  const toAll = (content: object, more: Record<string, unknown> = {}) => ({
    campaignName: `Campaign ${(names += 1)}`,
    targetPlatform: everyone,
    payload: { ANDROID: content, IOS: content, WEB: { ...web, ...content } },
    ...more,
  });
  const toUser = (customerId: string, content: object, more: Record<string, unknown> = {}) => ({
    ...toAll(content),
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'is',
      attributeValue: customerId,
    },
    ...more,
  });

  const accepted = ['ACCEPTED', null];
  const unnamed = ['FAILED', 'TEMPLATE_USER_ATTRIBUTE'];

  describe('a push with templates (decision D39)', () => {
    test('says to each what is theirs; a person without the attribute is recorded as failed with the cause', async () => {
      const { shown, ledger, campaignId } = await send(
        toAll({ title: "Hello {{ UserAttribute['First Name'] }}", message: '{{ UserAttribute.points }} points' }),
      );
      expect(
        Object.entries(shown)
          .map(([who, { title, message }]) => [who, title, message])
          .sort(),
      ).toEqual([
        ['user-0', 'Hello Ada', '1250 points'],
        ['user-1', 'Hello Grace', '3 points'],
        ['user-2', 'Hello Tim', '0 points'],
      ]);
      expect(ledger).toEqual({ 'user-0': accepted, 'user-1': accepted, 'user-2': accepted, 'user-3': unnamed });
      const [run] = await bundle.runs(campaignId);
      expect([run.status, await bundle.counters(run.id)]).toEqual(['SENT', { ACCEPTED: 3, FAILED: 1 }]);
    });

    test('shows the fallback to whom the content fails, and the ledger says so', async () => {
      const fallback = { title: 'Hello friend', message: 'You have {{ UserAttribute.points }}' };
      const { shown, ledger } = await send(toAll({ title: 'Hello {{ UserAttribute.u_fn }}', message: 'M', fallback }));
      expect(shown['user-0'].title).toBe('Hello Ada');
      expect([shown['user-3'].title, shown['user-3'].message]).toEqual(['Hello friend', 'You have 7']);
      expect(ledger['user-3']).toEqual(['ACCEPTED', 'FALLBACK_USER_ATTRIBUTE']);
      expect(ledger['user-0']).toEqual(accepted);
    });

    test('a fallback that fails too leaves the cause of what was to be shown', async () => {
      const fallback = { title: '{{ UserAttribute.points[9] }}', message: 'M' };
      const { shown, ledger } = await send(
        toUser('user-3', { title: '{{ UserAttribute.u_fn }}', message: 'M', fallback }),
      );
      expect(shown).toEqual({});
      expect(ledger['user-3']).toEqual(unnamed);
    });

    test.each([
      ['false', '{{ UserAttribute.u_fn }}{# c #}', '{{ UserAttribute.u_fn }}{# c #}'],
      ['true', 'a{# c #}b', 'ab'],
      [true, "{{ UserAttribute['u_fn'] }}{# c #}", 'Ada'],
      [undefined, 'a{# c #}b', 'a{# c #}b'],
      [undefined, '{% if UserAttribute.points > 9 %}gold{% endif %}', 'gold'],
      [undefined, "{% set name = 'u_fn' %}{{ UserAttribute[name] }} {{ UserAttribute.ID }}", 'Ada user-0'],
    ])('useJinjaPersonalization %s: %s is shown as %s', async (useJinjaPersonalization, title, shownTitle) => {
      const advancedSettings = useJinjaPersonalization === undefined ? {} : { useJinjaPersonalization };
      const { shown } = await send(toUser('user-0', { title, message: 'M' }, { advancedSettings }));
      expect(shown['user-0'].title).toBe(shownTitle);
    });

    test('a push that joins a campaign is read as that campaign’s were', async () => {
      const campaignName = 'Joined with templates off';
      const off = { campaignName, advancedSettings: { useJinjaPersonalization: false } };
      await send(toUser('user-0', { title: 'T', message: 'M' }, off));
      const { shown } = await send(toUser('user-0', { title: '{{ broken', message: 'M' }, { campaignName }));
      expect(shown['user-0'].title).toBe('{{ broken');
    });

    test('every text that is shown or followed can be a template', async () => {
      const name = '{{ UserAttribute.u_fn }}';
      const { shown } = await send(
        toAll(
          {
            title: name,
            message: name,
            defaultAction: { type: 'deeplinking', value: `shop://${name}`, kvPairs: { who: name, none: '' } },
          },
          {
            targetPlatform: ['ANDROID', 'WEB'],
            payload: {
              ANDROID: {
                title: name,
                message: name,
                summary: name,
                collapseReplaceKey: `order-${name}`,
                richContent: [
                  { type: 'image', value: '{{ UserAttribute.picture|default("") }}' },
                  { type: 'coupon', value: name },
                ],
                defaultAction: { type: 'deeplinking', value: `shop://${name}`, kvPairs: { who: name, none: '' } },
                additionalActions: [
                  { type: 'call', name, value: name, iconURL: "{{ UserAttribute.icon|default('') }}" },
                ],
              },
              WEB: {
                title: name,
                message: name,
                redirectURL: "https://shop.example/?c={{ UserAttribute['u_fn']|urlencode }}",
                iconURL: 'https://shop.example/{{ UserAttribute.u_fn }}.png',
                imageURL: "{{ UserAttribute['picture']|default('') }}",
              },
            },
          },
        ),
      );
      expect(shown['user-0']).toEqual({
        title: 'Ada',
        message: 'Ada',
        summary: 'Ada',
        collapseReplaceKey: 'order-Ada',
        richContent: [{ type: 'coupon', value: 'Ada' }],
        defaultAction: { type: 'deeplinking', value: 'shop://Ada', keyValuePairs: { who: 'Ada', none: '' } },
        additionalActions: [{ type: 'call', name: 'Ada', value: 'Ada' }],
      });
      expect(shown['user-2']).toEqual({
        title: 'Tim',
        message: 'Tim',
        redirectUrl: 'https://shop.example/?c=Tim',
        iconUrl: 'https://shop.example/Tim.png',
        autoDismiss: false,
      });
    });

    test('an attribute makes no web address of another kind, and no empty message', async () => {
      const content = { title: 'T', message: 'M', redirectURL: '{{ UserAttribute.link }}', iconURL: web.iconURL };
      await bundle.setAttribute('user-2', { u_fn: 'Tim', link: 'javascript:alert(1)', blank: ' ' });
      const body = toAll({}, { targetPlatform: ['WEB'], payload: { WEB: content } });
      expect((await send(body)).ledger).toEqual({ 'user-2': ['FAILED', 'TEMPLATE_RESULT'] });
      const blank = toUser('user-2', { title: 'T', message: '{{ UserAttribute.blank }}' });
      expect((await send(blank)).ledger).toEqual({ 'user-2': ['FAILED', 'TEMPLATE_RESULT'] });
    });

    test('a delivery that is tried again is rendered again, with what is known then', async () => {
      bundle.answer(
        (_device, nth) =>
          (nth === 1 ? { kind: 'wait', scope: 'message', code: 'BUSY' } : { kind: 'accepted' }) as never,
      );
      const cid = await bundle.push(toUser('user-0', { title: '{{ UserAttribute.u_fn }}', message: 'M' }));
      await bundle.deliver();
      await bundle.setAttribute('user-0', { u_fn: 'Augusta', points: 1_250 });
      bundle.clock.advance(600_000);
      expect(await bundle.retry()).toBe(1);
      expect(bundle.messages.map(({ content }) => content.title)).toEqual(['Ada', 'Augusta']);
      const [first, second] = bundle.messages;
      expect(second!.identity).toEqual(first!.identity);
      expect((await deliver(cid)).ledger).toEqual({ 'user-0': accepted });
      await bundle.setAttribute('user-0', { u_fn: 'Ada', points: 1_250 });
    });

    test('texts without markers are looked at once, and nobody is read for them', async () => {
      const cid = await bundle.push(toAll({ title: 'T', message: 'M' }));
      const [row] = await bundle.runs(cid);
      const run = await bundle.run(row.id);
      const untouchable = new Proxy(() => {}, {
        apply: () => {
          throw new Error('the database was asked');
        },
      });
      const personalise = makePersonaliseDevices({ database: untouchable as never });
      const devices = [
        {
          bucket: 0,
          id: 'd',
          userId: 'u',
          platform: 'ANDROID',
          provider: null,
          pushId: 'p',
          pushIdType: null,
          appId: null,
        } as const,
      ];
      expect(await personalise(run, [...devices])).toEqual(devices);
      await bundle.deliver();
    });

    test('a page of hostile messages leaves the process time for other work', async () => {
      const title =
        '{% for a in range(60) %}{% for b in range(60) %}{% for c in range(60) %}{% endfor %}{% endfor %}{% endfor %}';
      const cid = await bundle.push(toUser('user-0', { title, message: 'M' }));
      const [row] = await bundle.runs(cid);
      const run = await bundle.run(row.id);
      const [bucket, userId] = run.targetUsers![0]!;
      const device = {
        bucket,
        id: 'd',
        userId,
        platform: 'ANDROID',
        provider: null,
        pushId: 'p',
        pushIdType: null,
        appId: null,
      } as const;
      let [turns, isOver] = [0, false];
      const turn = (): void => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const { database } = bundle;
      const page = Array.from({ length: 512 }, () => device);
      const recipients = await makePersonaliseDevices({ database })(run, page);
      isOver = true;
      expect(recipients.every(({ personal }) => personal && 'fault' in personal)).toBe(true);
      expect(turns).toBeGreaterThanOrEqual(512 / 64);
      await bundle.deliver();
    });

    test('a hostile campaign to all fails for everybody, and a code for one person goes out beside it', async () => {
      const loops =
        '{% for a in range(60) %}{% for b in range(60) %}{% for c in range(60) %}{% endfor %}{% endfor %}{% endfor %}';
      const doubling = `{% set a='aaaaaaaaaaaaaaaa' %}${'{% set a=a~a %}'.repeat(40)}{{ a }}`;
      const hostile = await bundle.push(toAll({ title: loops, message: doubling }));
      const code = await bundle.push(toUser('user-0', { title: 'Code {{ UserAttribute.points }}', message: 'M' }));
      const { shown, ledger } = await deliver(code);
      expect([shown['user-0'].title, ledger['user-0']]).toEqual(['Code 1250', accepted]);
      const limit = ['FAILED', 'TEMPLATE_LIMIT'];
      expect((await deliver(hostile)).ledger).toEqual({
        'user-0': limit,
        'user-1': limit,
        'user-2': limit,
        'user-3': limit,
      });
    });
  });

  describe('a campaign of the campaign API', () => {
    const content = (details: object, more: object = {}) => ({
      campaign_content: { content: { push: { android: { basic_details: details, ...more } } } },
    });

    test('is personalised, and its backup is shown where it fails', async () => {
      const backup = { basic_details: { title: 'Hello friend', message: 'M' } };
      const id = await bundle.live(
        content({ title: "Hello {{ UserAttribute['First Name'] }}", message: 'M' }, { template_backup: backup }),
      );
      const { shown, ledger } = await deliver(id);
      expect([shown['user-0'].title, shown['user-3'].title]).toEqual(['Hello Ada', 'Hello friend']);
      expect(ledger).toEqual({ 'user-0': accepted, 'user-3': ['ACCEPTED', 'FALLBACK_USER_ATTRIBUTE'] });
    });

    test.each<[string, object, object, string]>([
      [
        'a title that is no template',
        { title: '{{ UserAttribute[ }}', message: 'M' },
        {},
        'campaign_content.content.push.android.basic_details.title is not a valid template: "}" has no partner',
      ],
      [
        'an address that is no template',
        { title: 'T', message: 'M', image_url: '{% if %}' },
        {},
        'campaign_content.content.push.android.basic_details.image_url is not a valid template: a value is expected, not the end',
      ],
      [
        'a channel that is one',
        { title: 'T', message: 'M', notification_channel: '{{ UserAttribute.a }}' },
        {},
        'campaign_content.content.push.android.basic_details.notification_channel cannot be a template',
      ],
      [
        'a backup that is none',
        { title: 'T', message: 'M' },
        { template_backup: { basic_details: { title: '{{ x }}', message: 'M' } } },
        "campaign_content.content.push.android.template_backup.basic_details.title is not a valid template: x is unknown; attributes of the user are written UserAttribute['x']",
      ],
    ])('%s is refused by its name, in a draft already, and nothing is stored', async (...[, details, more, fault]) => {
      const count = async () => (await bundle.database`select count(*) as rows from campaigns`)[0]!.rows;
      const before = await count();
      const body = {
        channel: 'PUSH',
        campaign_delivery_type: 'ONE_TIME',
        created_by: 'ada',
        ...content(details, more),
      };
      const answer = await bundle.call('POST', '/v5/campaigns', body);
      expectStatus(answer, 400);
      expect(faultsOf(answer)).toEqual([`${fault}.`]);
      expect(await count()).toBe(before);
    });

    test('shows a test to people as it will be shown to them', async () => {
      const answer = await bundle.call('POST', '/v5/campaigns/test', {
        channel: 'PUSH',
        ...content({ title: 'Hi {{ UserAttribute.u_fn }}', message: 'M' }),
        test_campaign_meta: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['user-0', 'user-3'] },
      });
      expectStatus(answer, 200);
      expect(await bundle.deliver()).toEqual(['user-0']);
      expect(bundle.messages.map((message) => message.content.title)).toEqual(['Hi Ada']);
    });
  });

  describe('a campaign that a business event starts', () => {
    const details = { title: "{{ BusinessEventAttribute['team'] }} won", message: 'Dear {{ UserAttribute.points }}' };
    const attached = (title: string) => ({
      campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
      basic_details: { name: 'On a match', platforms: ['ANDROID'], business_event: 'MatchWon' },
      campaign_content: { content: { push: { android: { ...android, basic_details: { ...details, title } } } } },
    });
    const trigger = (event_attributes: object) =>
      bundle.call('POST', '/v5/business-events/triggers', {
        event_name: 'MatchWon',
        event_attributes,
        triggered_by: 'feed',
      });

    test('says what the firing says; one that does not say it fails with a cause of its own', async () => {
      const event_attributes = [
        { attribute_name: 'team', attribute_data_type: 'string' },
        { attribute_name: 'goals', attribute_data_type: 'int' },
      ];
      const event = { event_name: 'MatchWon', event_attributes, created_by: 'ada' };
      expectStatus(await bundle.call('POST', '/v1.0/business_event', event), 200);
      const id = await bundle.live(attached("{{ BusinessEventAttribute['team'] }} won"));
      expectStatus(await trigger({ team: 'Reds' }), 200);
      const { shown } = await deliver(id);
      expect([shown['user-0'].title, shown['user-3'].message]).toEqual(['Reds won', 'Dear 7']);
      expectStatus(await trigger({ goals: 3 }), 200);
      await bundle.deliver();
      const runs = await bundle.runs(id);
      const codes =
        await bundle.database`select distinct code from readable_deliveries as deliveries where run_id = ${runs[1].id}`;
      expect([...codes]).toEqual([{ code: 'TEMPLATE_BUSINESS_EVENT_ATTRIBUTE' }]);
    });

    test('may not read what its event does not have, nor may any other campaign read an event', async () => {
      const wrong = await bundle.draft(attached("{{ BusinessEventAttribute['season'] }}"));
      const refused = await bundle.act(wrong, 'PUBLISH');
      expectStatus(refused, 400);
      expect(faultsOf(refused)).toEqual([
        "campaign_content reads BusinessEventAttribute['season'], which the event does not have.",
      ]);
      const once = await bundle.draft({
        campaign_content: { content: { push: { android: { ...android, basic_details: details } } } },
      });
      expect(faultsOf(await bundle.act(once, 'PUBLISH'))).toEqual([
        'campaign_content reads BusinessEventAttribute, which has values in campaigns that a business event starts.',
      ]);
    });
  });

  describe('beside a frequency cap', () => {
    test('each gets their own text though others are held back, and a text that failed counts for nothing', async () => {
      await bundle.database`update workspaces set cap_messages = '{1}', cap_hours = '{24}'`;
      const names = toAll({ title: '{{ UserAttribute.u_fn }}', message: 'M' });
      await send(toUser('user-0', { title: 'T', message: 'M' }));
      await bundle.setAttribute('user-1', { u_fn: 'Grace' });
      const { shown, ledger } = await send(names);
      expect(
        Object.entries(shown)
          .map(([who, { title }]) => [who, title])
          .sort(),
      ).toEqual([
        ['user-1', 'Grace'],
        ['user-2', 'Tim'],
      ]);
      expect(ledger).toMatchObject({ 'user-0': ['WITHHELD', expect.any(String)], 'user-3': unnamed });
      expect((await send(toUser('user-3', { title: 'T', message: 'M' }))).ledger).toEqual({ 'user-3': accepted });
    });
  });

  /** Sends, and tells what each person was shown and what the ledger says of each. */
  async function send(body: Record<string, unknown>) {
    const cid = await bundle.push(body);
    if (cid === undefined) throw new Error('the push was refused');
    return deliver(cid);
  }

  async function deliver(campaignId: string) {
    await bundle.deliver();
    const shown: Record<string, any> = {};
    for (const [place, { pushId }] of bundle.sent.entries())
      shown[pushId.replace('push-', '')] = bundle.messages[place]!.content;
    const rows = await bundle.database`
      select users.customer_id, deliveries.outcome, deliveries.code, deliveries.attempts
      from readable_deliveries as deliveries join runs on runs.id = deliveries.run_id
      join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
      where runs.campaign_id = ${campaignId} order by 1`;
    const ledger = Object.fromEntries(rows.map((row) => [row.customer_id, [row.outcome, row.code]]));
    return { shown, ledger, campaignId };
  }
});

describe('localized sends', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    // Platforms in turn: user-0 and user-3 Android, user-1 and user-4 iOS, user-2 and user-5 Web.
    await bundle.addDevices(6);
    bundle.answer(() => ({ kind: 'accepted' }));
  });
  afterAll(() => bundle.close());

  let names = 0;
  const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
  const texts = { title: 'Order', message: 'Ready' };
  const locales = (platform: string) => ({
    de: { [platform]: { title: 'Bestellung', message: 'Fertig' } },
    pt: { [platform]: { title: 'Encomenda', message: 'Pronta' } },
    'pt-BR': { [platform]: { title: 'Pedido' } },
    'sr-Latn': { [platform]: { title: 'Porudžbina' } },
  });

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
        source: {
          parts: { channel: 'PUSH', basic_details: { platforms: ['ANDROID'] }, campaign_content: { content } },
        },
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

  async function speak(customerId: string, { device, user }: { device?: string; user?: unknown }): Promise<void> {
    await bundle.database`
      update devices set locale = ${device ?? null} where user_id = (select id from users where customer_id = ${customerId})`;
    await bundle.setAttribute(customerId, { locale: user ?? null });
  }

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
});

describe('personalised messages on phones', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle.stop());

  test('phones and browsers show what was rendered for them, and statistics count who could not be addressed', async () => {
    const attributes = { vip: true };
    const saved = await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id: 'ada', attributes },
    });
    expect(saved.status).toBe(200);
    const title = "Hello {{ UserAttribute['First Name'] }}";
    const message = "{{ 'Gold' if UserAttribute['vip'] else 'Silver' }}";
    const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
    const fallback = { message: 'Welcome' };
    const answer = await bundle.push({
      campaignName: 'Personal for all',
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: { title, message },
        IOS: { title, message, fallback },
        WEB: { title, message, ...web },
      },
      campaignDelivery: { type: 'soon' },
    });
    const { cid } = answer.json();
    await until(async () => {
      const [row] = await bundle.database`select status from campaigns where id = ${cid} and status = 'SENT'`;
      return row !== undefined;
    });
    const rows = await bundle.database`
      select users.customer_id as who, deliveries.platform, deliveries.outcome, deliveries.code
      from readable_deliveries as deliveries join runs on runs.id = deliveries.run_id
      join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
      where runs.campaign_id = ${cid} order by deliveries.platform`;
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['ada', 'ANDROID', 'ACCEPTED', null],
      ['grace', 'IOS', 'ACCEPTED', 'FALLBACK_USER_ATTRIBUTE'],
      ['tim', 'WEB', 'FAILED', 'TEMPLATE_USER_ATTRIBUTE'],
    ]);
    const shown = await until(async () => {
      const found = (await bundle.inbox()).filter(({ campaignId }) => campaignId === cid);
      return found.length === 2 && found;
    });
    expect(shown.map(({ platform, title: line, body }) => [platform, line, body]).sort()).toEqual([
      ['ANDROID', 'Hello Ada', 'Gold'],
      ['IOS', 'Hello Grace', 'Welcome'],
    ]);
    const [run] = await bundle.database`select day::text as day from runs where campaign_id = ${cid}`;
    const { accessToken } = await bundle.token();
    const stats = await bundle.call('POST', '/core-services/v1/campaign-stats', {
      headers: { authorization: `Bearer ${accessToken}`, 'svc-appkey': bundle.workspaceId },
      body: {
        request_id: 'r',
        campaign_ids: [cid],
        start_date: run!.day,
        end_date: run!.day,
        attribution_type: 'TOTAL_CONVERSIONS',
        metric_type: 'TOTAL',
      },
    });
    const { platforms } = stats.json().data[cid][0];
    const { performance_stats, failure_breakdown } = platforms.WEB.locales.all_locales.variations.all_variations;
    expect([performance_stats.failed, failure_breakdown]).toEqual([1, { TEMPLATE_USER_ATTRIBUTE: 1 }]);
  });
});
