import { defaultAppId } from '../apps.ts';
import type { App, AppSettings } from '../apps.ts';
import { providerOf, providers } from '../delivery/providers.ts';
import type {
  GivenKey,
  ProviderCredential,
  ProviderCredentials,
  ProviderName,
  Reachable,
} from '../delivery/providers.ts';

/** `version`: the version of all credentials of the provider in the workspace. */
export type CredentialOfApp = { appId: string; credential: ProviderCredential; version: string };

/** A device's app; null is the default app. */
type AppOfDevice = Reachable & { appId: string | null };

/** Identifies a stored credential. `version` distinguishes the provider's credentials from those that replace them. */
export type CredentialName = { provider: ProviderName; appId: string; version: string };

/** The credentials for sending to devices; empty if the workspace has no credential of their provider at all. */
export type FoundCredentials = {
  credentials: ProviderCredentials;
  name: CredentialName;
  /** The app's settings. */
  settings?: AppSettings;
};

export type CredentialsOfApps = {
  /** Undefined: the workspace has a credential of the provider, but none for this app, or the app was removed. */
  find(app: AppOfDevice): FoundCredentials | undefined;
  /** The apps other than the default ones. */
  apps: readonly Pick<App, 'platform' | 'appId'>[];
};

/** Finds the credential of each app once, however many devices need it. Pure. */
export function makeCredentialsOfApps(apps: readonly App[], stored: readonly CredentialOfApp[]): CredentialsOfApps {
  const known = new Map<string, FoundCredentials | undefined>();
  return {
    apps,
    find(app) {
      const key = keyOfApp(app);
      const found = known.get(key);
      if (found || known.has(key)) return found;
      const credentials = findCredentials(app, { apps, stored });
      known.set(key, credentials);
      return credentials;
    },
  };
}

/** Returns the key of an app. For most devices it is the platform, so no new text is made. */
export function keyOfApp({ platform, provider, pushIdType, appId }: AppOfDevice): string {
  if (appId === null && (provider ?? null) === null && (pushIdType ?? null) === null) return platform;
  return `${platform} ${provider ?? ''} ${pushIdType ?? ''} ${appId ?? ''}`;
}

type Workspace = { apps: readonly App[]; stored: readonly CredentialOfApp[] };

function findCredentials({ appId, ...device }: AppOfDevice, workspace: Workspace): FoundCredentials | undefined {
  const provider = providerOf(device);
  const stored = workspace.stored.filter(({ credential }) => credential.provider === provider);
  if (stored.length === 0) return { credentials: {}, name: { provider, appId: defaultAppId, version: '' } };
  const apps = workspace.apps.filter((app) => app.platform === device.platform);
  if (appId !== null && !apps.some((app) => app.appId === appId)) return undefined;
  const owner = ownerOfCredential(appId ?? defaultAppId, { owners: stored, others: apps });
  const found = stored.find((one) => one.appId === owner);
  if (!found) return undefined;
  // A device that names no app belongs to the app that owns the credential.
  const app = apps.find((one) => one.appId === (appId ?? owner));
  const { credential, version } = found;
  return {
    credentials: credentialsFor(credential, app),
    name: { provider, appId: found.appId, version },
    ...(app?.settings === undefined || Object.keys(app.settings).length === 0 ? {} : { settings: app.settings }),
  };
}

type Ids = readonly { appId: string }[];

/**
 * Returns the app that owns the credential an app uses: the app itself, else the default app. A default app without a
 * credential uses that of the only other app. Pure.
 *
 * @param of `owners`: apps that have a credential; `others`: the apps other than the default one; both of one platform
 */
export function ownerOfCredential(appId: string, { owners, others }: { owners: Ids; others: Ids }): string | undefined {
  const has = (id: string): boolean => owners.some((owner) => owner.appId === id);
  if (has(appId)) return appId;
  if (has(defaultAppId)) return defaultAppId;
  const only = others.length === 1 ? others[0]!.appId : undefined;
  return appId === defaultAppId && only !== undefined && has(only) ? only : undefined;
}

/** A credential may serve several apps, so the app's values override those in the credential. */
function credentialsFor(credential: ProviderCredential, app?: App): ProviderCredentials {
  const { provider } = credential;
  return { [provider]: (app && providers[provider].forApp?.(credential, app)) ?? credential };
}

/** Parses a key as its owner gives it. @throws ProviderKeyError */
export function parseProviderKey(given: GivenKey): ProviderCredential {
  const { key } = providers[given.provider];
  return key.parse(given);
}
