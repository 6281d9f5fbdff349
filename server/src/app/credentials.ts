import type { Clock } from '../clock.ts';
import { defaultAppId } from '../domain/apps.ts';
import type { App } from '../domain/apps.ts';
import type { Platform } from '../domain/content/content.ts';
import { adviseOnCheck, knownCheckOf } from '../domain/credentials/checks.ts';
import type { CredentialCheck } from '../domain/credentials/checks.ts';
import { parseProviderKey } from '../domain/credentials/credentials.ts';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { providerNames, providerOf, providers, providersOf } from '../domain/delivery/providers.ts';
import type { GivenKey, ProviderCredential, ProviderName } from '../domain/delivery/providers.ts';
import { ServiceError } from '../domain/errors.ts';
import { ProviderKeyError } from '../domain/providers/key-fields.ts';
import { holdApp } from '../storage/apps.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { countReachedDevices } from '../storage/devices/devices.ts';
import type { ReachedDevices } from '../storage/devices/devices.ts';
import {
  deleteProviderCredential,
  listProviderCredentials,
  noteCredentialCheck,
  upsertProviderCredential,
} from '../storage/keys/provider-credentials.ts';
import type { StoredCredential } from '../storage/keys/provider-credentials.ts';
import { countRunsOfPlatforms } from '../storage/runs/runs.ts';
import { findWorkspace } from '../storage/workspaces.ts';
import { audit } from './accounts/audit.ts';
import type { Actor } from './accounts/audit.ts';
import { makeSimulatedCredentials } from './sandbox/simulated-credentials.ts';
import { requireWorkspace } from './workspaces.ts';

export type CredentialDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Checks the credential with the provider, within seconds. */
  ask: (credential: ProviderCredential) => Promise<CredentialCheck>;
  /** True if a workspace can return to simulated providers. */
  isSandbox: boolean;
  /** Called after a change of credentials: a sandbox's simulators reload their accounts. */
  onChanged: () => Promise<void>;
};

type Of = { actor: Actor; workspaceId: string };
/** Undefined means the default app. */
type OfApp = { appId?: string };
type Named = OfApp & { workspaceId: string; provider: ProviderName };
type Connection = OfApp & {
  given: GivenKey;
  unasked: 'store' | 'refuse';
  /** As the user typed it: the beginning of the VAPID key that this one replaces. */
  inPlaceOf?: string | undefined;
};

/**
 * Lists the credentials of the default apps, connected or not, with the devices and runs that depend on each, and those of
 * other apps. Reads every device.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function listCredentials({ database }: Pick<CredentialDependencies, 'database'>, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  const [stored, devices, runs] = await Promise.all([
    listProviderCredentials(database, workspaceId),
    countReachedDevices(database, workspaceId),
    countRunsOfPlatforms(database, workspaceId),
  ]);
  return providerNames.map((provider) => {
    const { platforms, names } = providers[provider];
    const own = stored.filter((credential) => credential.provider === provider);
    const row = own.find(({ appId }) => appId === defaultAppId);
    const others = own.filter(({ appId }) => appId !== defaultAppId);
    return {
      platform: platforms[0],
      provider,
      name: names.inLists,
      connected: row ? presentable(row) : null,
      ofOtherApps: others.map((other) => ({ appId: other.appId, connected: presentable(other) })),
      hits: {
        devices: devices
          .filter((reached) => providerOf(reached) === provider)
          .reduce((sum, count) => sum + count.devices, 0),
        runs: countRuns(runs, platformsThatNeed(provider, devices)),
      },
    };
  });
}

/** Returns the platforms that use the provider by default, and those with devices that chose it. */
function platformsThatNeed(provider: ProviderName, devices: readonly ReachedDevices[]): Platform[] {
  return providers[provider].platforms.filter(
    (platform) =>
      providersOf[platform][0] === provider ||
      devices.some((reached) => reached.platform === platform && providerOf(reached) === provider),
  );
}

/**
 * Returns the highest count of the platforms. A send to several platforms counts once, so sends to different platforms are not
 * added up.
 */
function countRuns(runs: readonly { platform: Platform; runs: number }[], platforms: readonly Platform[]): number {
  return Math.max(0, ...runs.filter(({ platform }) => platforms.includes(platform)).map((count) => count.runs));
}

