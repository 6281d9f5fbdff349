import type { Queryable } from '../database.ts';

/**
 * The first instant in a span at which something becomes due: a schedule, a waiting delivery or run, a chunk that its
 * throttle holds back, a fill, a callback, an email, the end of a segment, an erasure. Undefined if nothing does.
 * Indexes: campaigns_due, runs_due, deliveries_waiting, chunks_open, segment_operations_open, callbacks_due, mails_due,
 * segments_expiry, erasures_due.
 */
export async function findNextDue(
  tx: Queryable,
  { after, until }: { after: Date; until: Date },
): Promise<Date | undefined> {
  const [row] = await tx<{ at: Date | null }[]>`
    select least(
      (select min(next_at) from campaigns
        where next_at > ${after} and next_at <= ${until} and status in ('SCHEDULED', 'ACTIVE')),
      (select min(runs.due_at) from runs join campaigns on campaigns.id = runs.campaign_id
        where runs.status = 'QUEUED' and runs.due_at > ${after} and runs.due_at <= ${until}
          and campaigns.status <> 'PAUSED'),
      (select min(deliveries.retry_at) from deliveries join runs on runs.id = deliveries.run_id
        where deliveries.outcome = 'WAITING' and deliveries.retry_at > ${after} and deliveries.retry_at <= ${until}
          and runs.status = 'SENDING'),
      (select min(chunks.not_before) from chunks join runs on runs.id = chunks.run_id
        where chunks.state in ('READY', 'CLAIMED') and chunks.not_before > ${after} and chunks.not_before <= ${until}
          and runs.status = 'SENDING'),
      (select min(not_before) from segment_operations
        where state in ('QUEUED', 'FILLING', 'WAITING') and not_before > ${after} and not_before <= ${until}),
      (select min(next_at) from callbacks where state = 'PENDING' and next_at > ${after} and next_at <= ${until}),
      (select min(next_at) from mails where state = 'PENDING' and next_at > ${after} and next_at <= ${until}),
      (select min(expires_at) from segments
        where state <> 'ARCHIVED' and expires_at > ${after} and expires_at <= ${until}),
      (select min(due_at) from erasures where state <> 'DONE' and due_at > ${after} and due_at <= ${until})
    ) as at`;
  return row?.at ?? undefined;
}

/**
 * Whether anything that is due is not done yet: what findNextDue looks for, runs that are to be released, and runs that
 * nothing holds back any more. What waits for a segment that is being filled is that fill's. Indexes: as findNextDue.
 */
export async function hasDueWork(tx: Queryable, at: Date): Promise<boolean> {
  const [row] = await tx<{ isLeft: boolean }[]>`
    select
      exists (select 1 from campaigns where next_at <= ${at} and status in ('SCHEDULED', 'ACTIVE'))
      or exists (
        select 1 from runs join campaigns on campaigns.id = runs.campaign_id
        where runs.status = 'QUEUED' and runs.due_at <= ${at} and campaigns.status <> 'PAUSED'
      )
      or exists (
        select 1 from runs
        where status = 'QUEUED' and due_at is null and not exists (
          select 1 from segments where segments.workspace_id = runs.workspace_id and segments.state = 'FILLING'
        )
      )
      or exists (
        select 1 from runs where status = 'SENDING' and not exists (
          select 1 from chunks
          where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED') and chunks.not_before > ${at}
        ) and not exists (
          select 1 from deliveries
          where deliveries.run_id = runs.id and deliveries.outcome = 'WAITING' and deliveries.retry_at > ${at}
        )
      )
      or exists (
        select 1 from chunks join runs on runs.id = chunks.run_id
        where chunks.state in ('READY', 'CLAIMED') and chunks.not_before <= ${at} and runs.status = 'SENDING'
      )
      or exists (
        select 1 from deliveries join runs on runs.id = deliveries.run_id
        where deliveries.outcome = 'WAITING' and deliveries.retry_at <= ${at} and runs.status = 'SENDING'
      )
      or exists (
        select 1 from segment_operations where state in ('QUEUED', 'FILLING', 'WAITING') and not_before <= ${at}
      )
      or exists (select 1 from callbacks where state = 'PENDING' and next_at <= ${at})
      or exists (select 1 from mails where state = 'PENDING' and next_at <= ${at})
      or exists (select 1 from segments where state <> 'ARCHIVED' and expires_at <= ${at})
      or exists (select 1 from erasures where state <> 'DONE' and due_at <= ${at})
      as "isLeft"`;
  return row!.isLeft;
}
