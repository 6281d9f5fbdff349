import { inTransaction } from '../database.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { listOpenDays } from '../runs/run-states.ts';

/** The last run of a job, as it is kept in the report of its node; instants are texts there. */
export type JobNote = {
  name: string;
  doneAt: string | null;
  /** How many things the last round did. */
  done: number;
  failedAt: string | null;
  /** The kind of the last fault, never its message. */
  fault: string | null;
};

export type NodeRole = 'all' | 'api' | 'worker';

/** Loopback origins of the simulated providers of a sandbox's node. */
export type SimulatorOrigins = { fcm: string; apns: string; hms: string };

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
  /** Ids of the master keys it knows, first the one it encrypts under; none of a version that did not say. */
  masterKeyIds: readonly string[];
  simulators: SimulatorOrigins | null;
  /** Most that it opens to the database itself. */
  connections: number;
  /** Where it answers calls; null of a worker, of a start under way, and of a version that did not say. */
  url: string | null;
  /** When the certificate ends that it serves; null of one that serves none, and of a version that did not say. */
  certificateEndsAt: Date | null;
};

/** A node's word that it is there, in the place of its last one. Index: primary key. */
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

/** Oldest first. A table of as many rows as nodes ran within a day. */
export async function listNodes(tx: Queryable): Promise<NodeReport[]> {
  return tx<NodeReport[]>`
    select id, host, process_id as "processId", role, version, started_at as "startedAt", seen_at as "seenAt",
      memory_bytes as "memoryBytes", duties as jobs, simulators,
      master_key_ids as "masterKeyIds", url, connections, certificate_ends_at as "certificateEndsAt"
    from nodes order by started_at, id limit 1000`;
}

/** A node that stops takes its row along. Index: primary key. */
export async function deleteNode(tx: Queryable, id: string): Promise<void> {
  await tx`delete from nodes where id = ${id}`;
}

/** Forgets nodes that have not been heard of since. A table of tens of rows. @returns how many */
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
 * Ends every lease and forgets every node, for a caller who knows that no other process works on this database. What was
 * held is taken up at once, as if its leases had run out: a worker that died in the middle still counts as one that did.
 * Rows in the order of the index that finds them; nobody else is there to wait for. Indexes: chunks_open,
 * deliveries_waiting of the days of open runs, segment_operations_open, callbacks_due, mails_due, event_stream_batches_due.
 */
export function endLeasesOfPredecessors(database: Database, at: Date): Promise<FreedLeases> {
  return inTransaction(database, (tx) => endLeases(tx, at));
}

/** The same as a part of the caller's transaction. */
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
