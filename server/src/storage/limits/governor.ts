import type { Hold, Seen } from '../../domain/delivery/evidence.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { newSendBudget } from '../../domain/delivery/send-budget.ts';
import type { SendBudget } from '../../domain/delivery/send-budget.ts';
import type { Queryable, Fragment } from '../database.ts';

/**
 * Reads a budget and locks its row until the transaction ends; creates the row if there is none. The commit does not
 * wait for the disk: a database that crashes may lose the last lease, which is one second of one account. Index:
 * primary key.
 */
export async function lockSendBudget(tx: Queryable, { key, at }: { key: string; at: Date }): Promise<SendBudget> {
  const fresh = newSendBudget(at);
  await tx`set local synchronous_commit to off`;
  await tx`
    insert into send_budgets (key, tokens, refilled_at, busy_since)
    values (${key}, ${fresh.tokens}, ${fresh.refilledAt}, ${fresh.busySince})
    on conflict (key) do nothing`;
  const [row] = await tx<SendBudget[]>`
    select tokens, refilled_at as "refilledAt", busy_since as "busySince"
    from send_budgets where key = ${key} for update`;
  return row!;
}

/** Stores a budget. The caller holds the row's lock. Index: primary key. */
export async function storeSendBudget(tx: Queryable, { key, budget }: { key: string; budget: SendBudget }) {
  await tx`
    update send_budgets
    set tokens = ${budget.tokens}, refilled_at = ${budget.refilledAt}, busy_since = ${budget.busySince}
    where key = ${key}`;
}

/** An account that all nodes pause for a while, or send to at a lower rate. */
export type AccountLimit = { key: string; pausedUntil: Date | null; throttledUntil: Date | null };

/**
 * Lists the limits in force at an instant: few rows, read by every node each second. Indexes: send_budgets_silent,
 * _penalty.
 */
export async function listAccountLimits(tx: Queryable, at: Date): Promise<AccountLimit[]> {
  return tx<AccountLimit[]>`
    select key, silent_until as "pausedUntil", penalty_until as "throttledUntil" from send_budgets
    where silent_until > ${at} or penalty_until > ${at}
    order by key limit 10000`;
}

export type ExplainedAccountLimit = AccountLimit & { pauseReason: string | null };

/**
 * Returns the limits in force for some accounts, with the reason. The keys that begin with `prefix` are a sender's push
 * services. Index: primary key, or send_budgets_silent and send_budgets_penalty.
 */
export async function findAccountLimits(
  tx: Queryable,
  { keys, prefix, at }: { keys: string[]; prefix: string | undefined; at: Date },
): Promise<ExplainedAccountLimit[]> {
  return tx<ExplainedAccountLimit[]>`
    select key, silent_until as "pausedUntil", penalty_until as "throttledUntil", silent_reason as "pauseReason"
    from send_budgets
    where (silent_until > ${at} or penalty_until > ${at})
      and (key = any(${keys}) or ${prefix === undefined ? tx`false` : tx`starts_with(key, ${prefix})`})
    order by key limit 100`;
}

/** Pauses an account; a shorter pause never ends a longer one. Index: primary key. */
export async function pauseAccount(
  tx: Queryable,
  { key, until, reason, at }: { key: string; until: Date; reason: string; at: Date },
): Promise<void> {
  await tx`
    insert into send_budgets (key, tokens, refilled_at, busy_since, silent_until, silent_reason)
    values (${key}, 0, ${at}, ${at}, ${until}, ${reason})
    on conflict (key) do update set silent_until = excluded.silent_until, silent_reason = excluded.silent_reason
    where send_budgets.silent_until is null or send_budgets.silent_until < excluded.silent_until`;
}

/**
 * Throttles an account because a push service judged this site noisy: for a day, then a week the second time, then a
 * fortnight. Past penalties are forgotten 42 days after the last one (delivery 3). Does nothing while a penalty is in
 * force. Index: primary key.
 *
 * @returns the end of the penalty, or undefined if one was already in force
 */
export async function throttleAccount(
  tx: Queryable,
  { key, at }: { key: string; at: Date },
): Promise<Date | undefined> {
  const [row] = await tx<{ until: Date }[]>`
    insert into send_budgets as budget (key, tokens, refilled_at, busy_since, penalties, penalty_until)
    values (${key}, 0, ${at}, ${at}, 1, ${at}::timestamptz + interval '1 day')
    on conflict (key) do update
      set penalties = case when budget.penalty_until > ${at}::timestamptz - interval '42 days'
          then least(budget.penalties + 1, 100) else 1 end,
        penalty_until = ${at}::timestamptz + case
          when budget.penalty_until is null or budget.penalty_until <= ${at}::timestamptz - interval '42 days' then interval '1 day'
          when budget.penalties < 2 then interval '7 days' else interval '14 days' end
      where budget.penalty_until is null or budget.penalty_until <= ${at}
    returning penalty_until as until`;
  return row?.until;
}

/** Deletes budgets without information: unused for a day, not paused, and without a penalty in the last 42 days. */
export async function dropIdleBudgets(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`
    delete from send_budgets
    where refilled_at < ${at}::timestamptz - interval '1 day'
      and (silent_until is null or silent_until <= ${at})
      and (penalty_until is null or penalty_until <= ${at}::timestamptz - interval '42 days')`;
  return rows.count;
}

/** A key and the credential that it belongs to. */
export type EvidenceOwner = { key: string; workspaceId: string; provider: ProviderName; appId: string };

