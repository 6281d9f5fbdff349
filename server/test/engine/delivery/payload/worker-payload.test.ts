import { describe, expect, test } from 'vitest';
import type { WebOptions, JsonObject } from '../../../../src/domain/content/content.ts';
import { makeWorkerPayload, writeWorkerPayload } from '../../../../src/providers/payload/browser.ts';
import type { BrowserMessage } from '../../../../src/providers/payload/browser.ts';
import { makeWebPayload } from '../../../../src/providers/webpush/plan.ts';
import { makeMessage } from '../make-message.ts';

const { report: _report, ...plain } = makeMessage('WEB', '0');

const messageOf = (content: object = {}, more: Partial<BrowserMessage> = {}): BrowserMessage => ({
  ...plain,
  ...more,
  content: { ...plain.content, ...content },
});

const least = {
  title: 'Title',
  message: 'Text',
  redirectURL: 'https://example.com/',
  iconURL: 'https://example.com/i.png',
  autoDismiss: false,
  tag: plain.identity.collapseId,
  app_id: 'WORKSPACE',
  campaign_id: 'c'.repeat(24),
  run_id: 'a'.repeat(24),
  message_id: plain.identity.id,
};

test('a message that says no more has what the worker needs and no other member', () => {
  expect(makeWorkerPayload(messageOf())).toStrictEqual(least);
});

test.each<[string, object, Partial<BrowserMessage>, object]>([
  ['an image', { imageUrl: 'https://shop.example/i.png' }, {}, { imageURL: 'https://shop.example/i.png' }],
  ['a pass to report', {}, { report: { token: 'T' } }, { report_token: 'T' }],
  ['a proof of the click', {}, { report: { token: 'T', clickProof: 'P' } }, { report_token: 'T', click_proof: 'P' }],
  ['the inbox', {}, { inboxExpiresAt: new Date(1_790_000_000_999) }, { inbox_expiry: 1_790_000_000 }],
  ['a language', {}, { language: 'de' }, { lang: 'de' }],
  ['a language before that of the options', { options: { lang: 'en' } }, { language: 'de' }, { lang: 'de' }],
  ['that of the options', { options: { lang: 'en' } }, {}, { lang: 'en' }],
  ['a tag of the caller’s', { options: { tag: 'order' } }, {}, { tag: 'order' }],
  ['a badge', { options: { badgeURL: 'https://shop.example/b.png' } }, {}, { badgeURL: 'https://shop.example/b.png' }],
  ['a count', { options: { appBadge: { operation: 'set', value: 3 } } }, {}, { appBadge: 3 }],
  ['a count taken away', { options: { appBadge: { operation: 'clear' } } }, {}, { appBadge: 0 }],
  [
    'buttons',
    { options: { additionalActions: [{ action: 'a', title: 'A', url: 'https://shop.example/' }] } },
    {},
    { actions: [{ action: 'a', title: 'A', url: 'https://shop.example/' }] },
  ],
  ['how it is declared is no matter of the worker’s', { options: { declarative: 'auto' } }, {}, {}],
])('%s', (...[, content, more, added]) => {
  expect(makeWorkerPayload(messageOf(content, more))).toStrictEqual({ ...least, ...added });
});

describe('the override of the caller', () => {
  const written = (payload: JsonObject) => {
    const text = writeWorkerPayload(messageOf({ overrides: { webpush: { payload } } }));
    return text === undefined ? undefined : (JSON.parse(text) as object);
  };

  test('is merged, and null takes a member away', () => {
    const { autoDismiss: _autoDismiss, ...rest } = least;
    expect(written({ autoDismiss: null, silent: true })).toStrictEqual({ ...rest, silent: true });
  });

  test.each([' ', '', null, 7])('that leaves no text as title leaves nothing to show: %j', (title) => {
    expect(written({ title })).toBeUndefined();
    expect(makeWebPayload(messageOf({ overrides: { webpush: { payload: { title } } } }), undefined)).toBeUndefined();
  });

  test('of another provider is not one', () => {
    expect(writeWorkerPayload(messageOf({ title: ' ', overrides: { fcm: { data: {} } } }))).toBeDefined();
  });

  test('what stands beside it never takes the place of what the worker reads', () => {
    const text = writeWorkerPayload(messageOf(), { title: 'other', mutable: true });
    expect(JSON.parse(text!)).toStrictEqual({ ...least, mutable: true });
  });
});

