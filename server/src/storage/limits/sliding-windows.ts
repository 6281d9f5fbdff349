import { tokenLimitIdleSeconds, tokenLimitOperations, tokenLimitRows } from '../../domain/access/keys.ts';
import { latestEventSeconds } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import { accountGuessWindows, signInWindows } from '../../domain/limits/access.ts';
import { sendWithReceipt } from '../database.ts';
import type { Database, Fragment, Queryable, Statement } from '../database.ts';

export type LimitSubject = {
  /** The limited operation, for example `token`. */
  operation: string;
  /** SHA-256 of the subject that the limit applies to. */
  subject: Buffer;
};

/** Counts one event of one subject; see `countEvents`. */
export async function countEvent(
  tx: Queryable,
  { operation, subject, ...event }: LimitSubject & Omit<CountedEvents, 'subjects'>,
): Promise<CountedEvent> {
  const [counted] = await countEvents(tx, { ...event, subjects: [{ operation, subject }] });
  return counted!;
}

export type CountedEvents = {
  subjects: readonly LimitSubject[];
  at: Date;
  windows: readonly LimitWindow[];
  /**
   * `unflushed`: the commit does not wait for the disk, which a caller who can send again does not need. A database that is
   * killed loses at most the events of the last three `wal_writer_delay` (0.6 s). Default: `durable`.
   */
  commit?: 'durable' | 'unflushed';
};

/** `counted`: the event was counted. `isFirst`: it is the only event in the longest window. */
export type CountedEvent = { counted: boolean; isFirst: boolean };

/**
 * Counts one event per subject if every window has room for it; all subjects differ. The statement locks the rows, so
 * of two concurrent nodes one sees the other's event. A rejected event is not counted. Locks subjects in order, so that
 * two batches never deadlock. Drops events outside the longest window, so a row holds at most as many as the largest
 * limit. Index: primary key.
 *
 * @returns one result per subject, in the order of `subjects`
 */
export async function countEvents(tx: Queryable, events: CountedEvents): Promise<CountedEvent[]> {
  return presentCounts(events, await countStatement(tx, { ...events, receipt: tx`` }));
}

/**
 * Does the same in one message, with a receipt: a count whose response is lost is looked up, and never counted twice. Its commit
 * does not wait for the disk. After a lost response an event is reported as counted if its windows still have room, because
 * then they had room for it; an event that filled its window is reported as rejected.
 *
 * @throws LostTransactionError
 */
export async function countEventsAtOnce(
  database: Database,
  events: Omit<CountedEvents, 'commit'>,
): Promise<CountedEvent[]> {
  const rows = await sendWithReceipt<CountRow[]>(database, {
    statement: ({ poolId, number }) => {
      const receipt = database`with receipt as (
        insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
      )`;
      return countStatement(database, { ...events, commit: 'unflushed', receipt });
    },
    readBack: () => database<CountRow[]>`
      select operation, subject, cardinality(events) as events
      from limit_windows join ${askedSubjects(database, events.subjects)} using (operation, subject)
      where not ${isFull(database, events)}`,
  });
  return presentCounts(events, rows);
}

type CountRow = LimitSubject & { events: number };

function countStatement(
  tx: Queryable,
  { subjects, at, windows, commit = 'durable', receipt }: CountedEvents & { receipt: Fragment },
): Statement<CountRow[]> {
  const asked = tx`${askedSubjects(tx, subjects)} ${commit === 'durable' ? tx`` : unflushed(tx)}`;
  return tx<CountRow[]>`${receipt} ${countingInsert(tx, { asked, at, windows })}`;
}

/**
 * The insert of `countEvents`, for statements that do more than count.
 *
 * @param asked the source of its rows, with `operation` and `subject`
 */
export function countingInsert(
  tx: Queryable,
  { asked, at, windows }: { asked: Fragment } & Pick<CountedEvents, 'at' | 'windows'>,
): Fragment {
  const longest = Math.max(...windows.map((window) => window.seconds));
  return tx`
    insert into limit_windows (operation, subject, events, last_event_at)
    select operation, subject, array[${at}::timestamptz], ${at}
    from ${asked}
    order by operation, subject
    on conflict (operation, subject) do update
      set
        events = (
          select array_agg(moment order by moment)
          from unnest(limit_windows.events || excluded.events) as moment
          where moment > excluded.last_event_at - make_interval(secs => ${longest})
            and moment <= excluded.last_event_at + make_interval(secs => ${latestEventSeconds})
        ),
        last_event_at = excluded.last_event_at
      where not ${isFull(tx, { at, windows })}
    returning operation, subject, cardinality(events) as events`;
}

const askedSubjects = (tx: Queryable, subjects: readonly LimitSubject[]) => tx`
  unnest(${subjects.map(({ operation }) => operation)}::text[], ${subjects.map(({ subject }) => subject)}::bytea[])
    as asked (operation, subject)`;

