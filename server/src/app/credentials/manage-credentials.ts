import type { Clock } from '../../clock.ts';
import { adviseOnCheck } from '../../domain/credentials/credential-check.ts';
import type { CredentialCheck } from '../../domain/credentials/credential-check.ts';
import { ProviderKeyError, parseProviderKey } from '../../domain/credentials/parse-provider-key.ts';
import type { GivenKey } from '../../domain/credentials/parse-provider-key.ts';
import { ServiceError } from '../../domain/errors.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { ProviderCredential } from '../../domain/provider-credential.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { countDevices } from '../../storage/installation/overview.ts';
import {
  deleteProviderCredential,
  listProviderCredentials,
  noteCredentialCheck,
} from '../../storage/keys/provider-credentials.ts';
import type { ProviderName, StoredCredential } from '../../storage/keys/provider-credentials.ts';
import { countRunsOfPlatforms } from '../../storage/runs/runs.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { providersOfPlatforms } from '../console/read-provider-health.ts';
import { makeSimulatedCredentials } from '../sandbox/make-simulated-credentials.ts';
import { saveProviderCredential } from './save-provider-credential.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

export type CredentialDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Asks the provider, within seconds. */
  ask: (credential: ProviderCredential) => Promise<CredentialCheck>;
  /** There are simulators to go back to. */
  isSandbox: boolean;
  /** What a sandbox's simulators know of their customers has changed. */
  onChanged: () => Promise<void>;
};

type Of = { by: Actor; workspaceId: string };
type Named = { workspaceId: string; provider: ProviderName };
type Connection = { given: GivenKey; unasked: 'store' | 'refuse' };

/** The three, connected or not, with what hangs on each. Reads every device. @throws ServiceError NOT_FOUND */
export async function listCredentials({ database }: Pick<CredentialDependencies, 'database'>, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  const [stored, devices, runs] = await Promise.all([
    listProviderCredentials(database, workspaceId),
    countDevices(database, workspaceId),
    countRunsOfPlatforms(database, workspaceId),
  ]);
  return providersOfPlatforms.map(({ platform, provider, name }) => {
    const row = stored.find((credential) => credential.provider === provider);
    return {
      platform,
      provider,
      name,
      connected: row ? presentable(row) : null,
      hits: {
        devices: devices
          .filter((count) => count.platform === platform && count.state === 'ACTIVE')
          .reduce((sum, count) => sum + count.devices, 0),
        runs: runs.find((count) => count.platform === platform)?.runs ?? 0,
      },
    };
  });
}

/**
 * Checks a credential and replaces the previous one; workers use it within seconds. A credential refused by the
 * provider is not stored; one that could not be checked is stored only with `unasked: 'store'`.
 *
 * @throws ServiceError NOT_FOUND, PROVIDER_KEY_INVALID, PROVIDER_REFUSED, PROVIDER_NOT_ASKED
 */
export async function connectCredential(deps: CredentialDependencies, { given, unasked, ...of }: Of & Connection) {
  const { database, ask, onChanged } = deps;
  const { workspaceId } = of;
  await requireWorkspace(database, workspaceId);
  const credential = readKey(given);
  const { provider } = credential;
  const check = await ask(credential);
  const reason = `${check.words.replace(/\.$/, '')}. ${adviseOnCheck({ ...check, provider }).replace(/\.$/, '')}`;
  if (check.verdict === 'REFUSED') throw new ServiceError('PROVIDER_REFUSED', { reason });
  if (check.verdict === 'UNKNOWN' && unasked === 'refuse')
    throw new ServiceError('PROVIDER_NOT_ASKED', { reason: check.words.replace(/\.$/, '') });
  await store(deps, { ...of, credential, check });
  await onChanged();
  return presentable(await find(database, { workspaceId, provider }));
}

/** A sandbox's way back to its simulated phones. @throws ServiceError NOT_FOUND in production */
export async function useSimulatedCredential(deps: CredentialDependencies, { by, workspaceId, provider }: Of & Named) {
  const { database, onChanged } = deps;
  if (!deps.isSandbox || !(await findWorkspace(database, workspaceId))) throw new ServiceError('NOT_FOUND');
  const made = await makeSimulatedCredentials(workspaceId.slice(0, 12).toLowerCase());
  const credential = made.find((each) => each.provider === provider)!;
  await store(deps, { by, workspaceId, credential, check: undefined });
  await onChanged();
  return presentable(await find(database, { workspaceId, provider }));
}

