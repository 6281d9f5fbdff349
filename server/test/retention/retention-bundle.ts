import { makeDropOldDays, makePrepareDays } from '../../src/engine/housekeeping/days.ts';
import { makeTrimOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { Job } from '../../src/engine/jobs/job.ts';
import type { Logger } from '../../src/log.ts';
import { retentionOf, readConfig } from '../../src/start/config.ts';
import { makeStatsBundle, start } from '../stats/stats-bundle.ts';

export const dayMilliseconds = 24 * 3_600_000;
export const daysAfter = (days: number): Date => new Date(start.getTime() + days * dayMilliseconds);
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

export type RetentionBundle = Awaited<ReturnType<typeof makeRetentionBundle>>;

/** The statistics' routes and the jobs of retention with their defaults, as a login that owns nothing. */
export async function makeRetentionBundle() {
  const bundle = await makeStatsBundle();
  const { clock, workspaceId, database: all } = bundle;
  const lines: { fields: Record<string, unknown>; message: string }[] = [];
  const log = {
    info: (fields: Record<string, unknown>, message: string) => void lines.push({ fields, message }),
  } as unknown as Logger;
  const retention = retentionOf(readConfig({ environment: {}, arguments: [] }));
  const database = bundle.application.acrossWorkspaces();
  const deps = { database, clock, log, retention };
  const prepare = makePrepareDays(deps);
  const drop = makeDropOldDays(deps);
  const trim = makeTrimOldRecords(deps);

  return {
    ...bundle,
    across: database,
    lines,
    jobs: { prepare, drop, trim },
    /** Runs a job until it has nothing left to do. */
    async runOut(job: Job): Promise<void> {
      while ((await job.runOnce(clock.now())) > 0);
    },
    async listDays(table: 'deliveries' | 'events'): Promise<string[]> {
      const rows = await all<{ name: string }[]>`
        select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = ${table}::regclass order by relname`;
      return rows.map(({ name }) => name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3'));
    },
    async count(table: string): Promise<number> {
      const [row] = await all<{ rows: number }[]>`select count(*) as rows from ${all(table)}`;
      return row!.rows;
    },
    /** A chunk of a run, ended unless told otherwise. */
    async addChunk(runId: string, state: 'DONE' | 'READY' = 'DONE'): Promise<void> {
      await all`
        insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, created_at,
          ended_at)
        values (${runId}, 0, ${workspaceId}, 1, 0, 255, ${state}, ${start}, ${start},
          ${state === 'DONE' ? start : null})`;
    },
    async addSegment(): Promise<string> {
      const id = makeId(start);
      await all`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
          created_by, created_at, updated_at)
        values (${id}, ${workspaceId}, ${id}, 'FILE', 'READY', 'API', 'id', 'string', 1, 'test', ${start}, ${start})`;
      return id;
    },
    /** A file operation that has ended, with a skipped line and a piece of its file. */
    async addOperation(segmentId: string, number: number): Promise<string> {
      const id = makeId(start);
      await all`
        insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, status,
          counted_users, not_before, requested_by, created_at, ended_at)
        values (${id}, ${workspaceId}, ${segmentId}, ${number}, 'ADD', md5(${id}), 'SUCCEEDED', 201, 0, ${start}, 'test',
          ${start}, ${start})`;
      await all`insert into segment_rejects (operation_id, line, reason) values (${id}, 1, 'empty')`;
      await all`insert into segment_file_pieces (operation_id, number, bytes) values (${id}, 1, '')`;
      return id;
    },
    /** A callback and an email of an operation, each with an attempt. */
    async addMessages(operationId: string, { isPending }: { isPending: boolean }): Promise<void> {
      const [id, nextAt, endedAt] = [makeId(start), isPending ? start : null, isPending ? null : start];
      await all`
        insert into callbacks (id, workspace_id, operation_id, url, body, state, next_at, created_at, ended_at)
        values (${id}, ${workspaceId}, ${operationId}, 'https://a.example', '{}', ${isPending ? 'PENDING' : 'DELIVERED'},
          ${nextAt}, ${start}, ${endedAt})`;
      await all`
        insert into callback_attempts (callback_id, number, at, status, duration_ms) values (${id}, 1, ${start}, 200, 1)`;
      await all`
        insert into mails (id, workspace_id, operation_id, recipients, subject, body, state, next_at, created_at, ended_at)
        values (${id}, ${workspaceId}, ${operationId}, '{}', 's', 'b', ${isPending ? 'PENDING' : 'SENT'}, ${nextAt},
          ${start}, ${endedAt})`;
      await all`
        insert into mail_attempts (mail_id, number, at, answer, is_taken, duration_ms)
        values (${id}, 1, ${start}, '250', true, 1)`;
    },
  };
}