/**
 * Lists the connected credentials of all apps; the default app's comes first for each provider.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function listConnected(deps: Pick<CredentialDependencies, 'database'>, workspaceId: string) {
  const listed = await listCredentials(deps, workspaceId);
  return listed.flatMap(({ provider, connected, ofOtherApps }) => [
    ...(connected ? [{ provider, appId: defaultAppId, connected }] : []),
    ...ofOtherApps.map((other) => ({ provider, ...other })),
  ]);
}

/**
 * Checks a credential and replaces the previous one; workers use it within seconds. A credential refused by the provider is not
 * stored; one that could not be checked is stored only with `unasked: 'store'`. A different VAPID key is stored only if the one
 * in use is named, because browsers that subscribed with it are lost. A new contact without keys keeps the key pair.
 *
 * @throws ServiceError NOT_FOUND, PROVIDER_KEY_INVALID, PROVIDER_REFUSED, PROVIDER_NOT_ASKED, CREDENTIAL_IN_USE,
 * PARAMETER_INVALID for an unknown app
 */
export async function connectCredential(
  deps: CredentialDependencies,
  { given, unasked, inPlaceOf, ...of }: Of & Connection,
) {
  const { database, ask, onChanged } = deps;
  const { workspaceId, appId = defaultAppId } = of;
  await requireWorkspace(database, workspaceId);
  const credential = readKey(await keepKeys(deps, { given, workspaceId, appId, inPlaceOf }));
  const { provider } = credential;
  await requireApp(database, { workspaceId, appId, credential });
  const check = await ask(credential);
  const reason = `${check.words.replace(/\.$/, '')}. ${adviseOnCheck({ ...check, provider }).replace(/\.$/, '')}`;
  if (check.verdict === 'REFUSED') throw new ServiceError('PROVIDER_REFUSED', { reason });
  if (check.verdict === 'UNKNOWN' && unasked === 'refuse')
    throw new ServiceError('PROVIDER_NOT_ASKED', { reason: check.words.replace(/\.$/, '') });
  await store(deps, { ...of, appId, credential, check, inPlaceOf });
  await onChanged();
  return presentable(await find(database, { workspaceId, provider, appId }));
}

/**
 * Keeps the stored key pair if only the contact changes. A pair generated here exists nowhere else, and replacing it would lose
 * the browsers that subscribed with it.
 */
async function keepKeys(
  { database, encryption }: CredentialDependencies,
  {
    given,
    workspaceId,
    appId,
    inPlaceOf = '',
  }: Pick<Connection, 'given' | 'inPlaceOf'> & { workspaceId: string; appId: string },
): Promise<GivenKey> {
  if (given.provider !== 'webpush' || given.keys !== undefined || inPlaceOf !== '') return given;
  const stored = await listProviderCredentials(database, workspaceId);
  const row = stored.find((each) => each.provider === 'webpush' && each.appId === appId);
  if (!row || row.simulated || row.summary.subject === given.subject) return given;
  const credential = openCredential(encryption, row);
  return credential.provider === 'webpush' ? { ...given, keys: credential } : given;
}

/** Returns a sandbox to its simulated phones. @throws ServiceError NOT_FOUND in production */
export async function useSimulatedCredential(
  deps: CredentialDependencies,
  { actor, workspaceId, provider }: Of & Named,
) {
  const { database, onChanged } = deps;
  if (!deps.isSandbox || !(await findWorkspace(database, workspaceId))) throw new ServiceError('NOT_FOUND');
  const made = await makeSimulatedCredentials(workspaceId.slice(0, 12).toLowerCase());
  const credential = made[provider];
  await store(deps, { actor, workspaceId, appId: defaultAppId, credential, check: undefined, inPlaceOf: undefined });
  await onChanged();
  return presentable(await find(database, { workspaceId, provider }));
}

/** Checks a stored credential with the provider now and stores the result. @throws ServiceError NOT_FOUND */
export async function checkCredential(deps: CredentialDependencies, { actor, ...named }: Of & Named) {
  const { database, clock, encryption, ask } = deps;
  const { workspaceId, provider } = named;
  const row = await find(database, named);
  const { appId } = row;
  const check = await ask(openCredential(encryption, row));
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    await noteCredentialCheck(tx, { ...check, workspaceId, provider, appId, updatedAt: row.updatedAt, at });
    const detail = { ...appDetail(appId), verdict: check.verdict };
    await audit(tx, {
      actor,
      workspaceId,
      action: 'credential.check',
      object: { id: provider },
      detail,
      at: clock.realNow(),
    });
  });
  return presentable(await find(database, named));
}

