import type { Clock } from '../../clock.ts';
import { encryptionContext, DecryptionError, masterKeyWord } from '../../domain/crypto/encryption.ts';
import type { Keyring } from '../../domain/crypto/encryption.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Value } from '../../storage/database.ts';
import {
  countUnderOtherKeys,
  encryptedColumns,
  lockUnderOtherKeys,
  storeUnderNewKey,
} from '../../storage/installation/encrypted-values.ts';
import type { EncryptedColumn } from '../../storage/installation/encrypted-values.ts';
import {
  beginKeyRotation,
  endKeyRotation,
  findInstallation,
  listOpenTransactions,
  lockInstallation,
} from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { isAlive } from './nodes.ts';

export type RotationDependencies = {
  database: Database;
  clock: Clock;
  encryption: Keyring;
  wait(milliseconds: number): Promise<unknown>;
};

export type RotationRequest = {
  toKeyId: string;
  /** Called after each batch and at each wait. */
  onProgress(progress: RotationProgress): void;
};

export type RotationProgress =
  { kind: 'values'; place: string; encrypted: number } | { kind: 'waiting'; for: 'nodes' | 'transactions' };

export type RotationResult =
  | { outcome: 'rotated'; values: number }
  /** These nodes do not know the key, so nothing was changed. */
  | { outcome: 'nodes without the key'; hosts: string[] }
  /** Values that were changed or moved in the database and cannot be decrypted; all others are under the new key. */
  | { outcome: 'unreadable values'; places: string[] }
  /** A wait did not end in time; values may still be under the old key, which must stay known. */
  | { outcome: 'unfinished'; waitedFor: 'nodes' | 'transactions' };

/** Values per transaction: it locks this many rows for some tens of milliseconds. */
const batchValues = 250;
const pollMilliseconds = 500;
// Five minutes. A node reports itself every five seconds; only imports have longer transactions than this.
const maxPolls = 600;

/**
 * Encrypts everything under another master key while nodes serve. The state is in the rows themselves, each of which names its
 * key, so a rotation that was killed can be run again.
 *
 * The order makes it safe. All nodes that are alive know the key before the installation changes to it. Then they begin to
 * encrypt under it, within seconds. Values that they encrypted before are stored by the time the last pass begins.
 */
export async function rotateMasterKey(deps: RotationDependencies, request: RotationRequest): Promise<RotationResult> {
  const refused = await changeKey(deps, request.toKeyId);
  if (refused) return refused;
  let { values } = await encryptAll(deps, request);
  const waitedFor = await waitForNodes(deps, request);
  if (waitedFor) return { outcome: 'unfinished', waitedFor };
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const pass = await encryptAll(deps, request);
    values += pass.values;
    const remaining = await countRemaining(deps, request.toKeyId);
    if (remaining === 0) {
      await endKeyRotation(deps.database, request.toKeyId);
      return { outcome: 'rotated', values };
    }
    if (remaining === pass.unreadable.length) return { outcome: 'unreadable values', places: pass.unreadable };
    // Another transaction has locked the row.
    await pause(deps, request, 'transactions');
  }
  return { outcome: 'unfinished', waitedFor: 'transactions' };
}

/** Changes the installation's own key, which all nodes follow. */
async function changeKey(
  { database, clock, encryption }: RotationDependencies,
  toKeyId: string,
): Promise<RotationResult | undefined> {
  return inTransaction(database, async (tx) => {
    await lockInstallation(tx);
    const { masterKeyId } = (await findInstallation(tx))!;
    encryption.encryptUnder(masterKeyId);
    if (masterKeyId === toKeyId) return undefined;
    const without = (await listNodes(tx)).filter(
      (node) => isAlive(node, clock) && !node.masterKeyIds.includes(toKeyId),
    );
    if (without.length > 0)
      return {
        outcome: 'nodes without the key',
        hosts: without.map(({ host, processId }) => `${host} (${processId})`),
      };
    encryption.encryptUnder(toKeyId);
    const masterKeyCheck = encryption.encrypt(masterKeyWord, encryptionContext.masterKeyCheck());
    await beginKeyRotation(tx, { masterKeyCheck, fromKeyId: masterKeyId });
    return undefined;
  });
}

type Pass = { values: number; unreadable: string[] };

async function encryptAll(deps: RotationDependencies, request: RotationRequest): Promise<Pass> {
  const pass: Pass = { values: 0, unreadable: [] };
  for (const column of encryptedColumns) await encryptColumn(deps, { ...request, column, pass });
  return pass;
}

async function encryptColumn(
  { database, encryption }: RotationDependencies,
  { column, toKeyId, onProgress, pass }: RotationRequest & { column: EncryptedColumn; pass: Pass },
): Promise<void> {
  const place = `${column.table}.${column.column}`;
  let after: readonly Value[] | undefined;
  for (;;) {
    const page = { masterKeyId: toKeyId, after, limit: batchValues };
    const { last, unreadable, encrypted } = await inTransaction(database, async (tx) => {
      const values = await lockUnderOtherKeys(tx, column, page);
      let unreadable = 0;
      for (const { key, ...value } of values) {
        const again = encryptAgain(encryption, value);
        if (again) await storeUnderNewKey(tx, column, { key, encrypted: again });
        else unreadable += 1;
      }
      return { last: values.at(-1), unreadable, encrypted: values.length - unreadable };
    });
    if (!last) return;
    after = last.key;
    pass.values += encrypted;
    pass.unreadable.push(...Array.from({ length: unreadable }, () => place));
    onProgress({ kind: 'values', place, encrypted });
  }
}

function encryptAgain(
  encryption: Keyring,
  { encrypted, context }: { encrypted: Buffer; context: string },
): Buffer | undefined {
  try {
    return encryption.encrypt(encryption.decrypt(encrypted, context), context);
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

async function countRemaining({ database }: RotationDependencies, toKeyId: string): Promise<number> {
  let remaining = 0;
  for (const column of encryptedColumns) remaining += await countUnderOtherKeys(database, column, toKeyId);
  return remaining;
}

/**
 * Waits until every node that is alive encrypts under the key and has reported once more since, so that values it had encrypted
 * before are on their way, and until all transactions of that time have ended.
 *
 * @returns what it waited for without success
 */
async function waitForNodes(
  deps: RotationDependencies,
  request: RotationRequest,
): Promise<'nodes' | 'transactions' | undefined> {
  const { database, clock } = deps;
  // Transactions that were open when every node had the key; later ones encrypt under it.
  let earlier: Set<string> | undefined;
  let seen: Map<string, number> | undefined;
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const nodes = (await listNodes(database)).filter((node) => isAlive(node, clock));
    const have = nodes.every(({ masterKeyIds }) => masterKeyIds[0] === request.toKeyId);
    if (have) seen ??= new Map(nodes.map(({ id, seenAt }) => [id, seenAt.getTime()]));
    if (have && nodes.every(({ id, seenAt }) => seenAt.getTime() !== seen!.get(id))) {
      const open = await listOpenTransactions(database);
      earlier ??= new Set(open);
      if (!open.some((id) => earlier!.has(id))) return undefined;
    }
    await pause(deps, request, earlier === undefined ? 'nodes' : 'transactions');
  }
  return earlier === undefined ? 'nodes' : 'transactions';
}

async function pause(
  { wait }: RotationDependencies,
  { onProgress }: RotationRequest,
  waitedFor: 'nodes' | 'transactions',
): Promise<void> {
  onProgress({ kind: 'waiting', for: waitedFor });
  await wait(pollMilliseconds);
}
