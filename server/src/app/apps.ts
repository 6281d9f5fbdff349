import type { Clock } from '../clock.ts';
import { defaultAppId, findAppFaults, noSuchApp } from '../domain/apps.ts';
import type { App, AppSettings } from '../domain/apps.ts';
import { platforms } from '../domain/content/content.ts';
import type { Platform } from '../domain/content/content.ts';
import { ownerOfCredential } from '../domain/credentials/credentials.ts';
import { providers, providersOf } from '../domain/delivery/providers.ts';
import type { ProviderName } from '../domain/delivery/providers.ts';
import { ServiceError } from '../domain/errors.ts';
import { deleteApp, insertApp, listApps, lockApp, updateApp } from '../storage/apps.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { countDevicesOfApp } from '../storage/devices/devices.ts';
import { listProviderCredentials } from '../storage/keys/provider-credentials.ts';
import { releaseWorkspaceKeys } from '../storage/limits/governor.ts';
import { audit } from './accounts/audit.ts';
import type { Actor } from './accounts/audit.ts';
import { requireWorkspace } from './workspaces.ts';

export type AppDependencies = { database: Database; clock: Clock };

type By = { actor: Actor; workspaceId: string };
type Named = { platform: Platform; appId: string };

/** An app as it is listed. A default app has the identifier from its credential, if there is one. */
export type ListedApp = Omit<App, 'identifier'> & {
  identifier: string | null;
  /** The app that owns the credential for its messages; null while there is none. */
  credentialOf: string | null;
};

/** Lists a workspace's apps by platform, the default one first. @throws ServiceError NOT_FOUND */
export async function listWorkspaceApps(database: Queryable, workspaceId: string): Promise<ListedApp[]> {
  await requireWorkspace(database, workspaceId);
  const apps = await listApps(database, workspaceId);
  const credentials = await listProviderCredentials(database, workspaceId);
  return platforms.flatMap((platform) => {
    const [provider] = providersOf[platform];
    const own = credentials.filter((credential) => credential.provider === provider);
    const { topic = null, environment = null } = own.find(({ appId }) => appId === defaultAppId)?.summary ?? {};
    const others = apps.filter((app) => app.platform === platform);
    const first = { platform, appId: defaultAppId, name: 'Default app', identifier: topic };
    const ofDefault = {
      ...first,
      environment: environment as App['environment'],
      restrictsPackage: false,
      settings: {},
    };
    return [ofDefault, ...others].map((app) => ({
      ...app,
      credentialOf: ownerOfCredential(app.appId, { owners: own, others }) ?? null,
    }));
  });
}

type Asked = { workspaceId: string; appId: string; platform: Platform | undefined };

/**
 * Returns the app with that id. The platform is required where several platforms have one.
 *
 * @throws ServiceError NOT_FOUND, PARAMETER_INVALID
 */
export async function findWorkspaceApp(
  database: Queryable,
  { workspaceId, appId, platform }: Asked,
): Promise<ListedApp> {
  const found = (await listWorkspaceApps(database, workspaceId)).filter(
    (app) => app.appId === appId && (platform === undefined || app.platform === platform),
  );
  const [app] = found;
  if (!app) throw new ServiceError('NOT_FOUND', { field: 'app_id', reason: noSuchApp(appId) });
  if (found.length === 1) return app;
  const reason = `is required: there is such an app on ${found.map((one) => one.platform).join(' and ')}`;
  throw new ServiceError('PARAMETER_INVALID', { field: 'platform', reason });
}

/** Adds an app, or updates its changeable properties. @throws ServiceError PARAMETER_INVALID */
export async function putApp(deps: AppDependencies, put: By & App): Promise<{ isNew: boolean }> {
  const { workspaceId, platform, appId, identifier, environment } = put;
  const found = (await listApps(deps.database, workspaceId)).find(
    (app) => app.platform === platform && app.appId === appId,
  );
  if (!found) {
    await addApp(deps, put);
    return { isNew: true };
  }
  const reason = 'cannot be changed; add another app instead';
  if (found.identifier !== identifier) throw new ServiceError('PARAMETER_INVALID', { field: 'identifier', reason });
  if (found.environment !== environment) throw new ServiceError('PARAMETER_INVALID', { field: 'environment', reason });
  await changeApp(deps, put);
  return { isNew: false };
}

