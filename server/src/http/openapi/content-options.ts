import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import {
  maxActionNameCharacters,
  maxActionTitleCharacters,
  maxBadge,
  maxLocArgs,
  maxOfferedActions,
  maxTimeoutSeconds,
  maxVibrateMilliseconds,
  maxVibrateSteps,
} from '../../domain/limits/push.ts';

/** `options` of each platform, in pushes and in campaigns: extensions of the interface, all optional. */
const Text = (description?: string) => Type.Optional(Type.String(description === undefined ? {} : { description }));
const Flag = Type.Optional(Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')]));
const Word = <const Words extends readonly string[]>(words: Words) =>
  Type.Optional(Type.Union(words.map((word) => Type.Literal(word as Words[number]))));
const Whole = (minimum: number, maximum: number, description?: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, ...(description === undefined ? {} : { description }) }));
const Part = (members: Record<string, TSchema>, description?: string) =>
  Type.Optional(Type.Object(members, description === undefined ? {} : { description }));

const Badge = Part(
  {
    operation: Type.Union([Type.Literal('set'), Type.Literal('increment'), Type.Literal('clear')]),
    value: Whole(0, maxBadge, 'To set, or 1 to 99 to add to what is counted for the device'),
  },
  'The number on the icon of the app',
);
const Arguments = Type.Optional(Type.Array(Type.String(), { maxItems: maxLocArgs }));
const locKeys = {
  titleLocKey: Text('Key of a text in the app; its arguments need it'),
  titleLocArgs: Arguments,
  bodyLocKey: Text(),
  bodyLocArgs: Arguments,
};
const Buttons = (opens: string) =>
  Type.Optional(
    Type.Array(
      Type.Object({
        action: Type.String({ maxLength: maxActionNameCharacters, description: 'Its name in reports, once' }),
        title: Type.String({ maxLength: maxActionTitleCharacters }),
        url: Type.String({ description: opens }),
        iconURL: Text('https'),
      }),
      { maxItems: maxOfferedActions },
    ),
  );

export const androidOptions = Part({
  deliveryMode: Word(['data', 'notification', 'both']),
  visibility: Word(['private', 'public', 'secret']),
  color: Text('#rrggbb'),
  icon: Text('A drawable of the app'),
  sticky: Flag,
  timeoutSeconds: Whole(1, maxTimeoutSeconds, 'Gone after so long'),
  badge: Badge,
  locKeys: Part(locKeys),
  directBootOk: Flag,
  bandwidthConstrainedOk: Flag,
  restrictedSatelliteOk: Flag,
  analyticsLabel: Text('1 to 50 letters, digits and -_.~%'),
});

export const iosOptions = Part({
  interruptionLevel: Word(['passive', 'active', 'time-sensitive', 'critical']),
  relevanceScore: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  targetContentId: Text(),
  filterCriteria: Text(),
  sound: Part({
    name: Type.String({ description: 'A file of the app, or default' }),
    critical: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')], {
        description: 'Sounds although the phone is muted; needs an app with criticalAlerts',
      }),
    ),
    volume: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Of a critical sound' })),
  }),
  badge: Badge,
  contentAvailable: Flag,
  launchImage: Text(),
  locKeys: Part({ ...locKeys, subtitleLocKey: Text(), subtitleLocArgs: Arguments }),
  additionalActions: Buttons('http, https or the scheme of an app'),
});

export const webOptions = Part({
  additionalActions: Buttons('http or https'),
  badgeURL: Text('https'),
  tag: Text('The same tag replaces the earlier notification'),
  renotify: Flag,
  silent: Flag,
  requireInteraction: Flag,
  lang: Text('BCP 47'),
  dir: Word(['auto', 'ltr', 'rtl']),
  vibrate: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: maxVibrateMilliseconds }), { maxItems: maxVibrateSteps }),
  ),
  timestamp: Whole(0, 8_640_000_000_000_000, 'Milliseconds since 1970'),
  declarative: Word(['auto', 'always', 'never']),
  appBadge: Badge,
});

const Patch = (description: string) => Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));
const requestPatch = Part({ headers: Patch('null takes one away'), payload: Patch('RFC 7386') });

/** `providerOverrides`, next to the platforms. */
export const providerOverrides = Part(
  {
    fcm: Patch('Of the message of FCM'),
    hms: Patch('Of the message of Huawei Push Kit'),
    apns: requestPatch,
    webpush: requestPatch,
  },
  'Changes to the finished requests, as merge patches',
);

const localeTexts = { title: Text(), message: Text() };
const webTexts = { ...localeTexts, redirectURL: Text(), iconURL: Text(), imageURL: Text('https') };
const Locales = (members: Record<string, TSchema>) =>
  Type.Optional(
    Type.Record(Type.String(), Type.Object(members), { description: 'Texts by language tag (BCP 47); at most 50' }),
  );

/** `locales`, next to the platforms; in campaigns the platforms are in lower case. */
export const pushLocales = Locales({
  ANDROID: Part({ ...localeTexts, summary: Text(), Summary: Text('Older spelling of summary') }),
  IOS: Part({ ...localeTexts, subtitle: Text() }),
  WEB: Part(webTexts),
});
export const campaignLocales = Locales({
  android: Part({ ...localeTexts, summary: Text() }),
  ios: Part({ ...localeTexts, subtitle: Text() }),
  web: Part(webTexts),
});