/** Checks a stored credential with the provider now and stores nothing. @throws ServiceError NOT_FOUND */
export async function askCredential(
  { database, encryption, ask }: Pick<CredentialDependencies, 'database' | 'encryption' | 'ask'>,
  named: Named,
): Promise<CredentialCheck> {
  return ask(openCredential(encryption, await find(database, named)));
}

/**
 * Removes a credential. Sends that need it are paused with the reason; if there are any, `whileSending: 'pause'` is required.
 *
 * @throws ServiceError NOT_FOUND, CREDENTIAL_IN_USE
 */
export async function removeCredential(deps: CredentialDependencies, request: Of & Removal): Promise<void> {
  const { database, clock, onChanged } = deps;
  const { actor, workspaceId, provider, whileSending, appId = defaultAppId } = request;
  const name = providers[provider].names.inLists;
  await inTransaction(database, async (tx) => {
    const needing = platformsThatNeed(provider, await countReachedDevices(tx, workspaceId));
    const runs = countRuns(await countRunsOfPlatforms(tx, workspaceId), needing);
    if (runs > 0 && whileSending === 'refuse')
      throw new ServiceError('CREDENTIAL_IN_USE', {
        reason: runs === 1 ? 'one send needs it' : `${runs} sends need it`,
      });
    if (!(await deleteProviderCredential(tx, { workspaceId, provider, appId })))
      throw new ServiceError('NOT_FOUND', { detail: `no ${name} credential` });
    const object = { id: provider };
    const detail = { ...appDetail(appId), runs };
    await audit(tx, { actor, workspaceId, action: 'credential.remove', object, detail, at: clock.realNow() });
  });
  await onChanged();
}

/** @throws ServiceError NOT_FOUND */
async function find(
  database: Queryable,
  { workspaceId, provider, appId = defaultAppId }: Named,
): Promise<StoredCredential> {
  const stored = await listProviderCredentials(database, workspaceId);
  const row = stored.find((each) => each.provider === provider && each.appId === appId);
  if (!row) throw new ServiceError('NOT_FOUND', { detail: `no ${provider} credential` });
  return row;
}

/** Stores the credential and its audit log entry in one transaction. */
async function store(
  { database, clock, encryption }: CredentialDependencies,
  { actor, workspaceId, appId, credential, check, inPlaceOf }: Of & Stored,
): Promise<void> {
  const { provider } = credential;
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    await requireApp(tx, { workspaceId, appId, credential });
    const isOwn = (row: StoredCredential): boolean => row.provider === provider && row.appId === appId;
    const before = (await listProviderCredentials(tx, workspaceId)).find(isOwn);
    if (check) refuseUnnamedKey(credential, { before, inPlaceOf });
    await saveProviderCredential({ encryption }, tx, { workspaceId, appId, credential, at });
    const row = (await listProviderCredentials(tx, workspaceId)).find(isOwn)!;
    if (check) await noteCredentialCheck(tx, { ...check, workspaceId, provider, appId, updatedAt: row.updatedAt, at });
    const action = before ? 'credential.replace' : 'credential.connect';
    const detail = { ...appDetail(appId), ...row.summary, verdict: check?.verdict ?? 'simulated' };
    await audit(tx, { actor, workspaceId, action, object: { id: provider }, detail, at: clock.realNow() });
  });
}

/**
 * Rejects a new VAPID key unless the request names the key in use. Simulated credentials are not checked.
 *
 * @throws ServiceError CREDENTIAL_IN_USE
 */
function refuseUnnamedKey(
  credential: ProviderCredential,
  { before, inPlaceOf = '' }: { before: StoredCredential | undefined; inPlaceOf: string | undefined },
): void {
  if (credential.provider !== 'webpush' || !before || before.simulated) return;
  const { publicKey = '' } = before.summary;
  if (publicKey === credential.publicKey) return;
  if (inPlaceOf.length >= namedCharacters && publicKey.startsWith(inPlaceOf)) return;
  const begins = publicKey.slice(0, namedCharacters);
  throw new ServiceError('CREDENTIAL_IN_USE', {
    reason: `browsers subscribed with the key ${begins}… receive nothing with another key; to replace it, name its first ${namedCharacters} characters`,
  });
}

