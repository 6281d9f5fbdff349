import type { Lease } from '../../domain/lease.ts';
import type { Database, Fragment, Queryable } from '../database.ts';
import { afterSilence, isNews, isPaused } from './receiver-pause.ts';
import type { Contact, DueReceiver, Silence, Turn } from './receiver-pause.ts';
import type { DueCallback } from './outbox.ts';

/**
 * Receivers of callbacks: the origins of the addresses, each in one workspace. Callbacks are claimed by receiver, so that a
 * thousand to one that does not answer come no sooner than the only one to another. `callback_receivers` has a row of those
 * that did not answer lately, and of no other.
 */
export type CallbackReceiver = { workspaceId: string; origin: string };

type Claim = { at: Date; leasedAt: Date };

const isDue = (tx: Queryable, { at, leasedAt }: Claim): Fragment => tx`
  state = 'PENDING' and next_at <= ${at} and (lease_until is null or lease_until <= ${leasedAt})`;

/**
 * The next receivers after one that callbacks are due for, by workspace and origin, each found by one step of the index: the
 * number of callbacks that wait for one costs nothing. Nothing is locked. Indexes: callbacks_receivers, callback_receivers
 * primary key.
 */
export async function listDueCallbackReceivers(
  database: Database,
  page: Claim & { after: Pick<DueReceiver, 'workspaceId' | 'key'> | undefined; limit: number },
): Promise<DueReceiver[]> {
  const due = isDue(database, page);
  const { workspaceId: afterWorkspace, key: afterOrigin } = page.after ?? { workspaceId: '', key: '' };
  const silent = database`silent`;
  return database<DueReceiver[]>`
    with recursive receivers as (
      (
        select workspace_id, origin, url, next_at, 1 as number from callbacks
        where ${due} and (workspace_id, origin) > (${afterWorkspace}::text, ${afterOrigin}::text)
        order by workspace_id, origin, next_at
        limit 1
      )
      union all
      select following.workspace_id, following.origin, following.url, following.next_at, receivers.number + 1
      from receivers cross join lateral (
        select workspace_id, origin, url, next_at from callbacks
        where ${due} and (workspace_id, origin) > (receivers.workspace_id, receivers.origin)
        order by workspace_id, origin, next_at
        limit 1
      ) as following
      where receivers.number < ${page.limit}::int
    )
    select receivers.workspace_id as "workspaceId", receivers.origin as key, receivers.url,
      receivers.next_at as "dueAt", coalesce(${isPaused(database, { row: silent, ...page })}, false) as "isPaused"
    from receivers
    left join callback_receivers as silent
      on silent.workspace_id = receivers.workspace_id and silent.origin = receivers.origin
    order by receivers.number`;
}

/**
 * Claims the oldest callbacks of each receiver, up to its count, with the attempt counted before anything is sent: a worker
 * that dies leaves them due again when its lease ends. A receiver whose pause is over gets one, the probe; rows that another
 * node holds are skipped. Probes are locked in one order, and before callbacks, which nobody waits for here. Indexes:
 * callbacks_receivers, callback_receivers primary key.
 */
export async function claimCallbacks(
  database: Database,
  claim: { turns: readonly Turn[]; at: Date; probeUntil: Date } & Lease,
): Promise<DueCallback[]> {
  const silent = database`silent`;
  return database<DueCallback[]>`
    with turn as (
      select "workspaceId" collate "C" as workspace_id, key collate "C" as origin, count
      from jsonb_to_recordset(${JSON.stringify(claim.turns)}::text::jsonb)
        as given ("workspaceId" text, key text, count integer)
    ), rested as (
      select silent.workspace_id, silent.origin
      from callback_receivers as silent
      join turn on turn.workspace_id = silent.workspace_id and turn.origin = silent.origin
      where silent.paused_until is not null and not ${isPaused(database, { row: silent, ...claim })}
      order by silent.workspace_id, silent.origin
      for update of silent skip locked
    ), probed as (
      update callback_receivers as receiver set probe_until = ${claim.probeUntil}
      from rested where receiver.workspace_id = rested.workspace_id and receiver.origin = rested.origin
      returning receiver.workspace_id, receiver.origin
    ), due as (
      select callback.id as due_id
      from turn
      left join callback_receivers as silent
        on silent.workspace_id = turn.workspace_id and silent.origin = turn.origin and silent.paused_until is not null
      left join probed on probed.workspace_id = turn.workspace_id and probed.origin = turn.origin
      cross join lateral (
        select id from callbacks
        where callbacks.workspace_id = turn.workspace_id and callbacks.origin = turn.origin and ${isDue(database, claim)}
        order by next_at
        limit case when silent.origin is null then turn.count when probed.origin is null then 0 else 1 end
        for update skip locked
      ) as callback
    )
    update callbacks
    set lease_until = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where id = due_id
    returning id, workspace_id as "workspaceId", origin, url, body, attempts`;
}

/**
 * The receiver answered, whatever it said: its pause is over. Index: primary key.
 *
 * @returns the silence that this ends, if there was one
 */
export async function endCallbackSilence(
  tx: Queryable,
  { workspaceId, origin }: CallbackReceiver,
): Promise<Silence | undefined> {
  const [ended] = await tx<Silence[]>`
    delete from callback_receivers where workspace_id = ${workspaceId} and origin = ${origin}
    returning failures, silent_since as "silentSince", paused_until as "pausedUntil"`;
  return ended;
}

/**
 * An attempt got no answer. Index: primary key.
 *
 * @returns the silence up to now; undefined where the attempt began before a pause that another one brought about
 */
export async function noteCallbackSilence(
  tx: Queryable,
  { workspaceId, origin, ...contact }: CallbackReceiver & Contact,
): Promise<Silence | undefined> {
  const row = tx`receiver`;
  const [silence] = await tx<Silence[]>`
    insert into callback_receivers as receiver (workspace_id, origin, failures, silent_since, failed_at)
    values (${workspaceId}, ${origin}, 1, ${contact.startedAt}, ${contact.endedAt})
    on conflict (workspace_id, origin) do update
    set failed_at = excluded.failed_at, ${afterSilence(tx, { row, contact })}
    where ${isNews(tx, { row, contact })}
    returning failures, silent_since as "silentSince", paused_until as "pausedUntil"`;
  return silence;
}

/**
 * Gives up callbacks to a paused receiver whose next attempt has been due since before a time. They can be sent again, as
 * all that were given up. Index: callbacks_receivers.
 *
 * @returns how many
 */
export async function giveUpPausedCallbacks(
  tx: Queryable,
  { workspaceId, origin, dueBefore, at, limit }: CallbackReceiver & { dueBefore: Date; at: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    update callbacks set state = 'GIVEN_UP', next_at = null, ended_at = ${at}, lease_until = null
    where id in (
      select id from callbacks
      where workspace_id = ${workspaceId} and origin = ${origin} and state = 'PENDING' and next_at < ${dueBefore}
        and lease_until is null
      order by next_at
      limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}

/** Forgets receivers whose last failure was before a time: nothing was posted to them since. Index: callback_receivers_failed. */
export async function deleteOldCallbackReceivers(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from callback_receivers where (workspace_id, origin) in (
      select workspace_id, origin from callback_receivers where failed_at < ${before}
      order by failed_at limit ${limit} for update skip locked
    )`;
  return rows.count;
}
