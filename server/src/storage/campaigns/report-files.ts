import type { AttributionType } from '../../domain/campaigns/conversions.ts';
import type { FigureMetric } from '../../domain/campaigns/figures.ts';
import type { Lease, Database, Queryable, Transaction } from '../database.ts';
import { lockWorkspace } from '../workspaces.ts';

/**
 * The campaigns, the days (YYYY-MM-DD in the workspace's zone, both included), the attribution and the metric of a
 * file.
 */
export type ReportRequest = {
  campaignIds: string[] | undefined;
  startDate: string;
  endDate: string;
  attribution: AttributionType;
  metric: FigureMetric;
};

export type NewReportFile = {
  id: string;
  workspaceId: string;
  name: string;
  request: ReportRequest;
  /** The key of the request; null: requested on the command line. */
  key: { id: string; generation: number } | null;
  signatureHash: Buffer;
  at: Date;
  expiresAt: Date;
};

/**
 * Stores a file unless the workspace already has `maxFiles`. Of two concurrent calls, the second waits for the first.
 * Index: report_files_workspace.
 *
 * @returns true if it was stored
 */
export async function insertReportFile(tx: Transaction, file: NewReportFile & { maxFiles: number }): Promise<boolean> {
  await lockWorkspace(tx, file.workspaceId);
  const rows = await tx`
    insert into report_files (
      id, workspace_id, name, request, key_id, key_generation, signature_hash, next_at, created_at, expires_at
    )
    select ${file.id}, ${file.workspaceId}, ${file.name}, ${tx.json(file.request)}, ${file.key?.id ?? null},
      ${file.key?.generation ?? null}::integer, ${file.signatureHash}, ${file.at}::timestamptz, ${file.at}::timestamptz,
      ${file.expiresAt}::timestamptz
    where (
      select count(*) from report_files where workspace_id = ${file.workspaceId} and expires_at > ${file.at}
    ) < ${file.maxFiles}
    returning 1`;
  return rows.length === 1;
}

export type ReportFile = {
  id: string;
  name: string;
  request: ReportRequest;
  state: 'WAITING' | 'READY' | 'FAILED';
  campaigns: number | null;
  bytes: number | null;
  reason: string | null;
  createdAt: Date;
  expiresAt: Date;
};

/** Lists files, newest first, without expired ones. Index: report_files_workspace. */
export async function listReportFiles(
  tx: Queryable,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<ReportFile[]> {
  return tx<ReportFile[]>`
    select id, name, request, state, campaigns, bytes, reason, created_at as "createdAt", expires_at as "expiresAt"
    from report_files where workspace_id = ${workspaceId} and expires_at > ${at}
    order by id desc`;
}

export type ReadableReport = Pick<ReportFile, 'id' | 'state' | 'bytes' | 'reason' | 'expiresAt'> & {
  signatureHash: Buffer;
  /** True if the key is unchanged since the file was requested, or there is none. */
  isKeyCurrent: boolean;
};

/** Indexes: report_files_name_key, api_keys primary key. */
export async function findReadableReport(
  tx: Queryable,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<ReadableReport | undefined> {
  const [row] = await tx<ReadableReport[]>`
    select report_files.id, report_files.state, report_files.bytes, report_files.reason,
      report_files.expires_at as "expiresAt", report_files.signature_hash as "signatureHash",
      report_files.key_id is null or exists (
        select 1 from api_keys
        where api_keys.id = report_files.key_id and api_keys.generation = report_files.key_generation
          and api_keys.archived_at is null
      ) as "isKeyCurrent"
    from report_files where report_files.name = ${name} and report_files.workspace_id = ${workspaceId}`;
  return row;
}

/** Index: primary key. */
export async function findReportPiece(
  tx: Queryable,
  { reportId, number }: { reportId: string; number: number },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ bytes: Buffer }[]>`
    select bytes from report_file_pieces where report_id = ${reportId} and number = ${number}`;
  return row?.bytes;
}

export type DueReport = { id: string; workspaceId: string; attempts: number; request: ReportRequest };

/**
 * Claims the file that has waited longest, counts the attempt before anything is written, and deletes the pieces of an
 * earlier attempt. Skips a file that another node is writing. Index: report_files_due.
 */
export async function claimReportFile(database: Database, claim: { at: Date } & Lease): Promise<DueReport | undefined> {
  const [row] = await database<DueReport[]>`
    with due as (
      select id from report_files
      where state = 'WAITING' and next_at <= ${claim.at} and (lease_until is null or lease_until <= ${claim.leasedAt})
      order by next_at, id limit 1
      for update skip locked
    ), dropped as (
      delete from report_file_pieces using due where report_file_pieces.report_id = due.id
    )
    update report_files as files set lease_until = ${claim.leaseUntil}, attempts = files.attempts + 1
    from due where files.id = due.id
    returning files.id, files.workspace_id as "workspaceId", files.attempts, files.request`;
  return row;
}

type Attempt = { id: string; attempts: number };

/**
 * Stores a piece and extends the lease. Index: primary keys.
 *
 * @returns true if the attempt still holds the file
 */
export async function addReportPiece(
  tx: Queryable,
  { id, attempts, ...piece }: Attempt & { number: number; bytes: Buffer; leaseUntil: Date },
): Promise<boolean> {
  const rows = await tx`
    with held as (
      update report_files set lease_until = ${piece.leaseUntil}
      where id = ${id} and attempts = ${attempts} and state = 'WAITING'
      returning id, workspace_id
    )
    insert into report_file_pieces (report_id, number, workspace_id, bytes)
    select id, ${piece.number}::integer, workspace_id, ${piece.bytes} from held
    returning 1`;
  return rows.length === 1;
}

/** Stores that the file is complete. Guarded by the attempt. Index: primary key. */
export async function endReportFile(
  tx: Queryable,
  { id, attempts, ...file }: Attempt & { campaigns: number; bytes: number; at: Date },
): Promise<void> {
  await tx`
    update report_files
    set state = 'READY', next_at = null, lease_until = null, campaigns = ${file.campaigns}, bytes = ${file.bytes},
      ended_at = ${file.at}
    where id = ${id} and attempts = ${attempts} and state = 'WAITING'`;
}

/**
 * Stores a failed attempt: the file is retried or given up, and keeps the pieces written so far. Guarded like
 * endReportFile. Index: primary key.
 */
export async function keepReportFile(
  tx: Queryable,
  { id, attempts, ...failed }: Attempt & { reason: string; nextAt: Date | undefined; at: Date },
): Promise<void> {
  const isLast = failed.nextAt === undefined;
  await tx`
    update report_files
    set state = ${isLast ? 'FAILED' : 'WAITING'}, lease_until = null, reason = ${failed.reason},
      next_at = ${failed.nextAt ?? null}, ended_at = ${isLast ? failed.at : null}
    where id = ${id} and attempts = ${attempts} and state = 'WAITING'`;
}

/** Deletes expired files with their pieces. Index: report_files_expiry. */
export async function deleteExpiredReportFiles(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from report_files where id in (
      select id from report_files where expires_at <= ${before} order by expires_at limit ${limit} for update skip locked
    )`;
  return rows.count;
}