const namedCharacters = 8;

type OfOneApp = { workspaceId: string; appId: string; credential: ProviderCredential };

/**
 * Locks the app of a credential until the transaction ends. An Apple key must name the app for which it is stored.
 *
 * @throws ServiceError PARAMETER_INVALID, PROVIDER_KEY_INVALID
 */
async function requireApp(tx: Queryable, { workspaceId, appId, credential }: OfOneApp): Promise<void> {
  if (appId === defaultAppId) return;
  const platforms = providers[credential.provider].platforms;
  let app: App | undefined;
  for (const platform of platforms) app ??= await holdApp(tx, { workspaceId, platform, appId });
  if (!app)
    throw new ServiceError('PARAMETER_INVALID', {
      field: 'app',
      reason: `"${appId}" is not an app on ${platforms.join(', ')}`,
    });
  const reason = providers[credential.provider].key.findAppFault?.(credential, app);
  if (reason !== undefined) throw new ServiceError('PROVIDER_KEY_INVALID', { reason });
}

/** Entries of the audit log name an app only if it is not the default one. */
const appDetail = (appId: string): { app?: string } => (appId === defaultAppId ? {} : { app: appId });

/** @throws ServiceError PROVIDER_KEY_INVALID */
function readKey(given: GivenKey): ProviderCredential {
  try {
    return parseProviderKey(given);
  } catch (error) {
    if (!(error instanceof ProviderKeyError)) throw error;
    throw new ServiceError('PROVIDER_KEY_INVALID', { reason: error.message.replace(/\.$/, '') });
  }
}

type Stored = {
  appId: string;
  credential: ProviderCredential;
  check: CredentialCheck | undefined;
  inPlaceOf: string | undefined;
};
type Removal = OfApp & { provider: ProviderName; whileSending: 'pause' | 'refuse' };

/** Returns a credential without its encrypted keys. */
function presentable(stored: StoredCredential) {
  const { provider, simulated, summary, updatedAt } = stored;
  const known = knownCheckOf(stored);
  const check = known && { ...known, advice: adviseOnCheck({ provider, ...known }) };
  return { isSimulated: simulated, summary, updatedAt, check };
}

function openCredential(encryption: Encryption, row: StoredCredential): ProviderCredential {
  return JSON.parse(
    encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8'),
  ) as ProviderCredential;
}

/**
 * Repeats the check of credentials that the provider refused, so that waiting messages are sent once the account is repaired. No
 * user requested the check, so it is not in the audit log. A result that says nothing about the credential is not stored.
 */
export async function recheckCredentials(
  { database, clock, encryption, ask }: Pick<CredentialDependencies, 'database' | 'clock' | 'encryption' | 'ask'>,
  { workspaceId, provider }: { workspaceId: string; provider: ProviderName },
): Promise<void> {
  const rows = await listProviderCredentials(database, workspaceId);
  for (const row of rows.filter((one) => one.provider === provider)) {
    const opened = encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8');
    const check = await ask(JSON.parse(opened) as ProviderCredential);
    const { appId, updatedAt } = row;
    if (check.verdict !== 'UNKNOWN')
      await noteCredentialCheck(database, { ...check, workspaceId, provider, appId, updatedAt, at: clock.now() });
  }
}

/** Encrypts and stores an app's credential, replacing the previous one. */
export async function saveProviderCredential(
  { encryption }: { encryption: Encryption },
  tx: Queryable,
  input: { workspaceId: string; appId: string; credential: ProviderCredential; at: Date },
): Promise<void> {
  const { workspaceId, appId, credential, at } = input;
  const context = encryptionContext.providerCredential({ workspaceId, provider: credential.provider, appId });
  await upsertProviderCredential(tx, {
    workspaceId,
    provider: credential.provider,
    appId,
    encrypted: encryption.encrypt(JSON.stringify(credential), context),
    summary: providers[credential.provider].summarise(credential),
    simulated: credential.simulated,
    at,
  });
}
