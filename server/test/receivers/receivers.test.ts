import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { interactionKinds } from '../../src/domain/events/interactions.ts';
import { interactionBody } from '../../src/http/interactions.ts';
import { makeAndroidPart } from '../../src/providers/payload/android.ts';
import type { AndroidMessage } from '../../src/providers/payload/android.ts';
import type { BrowserMessage } from '../../src/providers/payload/browser.ts';
import { makeIosPayload } from '../../src/providers/payload/ios.ts';
import type { IosMessage } from '../../src/providers/payload/ios.ts';
import { makeWebPayload } from '../../src/providers/webpush/plan.ts';
import { makeMessage } from '../engine/delivery/make-message.ts';
import { readRepositoryFiles } from '../repository-files.ts';

const root = join(import.meta.dirname, '..', '..', '..');

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const kotlinCore = 'sdk/android/core/src/main/kotlin/dev/carillon/core';
const swift = (name: string) => read('sdk/ios/Sources/CarillonCore', `${name}.swift`);
const worker = read('client/browser/carillon-service-worker.js');

const inboxExpiresAt = new Date('2026-12-01T00:00:00Z');
const report = { token: 'token', clickProof: 'proof' };
const defaultAction = { type: 'richlanding' as const, value: 'https://a.example/', keyValuePairs: { own: '1' } };
const url = 'https://a.example/1';