describe('a declaration, for browsers that show it without a worker', () => {
  type Around = { endpoint?: string; content?: object; more?: Partial<BrowserMessage> };
  const declared = (options: WebOptions, { endpoint, content = {}, more = {} }: Around = {}) => {
    const text = makeWebPayload(
      messageOf({ options, ...content }, more),
      endpoint === undefined ? undefined : new URL(endpoint),
    )!.toString();
    return JSON.parse(text) as Record<string, any>;
  };

  test.each<[string, boolean]>([
    ['https://web.push.apple.com/x', true],
    ['https://push.apple.com/x', true],
    ['https://a.b.push.apple.com/x', true],
    ['https://evilpush.apple.com/x', false],
    ['https://push.apple.com.example/x', false],
    ['https://pushxapple.com/x', false],
    ['https://fcm.googleapis.com/push.apple.com', false],
  ])('auto: for a subscription at %s it is %s', (endpoint, isDeclared) => {
    expect('web_push' in declared({ declarative: 'auto' }, { endpoint })).toBe(isDeclared);
  });

  test('auto without an address declares nothing; always does, and never does not', () => {
    expect(declared({ declarative: 'auto' })).not.toHaveProperty('web_push');
    expect(declared({ declarative: 'always' })).toHaveProperty('web_push', 8030);
    expect(declared({ declarative: 'never' }, { endpoint: 'https://web.push.apple.com/x' })).not.toHaveProperty(
      'web_push',
    );
  });

  const shown = {
    title: 'Title',
    body: 'Text',
    navigate: 'https://example.com/',
    icon: 'https://example.com/i.png',
    tag: plain.identity.collapseId,
    mutable: true,
  };

  test('of a message that says no more it has no other member', () => {
    const { web_push, mutable, notification, ...worker } = declared({ declarative: 'always' });
    expect([web_push, mutable, notification, worker]).toStrictEqual([8030, true, shown, least]);
  });

  test.each<[string, WebOptions, object, Partial<BrowserMessage>, object]>([
    ['an image', {}, { imageUrl: 'https://shop.example/i.png' }, {}, { image: 'https://shop.example/i.png' }],
    ['a badge', { badgeURL: 'https://shop.example/b.png' }, {}, {}, { badge: 'https://shop.example/b.png' }],
    [
      'a link that counts the click',
      {},
      {},
      { link: 'https://push.example/1' },
      { navigate: 'https://push.example/1' },
    ],
    ['the language of its texts', { lang: 'en' }, {}, { language: 'de' }, { lang: 'de' }],
    ['that of the options', { lang: 'en' }, {}, {}, { lang: 'en' }],
    ['a direction', { dir: 'rtl' }, {}, {}, { dir: 'rtl' }],
    ['again', { renotify: false }, {}, {}, { renotify: false }],
    ['silence', { silent: true }, {}, {}, { silent: true }],
    ['that it stays', { requireInteraction: true }, {}, {}, { requireInteraction: true }],
    ['a vibration', { vibrate: [1, 2] }, {}, {}, { vibrate: [1, 2] }],
    ['a time', { timestamp: 7 }, {}, {}, { timestamp: 7 }],
    ['a tag', { tag: 'order' }, {}, {}, { tag: 'order' }],
    [
      'buttons',
      { additionalActions: [{ action: 'a', title: 'A', url: 'https://shop.example/', iconURL: 'https://i.example/' }] },
      {},
      {},
      { actions: [{ action: 'a', title: 'A', navigate: 'https://shop.example/', icon: 'https://i.example/' }] },
    ],
  ])('%s', (...[, options, content, more, added]) => {
    const { notification, ...rest } = declared({ declarative: 'always', ...options }, { content, more });
    expect(notification).toStrictEqual({ ...shown, ...added });
    expect(rest).not.toHaveProperty('app_badge');
  });

  test('a count stands in both of its places', () => {
    const { app_badge, notification } = declared({
      declarative: 'always',
      appBadge: { operation: 'set', value: 3 },
    });
    expect([app_badge, notification.app_badge]).toStrictEqual([3, 3]);
  });

  test('it is left out when both together would be longer than a push service takes (RFC 8291 §4), and no sooner', () => {
    const lengthOf = (characters: number) =>
      Buffer.byteLength(
        JSON.stringify(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(characters) } })),
      );
    // The text stands twice.
    const most = Math.floor((3993 - lengthOf(0)) / 2);
    expect(lengthOf(most)).toBeGreaterThan(3990);
    expect(lengthOf(most)).toBeLessThanOrEqual(3993);
    expect(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(most) } })).toHaveProperty('web_push');
    expect(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(most + 1) } })).not.toHaveProperty(
      'web_push',
    );
  });
});