/** Asks the provider now and keeps what it says. @throws ServiceError NOT_FOUND */
export async function checkCredential(deps: CredentialDependencies, { by, workspaceId, provider }: Of & Named) {
  const { database, clock, encryption, ask } = deps;
  const row = await find(database, { workspaceId, provider });
  const check = await ask(openCredential(encryption, row));
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    await noteCredentialCheck(tx, { ...check, workspaceId, provider, updatedAt: row.updatedAt, at });
    const detail = { verdict: check.verdict };
    await audit(tx, { actor: by, workspaceId, action: 'credential.check', object: { id: provider }, detail, at });
  });
  return presentable(await find(database, { workspaceId, provider }));
}

/** Asks the provider now and keeps nothing of it. @throws ServiceError NOT_FOUND */
export async function askCredential(
  { database, encryption, ask }: Pick<CredentialDependencies, 'database' | 'encryption' | 'ask'>,
  named: Named,
): Promise<CredentialCheck> {
  return ask(openCredential(encryption, await find(database, named)));
}

/**
 * Sends that need it are paused with the reason. While some are in progress, `whileSending: 'pause'` is required.
 *
 * @throws ServiceError NOT_FOUND, CREDENTIAL_IN_USE
 */
export async function removeCredential(deps: CredentialDependencies, request: Of & Removal): Promise<void> {
  const { database, clock, onChanged } = deps;
  const { by, workspaceId, provider, whileSending } = request;
  const { platform, name } = providersOfPlatforms.find((each) => each.provider === provider)!;
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    const runs = (await countRunsOfPlatforms(tx, workspaceId)).find((count) => count.platform === platform)?.runs ?? 0;
    if (runs > 0 && whileSending === 'refuse')
      throw new ServiceError('CREDENTIAL_IN_USE', {
        reason: runs === 1 ? 'one send needs it' : `${runs} sends need it`,
      });
    if (!(await deleteProviderCredential(tx, { workspaceId, provider })))
      throw new ServiceError('NOT_FOUND', { detail: `no ${name} credential` });
    const object = { id: provider };
    await audit(tx, { actor: by, workspaceId, action: 'credential.remove', object, detail: { runs }, at });
  });
  await onChanged();
}

/** @throws ServiceError NOT_FOUND */
async function find(database: Queryable, { workspaceId, provider }: Named): Promise<StoredCredential> {
  const row = (await listProviderCredentials(database, workspaceId)).find((stored) => stored.provider === provider);
  if (!row) throw new ServiceError('NOT_FOUND', { detail: `no ${provider} credential` });
  return row;
}

/** The credential and its line in the audit log are one transaction. */
async function store(
  { database, clock, encryption }: CredentialDependencies,
  { by, workspaceId, credential, check }: Of & Stored,
): Promise<void> {
  const { provider } = credential;
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    const before = (await listProviderCredentials(tx, workspaceId)).find((row) => row.provider === provider);
    await saveProviderCredential({ encryption }, tx, { workspaceId, credential, at });
    const row = (await listProviderCredentials(tx, workspaceId)).find((stored) => stored.provider === provider)!;
    if (check) await noteCredentialCheck(tx, { ...check, workspaceId, provider, updatedAt: row.updatedAt, at });
    const action = before ? 'credential.replace' : 'credential.connect';
    const detail = { ...row.summary, verdict: check?.verdict ?? 'simulated' };
    await audit(tx, { actor: by, workspaceId, action, object: { id: provider }, detail, at });
  });
}

/** @throws ServiceError PROVIDER_KEY_INVALID */
function readKey(given: GivenKey): ProviderCredential {
  try {
    return parseProviderKey(given);
  } catch (error) {
    if (!(error instanceof ProviderKeyError)) throw error;
    throw new ServiceError('PROVIDER_KEY_INVALID', { reason: error.message.replace(/\.$/, '') });
  }
}

type Stored = { credential: ProviderCredential; check: CredentialCheck | undefined };
type Removal = { provider: ProviderName; whileSending: 'pause' | 'refuse' };

/** Everything but the sealed keys. */
function presentable({
  provider,
  simulated,
  summary,
  updatedAt,
  checkedAt,
  checkVerdict,
  checkWords,
}: StoredCredential) {
  const check =
    checkedAt === null
      ? null
      : {
          verdict: checkVerdict!,
          words: checkWords!,
          at: checkedAt,
          advice: adviseOnCheck({ provider, verdict: checkVerdict!, words: checkWords! }),
        };
  return { isSimulated: simulated, summary, updatedAt, check };
}

function openCredential(encryption: Encryption, row: StoredCredential): ProviderCredential {
  return JSON.parse(
    encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8'),
  ) as ProviderCredential;
}
