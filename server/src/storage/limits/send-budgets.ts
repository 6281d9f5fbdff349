import { newSendBudget } from '../../domain/limits/send-budget.ts';
import type { SendBudget } from '../../domain/limits/send-budget.ts';
import type { Queryable } from '../database.ts';

/**
 * Reads a budget and locks its row until the transaction ends; makes it when there is none. The commit does not wait
 * for the disk: a database that crashes may forget the last lease, which is a second of one account. Index: primary
 * key.
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

/** The caller holds the row's lock. Index: primary key. */
export async function storeSendBudget(tx: Queryable, { key, budget }: { key: string; budget: SendBudget }) {
  await tx`
    update send_budgets
    set tokens = ${budget.tokens}, refilled_at = ${budget.refilledAt}, busy_since = ${budget.busySince}
    where key = ${key}`;
}

/** An account that all nodes leave alone for a while, or that takes less than usual. */
export type Restraint = { key: string; silentUntil: Date | null; penaltyUntil: Date | null };

/** What is in force at an instant: few rows, read by every node each second. Indexes: send_budgets_silent, _penalty. */
export async function listRestraints(tx: Queryable, at: Date): Promise<Restraint[]> {
  return tx<Restraint[]>`
    select key, silent_until as "silentUntil", penalty_until as "penaltyUntil" from send_budgets
    where silent_until > ${at} or penalty_until > ${at}
    order by key limit 10000`;
}

export type AccountRestraint = Restraint & { silentReason: string | null };

/**
 * What is in force for some accounts, with why; a sender's push services are the keys that begin with `prefix`. Index:
 * primary key, or send_budgets_silent and send_budgets_penalty.
 */
export async function listAccountRestraints(
  tx: Queryable,
  { keys, prefix, at }: { keys: string[]; prefix: string | undefined; at: Date },
): Promise<AccountRestraint[]> {
  return tx<AccountRestraint[]>`
    select key, silent_until as "silentUntil", penalty_until as "penaltyUntil", silent_reason as "silentReason"
    from send_budgets
    where (silent_until > ${at} or penalty_until > ${at})
      and (key = any(${keys}) or ${prefix === undefined ? tx`false` : tx`starts_with(key, ${prefix})`})
    order by key limit 100`;
}

/** Silences an account; a shorter silence never ends a longer one. Index: primary key. */
export async function silenceAccount(
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
 * A push service judged this site noisy: a day at the lower rate, a week the second time, then a fortnight; forgotten
 * 42 days after the last (delivery 3). Nothing while one is in force. Index: primary key.
 *
 * @returns until when, or undefined when it was known already
 */
export async function penaliseAccount(
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

/** Drops what says nothing any more: unused for a day, not silent, and without a penalty of the last 42 days. */
export async function dropIdleBudgets(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`
    delete from send_budgets
    where refilled_at < ${at}::timestamptz - interval '1 day'
      and (silent_until is null or silent_until <= ${at})
      and (penalty_until is null or penalty_until <= ${at}::timestamptz - interval '42 days')`;
  return rows.count;
}
