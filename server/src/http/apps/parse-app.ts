import type { App } from '../../domain/apps/app.ts';
import { apnsEnvironments } from '../../domain/apps/app.ts';
import { declarativeModes } from '../../domain/apps/app-settings.ts';
import type { AppDefaults, AppSettings } from '../../domain/apps/app-settings.ts';
import { payloadModes } from '../../domain/campaigns/android-payload.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { refuseOwnFaults } from '../own-body.ts';

/** An app as it is to be; what an app cannot be, the use case says. @throws ServiceError PARAMETER_INVALID */
export function parseApp(reader: RequestReader, appId: string): App & { settings: AppSettings } {
  const platform = reader.requires('platform') ? reader.choice('platform', platforms) : undefined;
  const identifier = reader.requiredText('identifier');
  const app = {
    appId,
    platform: platform!,
    name: reader.text('name') ?? appId,
    identifier,
    environment: reader.choice('environment', apnsEnvironments) ?? (platform === 'IOS' ? 'production' : null),
    restrictsPackage: reader.flag('restrictPackage') ?? false,
    settings: readSettings(reader),
  };
  refuseOwnFaults(reader);
  return app;
}

function readSettings(reader: RequestReader): AppSettings {
  const part = reader.part('defaults');
  const defaults = sentOf<AppDefaults>({
    channelId: part.text('channel_id'),
    sound: part.text('sound'),
    icon: part.text('icon'),
    color: part.text('color'),
  });
  return sentOf<AppSettings>({
    mode: reader.choice('mode', payloadModes),
    declarative: reader.choice('declarative', declarativeModes),
    criticalAlerts: reader.flag('criticalAlerts') ? true : undefined,
    pushFrom: reader.text('pushFrom'),
    dataPrefix: reader.text('dataPrefix'),
    defaults: Object.keys(defaults).length === 0 ? undefined : defaults,
  });
}

type Read<T> = { [Name in keyof T]: T[Name] | undefined };

function sentOf<T extends object>(members: Read<Required<T>>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