/** A message with everything in it that the server can say to an app. */
const android = {
  ...makeMessage('ANDROID', '0'),
  ...{ inboxExpiresAt, report, language: 'de' },
  payload: { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc', reportUrl: 'https://push.example/v1/interactions' },
  content: {
    ...{
      title: 'T',
      message: 'M',
      summary: 'S',
      channelId: 'c',
      groupKey: 'g',
      collapseReplaceKey: 'k',
      defaultAction,
    },
    richContent: (['image', 'sound', 'coupon'] as const).map((type) => ({ type, value: url })),
    additionalActions: [{ type: 'copy', value: 'v', name: 'n', iconUrl: url }],
    options: {
      ...{ visibility: 'public', color: '#000000', icon: 'i', sticky: true, timeoutSeconds: 1 },
      badge: { operation: 'set', value: 1 },
      locKeys: { titleLocKey: 't', titleLocArgs: ['1'], bodyLocKey: 'b', bodyLocArgs: ['2'] },
    },
  },
} as AndroidMessage;
const ios = {
  ...makeMessage('IOS', '0'),
  ...{ inboxExpiresAt, report, language: 'de' },
  content: {
    ...{ title: 'T', message: 'M', enableBadge: false, additionalActions: [], defaultAction },
    richContent: (['image', 'coupon'] as const).map((type) => ({ type, value: url })),
    options: { additionalActions: [{ action: 'a', title: 't', url, iconURL: url }] },
  },
} as IosMessage;
const web = {
  ...makeMessage('WEB', '0'),
  ...{ inboxExpiresAt, report },
  content: {
    ...{ title: 'T', message: 'M', redirectUrl: url, iconUrl: url, imageUrl: url, autoDismiss: false },
    options: {
      ...{ badgeURL: url, tag: 't', renotify: true, silent: false, requireInteraction: true, lang: 'en', dir: 'ltr' },
      ...{ vibrate: [1], timestamp: 1, appBadge: { operation: 'set', value: 1 } },
      additionalActions: [{ action: 'a', title: 't', url, iconURL: url }],
    },
  },
} as BrowserMessage;

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((found) => found[1]!);
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const without = (names: string[], left: string[]) => sorted(names).filter((name) => !left.includes(name));

describe('the names that the SDKs and receivers read are those that the server sends', () => {
  const inChallenges = ['installation_id', 'challenge'];

  test('Android: every key, both ways', () => {
    const source = read(kotlinCore, 'CarillonMessage.kt');
    const silent = makeAndroidPart({ ...android, isSilent: true }).data!;
    const sent = namesIn({ ...makeAndroidPart(android).data, ...silent });
    // The message above must hold all that can be sent, or a key that is new would be missed here.
    for (const name of matches(read('server/src/providers/payload/android.ts'), /own\('(\w+)'\)/g))
      if (!inChallenges.includes(name)) expect(sent).toContain(`svc_${name}`);
    const readNames = [
      ...matches(source, /own\("(\w+)"\)/g).map((name) => `svc_${name}`),
      ...matches(source, /data\["(\w+)"\]/g),
      ...matches(source, /\.opt\w+\("(\w+)"\)/g),
      ...matches(source, /textOf\("(\w+)"/g),
      ...matches(source, /textOf\("\w+", "(\w+)"/g),
    ];
    const notForTheReceiver = [
      // Of the family's own apps; Carillon's channel is known by `push_from`.
      ...['gcm_notificationType', 'svc_push_service'],
      // For clicks that go by way of the service, as browsers' do.
      'svc_click_proof',
      // The texts are in it already.
      'svc_lang',
      // Android shows none.
      'iconUrl',
      // Inside `svc_cid_attr`, which the app gets as it is.
      ...['svc_campaign_id', 'svc_campaign_channel', 'svc_run_id'],
      // A pair of the caller's.
      'own',
      // The app says where receipts go.
      'svc_report_url',
    ];
    const inChallenge = inChallenges.map((name) => `svc_${name}`);
    expect(sorted(readNames)).toEqual(sorted([...without(sent, notForTheReceiver), ...inChallenge]));
  });

  test('iPhone: every key, both ways', () => {
    const silent = makeIosPayload({ ...ios, isSilent: true });
    const sent = [makeIosPayload(ios), silent].flatMap((payload) => namesIn((payload as { svc: object }).svc));
    const source = swift('CarillonMessage');
    const notForTheApp = ['click_proof', 'own', 'lang'];
    // Apple's own are next to ours.
    const apple = ['aps', 'alert', 'title', 'body'];
    const readNames = matches(source, /[\w?)]\["(\w+)"\]/g);
    expect(without(readNames, apple)).toEqual(sorted([...without(sent, notForTheApp), ...inChallenges]));
    // `kind` of a button is always to open.
    expect(JSON.stringify(makeIosPayload(ios))).toContain('"type":"open"');
  });

  test('browsers: every member, both ways', () => {
    const sent = namesIn(JSON.parse(makeWebPayload(web, undefined)!.toString()));
    const options = /for \(const name of \[([^\]]+)\]/.exec(worker)![1]!;
    const readNames = [
      ...matches(worker, /\bpayload\??\.(\w+)/g),
      ...matches(options, /'(\w+)'/g),
      ...matches(worker, /\bbadge\(\{ (\w+) \}\)/g),
      // Of a button.
      ...['action', 'url', 'iconURL', 'title'],
    ];
    // Open pages of the site get the whole message; these are for them.
    const forPages = ['app_id', 'campaign_id', 'run_id', 'inbox_expiry', 'click_proof'];
    // A silent challenge, which the package `@carillon/web` answers, is left alone.
    expect(sorted(without(readNames, ['challenge']))).toEqual(without(sent, forPages));
  });

  test('no other file of carillon-android knows a key', () => {
    const keys = Object.keys(makeAndroidPart(android).data!).filter(
      // The registration has a member of this name too, for the app of several.
      (name) => name !== 'own' && name !== 'svc_app_id',
    );
    const files = readRepositoryFiles(['.kt']).filter(
      ({ path }) => path.startsWith('sdk/android/') && !path.endsWith('/CarillonMessage.kt'),
    );
    expect([keys.length, files.length]).not.toContain(0);
    for (const { path } of files)
      for (const key of keys) expect(read(path), path).not.toContain(`"${key.replace(/^svc_/, '')}"`);
  });
});

describe('what the receivers send is what the server takes', () => {
  // Which number stands on the icon only the app knows, so it reports `badge` itself.
  const shape = Object.keys((interactionBody as unknown as { properties: object }).properties)
    .filter((name) => name !== 'value')
    .sort();
  // Of FCM alone, which says it to Android apps; the SDK does not report it.
  const shapeElsewhere = shape.filter((name) => name !== 'lowered');

  test.each([
    [
      'Android',
      matches(/interactionOf\(receipt[\s\S]+?\n}/.exec(read(kotlinCore, 'Queue.kt'))![0], /\.put\("(\w+)"/g),
      shapeElsewhere,
    ],
    [
      'iPhone',
      matches(/func enqueueReceipt[\s\S]+?\n {4}}/.exec(swift('Queue'))![0], /"(\w+)"(?=:|\])/g).filter(
        // Of the app API.
        (name) => name !== 'type',
      ),
      shapeElsewhere,
    ],
    [
      'browsers',
      ['token', 'id', ...matches(worker, /kind: '\w+', (action)/g), ...matches(worker, /\{ (kind):/g)],
      shapeElsewhere,
    ],
  ])('reports of %s', (_platform, names, members) => expect(sorted(names)).toEqual(members));

  test('the kinds of reports', () => {
    const androidKinds = matches(read(kotlinCore, 'Queue.kt'), /"(?:shown|clicked|dismissed)" to "(\w+)"/g);
    for (const kinds of [
      androidKinds,
      matches(/var interaction[\s\S]+?\n {8}}/.exec(swift('Receipt'))![0], /return "(\w+)"/g),
      matches(worker, /kind: '(\w+)'/g),
    ])
      expect(sorted(kinds)).toEqual([...interactionKinds].sort());
  });
});

/** Names of members, those within lists and objects too; a text that is JSON counts as what it holds. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string' && /^[{[]/.test(value)) return namesIn(JSON.parse(value));
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}