/**
 * Returns the remembered responses of a key, locked until the transaction ends; creates the row if there is none. The
 * commit does not wait for the disk: a database that crashes may lose the last responses, but new ones follow. Index:
 * primary key.
 */
export async function lockEvidence(tx: Queryable, { at, ...of }: EvidenceOwner & { at: Date }): Promise<Seen[]> {
  await tx`set local synchronous_commit to off`;
  await tx`
    insert into provider_evidence (key, workspace_id, provider, app_id, updated_at)
    values (${of.key}, ${of.workspaceId}, ${of.provider}, ${of.appId}, ${at})
    on conflict (key) do nothing`;
  const [row] = await tx<{ remembered: Seen[] }[]>`
    select remembered from provider_evidence where key = ${of.key} for update`;
  return row!.remembered;
}

/** Stores the remembered responses. The caller holds the row's lock. Index: primary key. */
export async function storeEvidence(
  tx: Queryable,
  { key, remembered, at }: { key: string; remembered: readonly Seen[]; at: Date },
): Promise<void> {
  await tx`
    update provider_evidence set remembered = ${JSON.stringify(remembered)}::text::jsonb, updated_at = ${at}
    where key = ${key}`;
}

export type HoldToStore = Omit<Hold, 'remembered'> & {
  at: Date;
  /** False: decided from the responses for many devices. */
  isSure: boolean;
};

/** Holds a key. A pause never shortens a hold without an end. The caller holds the row's lock. Index: primary key. */
export async function holdKey(tx: Queryable, hold: HoldToStore): Promise<void> {
  await tx`
    update provider_evidence
    set held_at = ${hold.at}, held_code = ${hold.code}, held_detail = ${hold.detail}, held_until = ${hold.until},
      held_for_sure = ${hold.isSure}, probed_at = ${hold.at}, updated_at = ${hold.at}
    where key = ${hold.key}
      and (held_at is null or held_until is not null and (${hold.until}::timestamptz is null or held_until < ${hold.until}))`;
}

/** Lists the keys held at an instant: few rows, read by every node each second. Index: provider_evidence_held. */
export async function listHolds(tx: Queryable, at: Date): Promise<Hold[]> {
  return tx<Hold[]>`
    select key, held_code as code, held_detail as detail, held_until as until, remembered
    from provider_evidence
    where held_at is not null and (held_until is null or held_until > ${at})
    order by key limit 10000`;
}

/**
 * Lets one message of a held key through if there was none since `before`; of several nodes that ask at once, one
 * succeeds. Index: primary key.
 */
export async function claimProbe(
  tx: Queryable,
  { key, at, before }: { key: string; at: Date; before: Date },
): Promise<boolean> {
  const rows = await tx`
    update provider_evidence set probed_at = ${at}, updated_at = ${at}
    where key = ${key} and held_at is not null and (probed_at is null or probed_at <= ${before} or probed_at > ${at})
    returning 1`;
  return rows.length === 1;
}

/** The assignments of a release: the key is no longer held, and the responses before the release no longer count. */
const released = (tx: Queryable, at: Date): Fragment => tx`
  held_at = null, held_code = null, held_detail = null, held_until = null, held_for_sure = null, probed_at = null,
  remembered = '[]', updated_at = ${at}`;

/**
 * Releases a key because a message to one of its devices was accepted; forgets the earlier failures. Index: primary
 * key.
 */
export async function releaseKey(tx: Queryable, { key, at }: { key: string; at: Date }): Promise<void> {
  await tx`
    update provider_evidence
    set ${released(tx, at)}
    where key = ${key} and held_at is not null`;
}

/**
 * Releases the keys of a workspace, so that messages are sent to its providers again. Index:
 * provider_evidence_workspace.
 */
export async function releaseWorkspaceKeys(
  tx: Queryable,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<void> {
  await tx`
    update provider_evidence
    set ${released(tx, at)}
    where workspace_id = ${workspaceId} and held_at is not null`;
}

/**
 * Releases keys whose credential passed a check after the provider had definitely refused it. A check sends to a
 * made-up device, so it proves nothing about a hold decided from the responses for real devices. Index:
 * provider_evidence_held.
 */
export async function releaseCheckedKeys(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`
    update provider_evidence as evidence
    set ${released(tx, at)}
    from provider_credentials as checked
    where evidence.held_for_sure and checked.workspace_id = evidence.workspace_id
      and checked.provider = evidence.provider and checked.app_id = evidence.app_id
      and checked.check_verdict = 'ACCEPTED' and checked.checked_at > evidence.held_at`;
  return rows.count;
}

/**
 * Deletes keys without a response since `before`, except keys that runs wait for. Indexes: provider_evidence_updated,
 * run_refusals_evidence.
 */
export async function dropOldEvidence(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from provider_evidence
    where updated_at < ${before}
      and not exists (select 1 from run_refusals where run_refusals.evidence_key = provider_evidence.key)`;
  return rows.count;
}

export type HeldKey = { key: string; provider: ProviderName; code: string; remembered: Seen[] };

/**
 * Lists held keys that runs wait for and whose next message may be sent. Index: provider_evidence_held,
 * run_refusals_evidence.
 */
export async function listKeysToProbe(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<HeldKey[]> {
  return tx<HeldKey[]>`
    select key, provider, held_code as code, remembered from provider_evidence
    where held_at is not null and held_until is null and (probed_at is null or probed_at <= ${before})
      and exists (select 1 from run_refusals where run_refusals.evidence_key = provider_evidence.key)
    order by probed_at nulls first, key limit ${limit}`;
}
