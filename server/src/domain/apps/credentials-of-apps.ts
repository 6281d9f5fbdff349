import type { Platform } from '../campaigns/content.ts';
import type { ProviderCredential, ProviderCredentials } from '../provider-credential.ts';
import { defaultAppId } from './app.ts';
import type { App } from './app.ts';

export type CredentialOfApp = { appId: string; credential: ProviderCredential };

/** A device's app; null is the default one. */
type AppOfDevice = { platform: Platform; appId: string | null };

/**
 * With what messages reach the devices of an app. Empty: the workspace has no credential for the platform at all.
 * Undefined: it has one, but none for this app, or the app was removed.
 */
export type CredentialsOfApps = (app: AppOfDevice) => ProviderCredentials | undefined;

const providers = { ANDROID: 'fcm', IOS: 'apns', WEB: 'webpush' } as const;

/** Finds the credential of each app once, however many devices ask. Pure. */
export function makeCredentialsOfApps(apps: readonly App[], stored: readonly CredentialOfApp[]): CredentialsOfApps {
  const known = new Map<string, ProviderCredentials | undefined>();
  return (app) => {
    const key = app.appId === null ? app.platform : `${app.platform} ${app.appId}`;
    const found = known.get(key);
    if (found || known.has(key)) return found;
    const credentials = findCredentials(app, { apps, stored });
    known.set(key, credentials);
    return credentials;
  };
}

type Workspace = { apps: readonly App[]; stored: readonly CredentialOfApp[] };

function findCredentials({ platform, appId }: AppOfDevice, workspace: Workspace): ProviderCredentials | undefined {
  const provider = providers[platform];
  const stored = workspace.stored.filter(({ credential }) => credential.provider === provider);
  if (stored.length === 0) return {};
  const ofDefault = stored.find((one) => one.appId === defaultAppId)?.credential;
  const apps = workspace.apps.filter((app) => app.platform === platform);
  if (appId === null) {
    if (ofDefault) return credentialsFor(ofDefault);
    // What names no app is of the only one there is.
    return apps.length === 1 ? findCredentials({ platform, appId: apps[0]!.appId }, workspace) : undefined;
  }
  const app = apps.find((one) => one.appId === appId);
  const credential = stored.find((one) => one.appId === appId)?.credential ?? ofDefault;
  return app && credential && credentialsFor(credential, app);
}

/** A credential serves more than one app; what it says of its own gives way to what the app says. */
function credentialsFor(credential: ProviderCredential, app?: App): ProviderCredentials {
  switch (credential.provider) {
    case 'fcm':
      return { fcm: app?.restrictsPackage ? { ...credential, restrictedPackage: app.identifier } : credential };
    case 'apns': {
      if (!app) return { apns: credential };
      const { identifier: topic, environment } = app;
      return { apns: { ...credential, topic, environment: environment ?? credential.environment } };
    }
    case 'webpush':
      return { webpush: credential };
    default: {
      const never: never = credential;
      throw new Error(`unknown credential ${String(never)}`);
    }
  }
}
