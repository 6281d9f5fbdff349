import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { defaultAppId } from '../domain/apps.ts';
import type { App } from '../domain/apps.ts';
import { makeCredentialsOfApps } from '../domain/credentials/credentials.ts';
import type { CredentialsOfApps } from '../domain/credentials/credentials.ts';
import type { ProviderCredential, ProviderCredentials } from '../domain/delivery/providers.ts';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import type { Logger } from '../log.ts';
import type { ProviderToken, ShareProviderToken } from '../providers/apns/provider-token.ts';
import { listAppsOfWorkspaces } from '../storage/apps.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import {
  findProviderToken,
  listCredentialsOfWorkspaces,
  lockProviderToken,
  upsertProviderToken,
} from '../storage/keys/provider-credentials.ts';
import type { EncryptedCredential, VersionedCredential } from '../storage/keys/provider-credentials.ts';

export type LoadCredentials = (workspaceId: string) => Promise<CredentialsOfApps>;

// A replaced credential is in use everywhere within this time, without a restart.
const freshMilliseconds = 2_000;
/** Credentials in use that are due within this time are read with those that are due now. */
const renewalMilliseconds = 1_000;
const maxWorkspaces = 1_000;

export type AppsOfWorkspace = { workspaceId: string; apps: readonly App[] };

export type LoadCredentialsDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  /** Receives the apps before any message is sent to their devices. */
  onApps?: ((of: AppsOfWorkspace) => Promise<void>) | undefined;
};

/**
 * Reads and decrypts the credentials of a workspace's apps. Results are cached for two seconds. Two statements read all workspaces
 * that are asked for at the same time, and those in use that are due within a second: with hundreds of workspaces, two statements for
 * each cost more than their messages. Unchanged credentials are not decrypted again.
 */
export function makeLoadCredentials(deps: LoadCredentialsDependencies): LoadCredentials {
  const { clock } = deps;
  const remembered = new Map<string, Remembered>();
  const read = makeReadCredentials(deps);
  const asked = new Set<string>();
  let next: Promise<Map<string, Opened | Error>> | undefined;

  /** Reads, at the end of this turn of the event loop, all that are asked for until then. */
  async function readAsked(): Promise<Map<string, Opened | Error>> {
    await new Promise((resolve) => setImmediate(resolve));
    next = undefined;
    const now = clock.realNow().getTime();
    const isDue = ({ until, isInUse }: Remembered): boolean => isInUse && until <= now + renewalMilliseconds;
    for (const [workspaceId, entry] of remembered) if (isDue(entry)) asked.add(workspaceId);
    const ids = [...asked];
    asked.clear();
    const opened = await read(ids, (workspaceId) => remembered.get(workspaceId)?.opened);
    for (const [workspaceId, result] of opened) {
      remembered.delete(workspaceId);
      if (result instanceof Error) continue;
      remembered.set(workspaceId, { until: now + freshMilliseconds, opened: result, isInUse: false });
      if (remembered.size > maxWorkspaces) remembered.delete(remembered.keys().next().value!);
    }
    return opened;
  }

  return async (workspaceId) => {
    const entry = remembered.get(workspaceId);
    if (entry && entry.until > clock.realNow().getTime()) {
      entry.isInUse = true;
      return entry.opened.credentials;
    }
    asked.add(workspaceId);
    next ??= readAsked();
    const result = (await next).get(workspaceId)!;
    if (result instanceof Error) throw result;
    return result.credentials;
  };
}

/** `isInUse`: the workspace was sent to since its credentials were read. */
type Remembered = { until: number; opened: Opened; isInUse: boolean };

/** The credentials of a workspace, and what they were made from. */
type Opened = { apps: readonly App[]; rows: readonly VersionedCredential[]; credentials: CredentialsOfApps };

function makeReadCredentials({ database, encryption, onApps }: LoadCredentialsDependencies) {
  async function open(workspaceId: string, { apps, rows }: Omit<Opened, 'credentials'>): Promise<Opened> {
    await onApps?.({ workspaceId, apps });
    const stored = rows.map((row) => ({
      ...{ appId: row.appId, version: row.version },
      credential: openCredential(encryption, row),
    }));
    return { apps, rows, credentials: makeCredentialsOfApps(apps, stored) };
  }
  return async (
    workspaceIds: string[],
    known: (workspaceId: string) => Opened | undefined,
  ): Promise<Map<string, Opened | Error>> => {
    const [appsOf, allRows] = await Promise.all([
      listAppsOfWorkspaces(database, workspaceIds),
      listCredentialsOfWorkspaces(database, workspaceIds),
    ]);
    const rowsOf = Map.groupBy(allRows, ({ workspaceId }) => workspaceId);
    const opened = new Map<string, Opened | Error>();
    for (const workspaceId of workspaceIds) {
      const found = { apps: appsOf.get(workspaceId) ?? [], rows: rowsOf.get(workspaceId) ?? [] };
      const before = known(workspaceId);
      if (before && isSame(before, found)) opened.set(workspaceId, before);
      else opened.set(workspaceId, await open(workspaceId, found).catch((error: unknown) => error as Error));
    }
    return opened;
  };
}

function isSame(before: Opened, found: Omit<Opened, 'credentials'>): boolean {
  return isDeepStrictEqual(before.rows, found.rows) && isDeepStrictEqual(before.apps, found.apps);
}

/** Decrypts the credentials of the default apps. */
export function openCredentials(encryption: Encryption, rows: EncryptedCredential[]): ProviderCredentials {
  const credentials: ProviderCredentials = {};
  for (const row of rows) {
    if (row.appId !== defaultAppId) continue;
    Object.assign(credentials, { [row.provider]: openCredential(encryption, row) });
  }
  return credentials;
}

function openCredential(encryption: Encryption, row: EncryptedCredential): ProviderCredential {
  const text = encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8');
  return JSON.parse(text) as ProviderCredential;
}

export type ShareProviderTokenDependencies = { database: Database; encryption: Encryption; log: Logger };

/**
 * Shares one provider token across all nodes, encrypted in the database. If the database is unavailable, or the token was
 * encrypted with another master key, a node signs a token itself instead of holding the messages back.
 */
export function makeShareProviderToken({
  database,
  encryption,
  log,
}: ShareProviderTokenDependencies): ShareProviderToken {
  return async ({ key, isUsable, make }) => {
    let made: ProviderToken | undefined;
    try {
      return await inTransaction(database, async (tx) => {
        await lockProviderToken(tx, key);
        const stored = await findProviderToken(tx, key);
        const kept = stored && {
          token: encryption.decrypt(stored.encrypted, encryptionContext.providerToken({ key })).toString('utf8'),
          issuedAt: stored.issuedAt,
        };
        if (kept && isUsable(kept)) return kept;
        made = make();
        await upsertProviderToken(tx, {
          key,
          encrypted: encryption.encrypt(made.token, encryptionContext.providerToken({ key })),
          issuedAt: made.issuedAt,
        });
        return made;
      });
    } catch (error) {
      log.warn({ err: error, key }, 'provider token is not shared');
      return made ?? make();
    }
  };
}
