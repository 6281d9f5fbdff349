import type { Queryable } from '../pool.ts';

/**
 * Adds a job in the caller's transaction, so the wake-up exists exactly when the records do. A job of the same task and
 * key that is still waiting is reused: the truth is in our tables, one wake-up serves them all.
 */
export async function addJob(tx: Queryable, job: { task: string; key: string; payload: object }): Promise<void> {
  await tx`
    select graphile_worker.add_job(
      ${job.task}, payload => ${JSON.stringify(job.payload)}::text::json, job_key => ${job.key},
      job_key_mode => 'preserve_run_at', max_attempts => 3)`;
}