/** @throws ServiceError NOT_FOUND, PARAMETER_INVALID for an app that is invalid or already exists */
export async function addApp({ database, clock }: AppDependencies, { actor, workspaceId, ...app }: By & App) {
  const faults = findAppFaults(app);
  if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
  await requireWorkspace(database, workspaceId);
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    if (!(await insertApp(tx, { ...app, workspaceId, at }))) {
      const isIdTaken = (await lockApp(tx, { workspaceId, ...app })) !== undefined;
      throw new ServiceError('PARAMETER_INVALID', {
        ...(isIdTaken ? { field: 'app' } : { field: 'identifier' }),
        reason: `is that of an app there is on ${app.platform}`,
      });
    }
    await releaseWorkspaceKeys(tx, { workspaceId, at });
    const { platform, identifier, environment, restrictsPackage, settings = {} } = app;
    const detail = { platform, identifier, environment, restrictsPackage, settings };
    await audit(tx, { actor, workspaceId, action: 'app.add', object: objectOf(app), detail, at: clock.realNow() });
  });
}

type Change = By &
  Named & { name?: string | undefined; restrictsPackage?: boolean | undefined; settings?: AppSettings | undefined };

/** Changes name, package restriction and settings; the other properties are fixed. @throws ServiceError PARAMETER_INVALID */
export async function changeApp({ database, clock }: AppDependencies, change: Change): Promise<void> {
  const { actor, workspaceId, platform, appId } = change;
  await inTransaction(database, async (tx) => {
    const app = await requireApp(tx, change);
    const { name = app.name, restrictsPackage = app.restrictsPackage, settings = app.settings ?? {} } = change;
    const faults = findAppFaults({ ...app, name, restrictsPackage, settings });
    if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
    await updateApp(tx, { workspaceId, platform, appId, name, restrictsPackage, settings });
    await releaseWorkspaceKeys(tx, { workspaceId, at: clock.now() });
    const detail = { platform, name: { from: app.name, to: name }, restrictsPackage, settings };
    await audit(tx, {
      actor,
      workspaceId,
      action: 'app.change',
      object: objectOf({ appId, name }),
      detail,
      at: clock.realNow(),
    });
  });
}

/** Removes an app that has neither credential nor devices. Reads every device. @throws ServiceError PARAMETER_INVALID */
export async function removeApp({ database, clock }: AppDependencies, removal: By & Named): Promise<void> {
  const { actor, workspaceId, platform, appId } = removal;
  await inTransaction(database, async (tx) => {
    const app = await requireApp(tx, removal);
    const credentials = await listProviderCredentials(tx, workspaceId);
    const namesakes = (await listApps(tx, workspaceId)).filter((other) => other.appId === appId);
    // A credential used by an app with the same id on another platform stays.
    const isOnlyOf = (provider: ProviderName): boolean =>
      providersOf[platform].includes(provider) &&
      namesakes.every(
        (other) => other.platform === platform || !providers[provider].platforms.includes(other.platform),
      );
    const own = credentials.find((credential) => credential.appId === appId && isOnlyOf(credential.provider));
    if (own)
      throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: `has a credential of ${own.provider}` });
    const devices = await countDevicesOfApp(tx, { workspaceId, platform, appId });
    if (devices > 0) throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: `has devices: ${devices}` });
    await deleteApp(tx, { workspaceId, platform, appId });
    await releaseWorkspaceKeys(tx, { workspaceId, at: clock.now() });
    await audit(tx, {
      actor,
      workspaceId,
      action: 'app.remove',
      object: objectOf(app),
      detail: { platform },
      at: clock.realNow(),
    });
  });
}

/** Locks the app. @throws ServiceError PARAMETER_INVALID if it does not exist, and for a default one */
async function requireApp(tx: Queryable, named: { workspaceId: string } & Named): Promise<App> {
  const { platform, appId } = named;
  if (appId === defaultAppId)
    throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: 'is there in every workspace' });
  const app = await lockApp(tx, named);
  if (!app)
    throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: `"${appId}" is not an app on ${platform}` });
  return app;
}

const objectOf = ({ appId, name }: Pick<App, 'appId' | 'name'>) => ({ id: appId, name });

/** Returns the first named app that the workspace does not have. Without named apps it reads nothing and returns undefined. */
export async function findUnknownApp(
  tx: Queryable,
  { workspaceId, appIds }: { workspaceId: string; appIds: readonly string[] | undefined },
): Promise<string | undefined> {
  const named = appIds?.filter((appId) => appId !== defaultAppId) ?? [];
  if (named.length === 0) return undefined;
  const apps = new Set((await listApps(tx, workspaceId)).map(({ appId }) => appId));
  return named.find((appId) => !apps.has(appId));
}
