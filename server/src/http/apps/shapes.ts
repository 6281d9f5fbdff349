import { Type } from 'typebox';
import { apnsEnvironments } from '../../domain/apps/app.ts';
import type { ApnsEnvironment } from '../../domain/apps/app.ts';
import { declarativeModes } from '../../domain/apps/app-settings.ts';
import type { AppSettings } from '../../domain/apps/app-settings.ts';
import { payloadModes } from '../../domain/campaigns/android-payload.ts';
import type { PayloadMode } from '../../domain/campaigns/android-payload.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { named } from '../openapi/named.ts';

const word = <Word extends string>(words: readonly string[], description: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], description });
const text = (description: string) => Type.Optional(Type.String({ description }));
const platform = word<Platform>(platforms, 'ANDROID, IOS or WEB');

const settings = {
  restrictPackage: Type.Optional(
    Type.Boolean({ description: 'Of Android: FCM is told the package and refuses tokens of another' }),
  ),
  mode: Type.Optional(word<PayloadMode>(payloadModes, 'Of Android: who shows its messages')),
  declarative: Type.Optional(
    word<NonNullable<AppSettings['declarative']>>(declarativeModes, 'Of sites: the declarative form of a web push'),
  ),
  criticalAlerts: Type.Optional(
    Type.Boolean({ description: 'Of iOS: Apple granted the app critical alerts, and messages may have such sounds' }),
  ),
  pushFrom: text('Of Android: value of push_from'),
  dataPrefix: text('Of phones: stands before the names of our keys'),
  defaults: Type.Optional(
    Type.Object(
      {
        channel_id: text('Android channel'),
        sound: text('File of the app, on phones'),
        icon: text('Name of a drawable'),
        color: text('#rrggbb'),
      },
      { description: 'What a content has that says nothing else' },
    ),
  ),
};

const environment = Type.Optional(
  word<ApnsEnvironment>(apnsEnvironments, "Of iOS: which of Apple's services; absent: production"),
);

export const appBody = named(
  'AppRequest',
  Type.Object({
    platform,
    name: text('For people; absent: the id'),
    identifier: Type.String({ description: 'Android package, bundle id, or origin of the site; stands' }),
    environment,
    ...settings,
  }),
);

export const appAnswer = named(
  'App',
  Type.Object({
    app_id: Type.String(),
    platform,
    name: Type.String(),
    identifier: Type.Union([Type.String({ description: 'Null: of a default app without a credential' }), Type.Null()]),
    environment,
    ...settings,
    credential_of: Type.Union([
      Type.String({ description: 'The app whose credential its messages take; null: there is none' }),
      Type.Null(),
    ]),
  }),
);

export const appsAnswer = named('Apps', Type.Object({ apps: Type.Array(appAnswer) }));

export const appParameters = Type.Object({ app: Type.String({ description: 'The id of the app' }) });

export const appQuery = Type.Object({
  platform: Type.Optional(word<Platform>(platforms, 'Of which platform; needed where several have an app of that id')),
});
