import type { ProviderName } from '../../domain/delivery/providers.ts';
import { inTransaction } from '../database.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { listOpenDays } from '../runs/run-states.ts';

/** The last run of a job, as stored in its node's report; instants are texts there. */
export type JobNote = {
  name: string;
  doneAt: string | null;
  /** Number of items that the last run processed. */
  done: number;
  failedAt: string | null;
  /** The kind of the last error, never its message. */
  fault: string | null;
};

export type NodeRole = 'all' | 'api' | 'worker';

/** Loopback origins of the simulated providers of a sandbox's node, except for the browsers' push service. */
export type SimulatorOrigins = Partial<Record<ProviderName, string>>;

export type NodeReport = {
  /** Unique per start. */
  id: string;
  host: string;
  processId: number;
  role: NodeRole;
  version: string;
  startedAt: Date;
  seenAt: Date;
  memoryBytes: number;
  jobs: JobNote[];
  /** Ids of the master keys it has, the one it encrypts under first; empty for a version that did not report them. */
  masterKeyIds: readonly string[];
  simulators: SimulatorOrigins | null;
  /** Maximum number of connections that it opens to the database itself. */
  connections: number;
  /**
   * The address at which it serves calls; null for a worker, while it starts, and for a version that did not report it.
   */
  url: string | null;
  /** Expiry of the certificate that it serves; null if it serves none, and for a version that did not report it. */
  certificateEndsAt: Date | null;
};

/** Stores a node's report, replacing its last one. Index: primary key. */
export async function upsertNode(tx: Queryable, node: NodeReport): Promise<void> {
  await tx`
    insert into nodes
      (id, host, process_id, role, version, started_at, seen_at, memory_bytes, duties, simulators, master_key_ids, url,
        certificate_ends_at, connections)
    values (${node.id}, ${node.host}, ${node.processId}, ${node.role}, ${node.version}, ${node.startedAt},
      ${node.seenAt}, ${node.memoryBytes}, ${tx.json(node.jobs)},
      ${node.simulators === null ? null : tx.json(node.simulators)}, ${node.masterKeyIds}, ${node.url},
      ${node.certificateEndsAt}, ${node.connections})
    on conflict (id) do update
      set seen_at = excluded.seen_at, started_at = excluded.started_at, memory_bytes = excluded.memory_bytes,
        duties = excluded.duties, master_key_ids = excluded.master_key_ids, url = excluded.url,
        certificate_ends_at = excluded.certificate_ends_at`;
}

/** Lists nodes, oldest first. A table of as many rows as nodes ran within a day. */
export async function listNodes(tx: Queryable): Promise<NodeReport[]> {
  return tx<NodeReport[]>`
    select id, host, process_id as "processId", role, version, started_at as "startedAt", seen_at as "seenAt",
      memory_bytes as "memoryBytes", duties as jobs, simulators,
      master_key_ids as "masterKeyIds", url, connections, certificate_ends_at as "certificateEndsAt"
    from nodes order by started_at, id limit 1000`;
}

/** Deletes the row of a node that stops. Index: primary key. */
export async function deleteNode(tx: Queryable, id: string): Promise<void> {
  await tx`delete from nodes where id = ${id}`;
}

/**
 * Deletes nodes that have not reported since `before`. A table of tens of rows.
 *
 * @returns the number of nodes
 */
export async function deleteSilentNodes(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`delete from nodes where seen_at < ${before}`;
  return rows.count;
}

export type FreedLeases = {
  chunks: number;
  retries: number;
  files: number;
  callbacks: number;
  emails: number;
  eventBatches: number;
};

/**
 * Ends every lease and deletes every node, for a caller that knows that no other process works on this database. The
 * work they held is claimed again immediately, as if its leases had expired: a worker that died halfway still counts as
 * one that did. Updates rows in the order of the index that finds them; there is no other transaction to wait for.
 * Indexes: chunks_open, deliveries_waiting of the days of open runs, segment_operations_open, callbacks_due, mails_due,
 * event_stream_batches_due.
 */
export function endLeasesOfPredecessors(database: Database, at: Date): Promise<FreedLeases> {
  return inTransaction(database, (tx) => endLeases(tx, at));
}

/** Does the same in the caller's transaction. */
export async function endLeases(tx: Transaction, at: Date): Promise<FreedLeases> {
  const chunks = await tx`update chunks set lease_until = ${at} where state = 'CLAIMED' and lease_until > ${at}`;
  const days = await listOpenDays(tx);
  const retries = await tx`
    update deliveries set lease_until = ${at}
    where day = any(${days}::date[]) and outcome = 'W' and lease_until > ${at}`;
  const files = await tx`
    update segment_operations set lease_until = ${at} where state = 'FILLING' and lease_until > ${at}`;
  const callbacks = await tx`update callbacks set lease_until = ${at} where state = 'PENDING' and lease_until > ${at}`;
  const emails = await tx`update mails set lease_until = ${at} where state = 'PENDING' and lease_until > ${at}`;
  const eventBatches = await tx`
    update event_stream_batches set lease_until = ${at} where state = 'PENDING' and lease_until > ${at}`;
  await tx`delete from nodes`;
  return {
    chunks: chunks.count,
    retries: retries.count,
    files: files.count,
    callbacks: callbacks.count,
    emails: emails.count,
    eventBatches: eventBatches.count,
  };
}