/** True for a row of limit_windows with a window that has no room at this time. */
export const isFull = (tx: Queryable, { at, windows }: Pick<CountedEvents, 'at' | 'windows'>) => tx`
  exists (
    select 1
    from unnest(${windows.map((window) => window.events)}::integer[], ${windows.map((window) => window.seconds)}::integer[])
      as limits (most, seconds)
    where most <= (
      select count(*)
      from unnest(limit_windows.events) as moment
      where moment > ${at}::timestamptz - make_interval(secs => limits.seconds)
        and moment <= ${at}::timestamptz + make_interval(secs => ${latestEventSeconds})
    )
  )`;

function presentCounts({ subjects }: Pick<CountedEvents, 'subjects'>, rows: readonly CountRow[]): CountedEvent[] {
  const found = new Map(rows.map((row) => [keyOf(row), row.events]));
  return subjects.map((asked) => {
    const events = found.get(keyOf(asked));
    return { counted: events !== undefined, isFirst: events === 1 };
  });
}

/** Joined to the source of a `countingInsert`: the commit of its transaction does not wait for the disk. */
export const unflushed = (tx: Queryable) => tx`cross join set_config('synchronous_commit', 'off', true) as unflushed`;

/** Returns a text that identifies a subject. */
export function keyOf({ operation, subject }: LimitSubject): string {
  return `${operation} ${subject.toString('latin1')}`;
}

/**
 * Returns the counted events of several subjects in one statement, in the order of `subjects`; none if there is no row.
 * Index: primary key, one lookup per subject: a plan that was made while the table was small would read all of it.
 */
export async function findLimitWindows(tx: Queryable, subjects: readonly LimitSubject[]): Promise<Date[][]> {
  const asked = [...new Map(subjects.map((subject) => [keyOf(subject), subject])).values()];
  const rows = await tx<{ place: number; events: Date[] }[]>`
    select asked.place::int as place, found.events
    from unnest(${asked.map(({ operation }) => operation)}::text[], ${asked.map(({ subject }) => subject)}::bytea[])
      with ordinality as asked (operation, subject, place)
    join lateral (
      select limit_windows.events from limit_windows
      where limit_windows.operation = asked.operation and limit_windows.subject = asked.subject limit 1
    ) as found on true`;
  const found = new Map(rows.map(({ place, events }) => [keyOf(asked[place - 1]!), events]));
  return subjects.map((subject) => found.get(keyOf(subject)) ?? []);
}

/**
 * Limits the rows whose subjects callers choose (token operations, guesses, sign-ins): deletes the idle ones, then all
 * but the newest 200,000. Keeps the rows of other operations, whose windows are longer.
 *
 * @returns the number of rows deleted, at most 20,000 per call
 */
export async function trimLimitWindows(tx: Queryable, { at }: { at: Date }): Promise<number> {
  const operations = [...tokenLimitOperations, ...Object.keys(signInWindows), 'failed-sign-in-address'];
  const before = new Date(at.getTime() - tokenLimitIdleSeconds * 1000);
  const idle = await deleteIdleLimitWindows(tx, { operations, before });
  // Their windows last a day.
  const guesses = { operations: Object.keys(accountGuessWindows), before: new Date(at.getTime() - 86_400_000) };
  const idleGuesses = await deleteIdleLimitWindows(tx, guesses);
  const all = [...operations, ...guesses.operations];
  return idle + idleGuesses + (await capLimitWindows(tx, { operations: all, rows: tokenLimitRows }));
}

/** Maximum number of rows that one clean-up statement deletes, so that the job stays short. */
const batch = 10_000;

/**
 * Deletes subjects without an event since `before`. Index: last_event_at.
 *
 * @returns the number of rows deleted
 */
export async function deleteIdleLimitWindows(
  tx: Queryable,
  { operations, before }: { operations: readonly string[]; before: Date },
): Promise<number> {
  const rows = await tx`
    delete from limit_windows
    where (operation, subject) in (
      select operation, subject from limit_windows
      where last_event_at < ${before} and operation = any (${[...operations]}::text[])
      order by last_event_at
      limit ${batch}
      for update skip locked
    )`;
  return rows.count;
}

/**
 * Keeps the newest `rows` subjects of those operations, whose subjects callers choose, and deletes the others. Index:
 * last_event_at, read backwards.
 *
 * @returns the number of rows deleted
 */
export async function capLimitWindows(
  tx: Queryable,
  { operations, rows: most }: { operations: readonly string[]; rows: number },
): Promise<number> {
  const rows = await tx`
    delete from limit_windows
    where (operation, subject) in (
      select operation, subject from limit_windows
      where operation = any (${[...operations]}::text[])
      order by last_event_at desc
      offset ${most}
      limit ${batch}
    )`;
  return rows.count;
}
