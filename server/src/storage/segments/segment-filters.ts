import { storedNameOf } from '../../domain/users/standard-attributes.ts';
import { isoTimePattern } from '../../domain/timing/iso-time.ts';
import type {
  ActionFilter,
  AttributeFilter,
  FlagTest,
  GroupFilter,
  NumberTest,
  SegmentFilter,
  SegmentReference,
  TextTest,
  TimeTest,
} from '../../domain/segments/filter.ts';
import { actionRange, timeRanges } from '../../domain/segments/filter.ts';
import type { Fragment, Queryable } from '../database.ts';
import { utcDay } from '../runs/runs.ts';
import { isInBuckets } from '../users/buckets.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/**
 * Filter trees in which every reference to a filter segment has been replaced by its trees. Any remaining reference is
 * to a file segment or a cohort; others have no members.
 */
export type FilterAudience = {
  workspaceId: string;
  included: SegmentFilter;
  excluded?: SegmentFilter | undefined;
  /** The reference time of "today" and "the last days". */
  at: Date;
};

/** Counts the users that match a filter segment now. Reads every user of the workspace once: users primary key. */
export async function countFilterUsers(tx: Queryable, audience: FilterAudience): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from users where ${isInAudience(tx, audience)}`;
  return row!.users;
}

/**
 * Stores the users that match a filter segment now as members of `segmentId` (a run's own id) at version 0, and returns
 * their number. Reads every user of the workspace, or of the given buckets, once; every row stays in its bucket, in no order.
 * A second call for one id and bucket is unexpected and fails on the primary key: a bucket must not mix two points in time.
 */
export async function freezeFilterAudience(
  tx: Queryable,
  audience: FilterAudience & { segmentId: string; buckets?: readonly number[] },
): Promise<number> {
  const rows = await tx`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select users.workspace_id, users.bucket, ${audience.segmentId}::text, users.id, 0
    from users where ${isInAudience(tx, audience)}
      and ${audience.buckets === undefined ? tx`true` : isInBuckets(tx, { column: tx`users.bucket`, buckets: audience.buckets })}`;
  return rows.count;
}

/** Streams the customer ids of the same users, in pages. Reads every user of the workspace once. */
export function streamFilterUsers(tx: Queryable, audience: FilterAudience): AsyncIterable<{ customerId: string }[]> {
  return tx<{ customerId: string }[]>`
    select users.customer_id as "customerId" from users where ${isInAudience(tx, audience)}
    order by users.bucket, users.id`.cursor(1_000);
}

/*
 * The conditions below are built of nested fragments; every value from a filter is a parameter. Each is true or false,
 * never null, so that `not` inverts it. No stored value may raise an error: a conversion is inside the branch of a
 * `case` that has checked the value's type, because PostgreSQL may evaluate the sides of an `and` in any order.
 */

/** The condition under which a row of `users` belongs to an audience, for statements about other things. */
export function isInAudience(tx: Queryable, { workspaceId, included, excluded, at }: FilterAudience): Fragment {
  const place = { workspaceId, at };
  return tx`users.workspace_id = ${workspaceId} and ${holds(tx, included, place)}
    ${excluded === undefined ? tx`` : tx`and not ${holds(tx, excluded, place)}`}`;
}

/** The workspace and the time that a filter is evaluated for, and the rows whose attributes it reads. */
type Place = { workspaceId: string; at: Date; of?: 'events' };

function holds(tx: Queryable, filter: SegmentFilter, place: Place): Fragment {
  const condition = conditionOf(tx, filter, place);
  return filter.negate ? tx`(not ${condition})` : condition;
}

function conditionOf(tx: Queryable, filter: SegmentFilter, place: Place): Fragment {
  switch (filter.kind) {
    case 'group':
      return everyOrAny(tx, filter, place);
    case 'segment':
      return isMember(tx, filter, place);
    case 'attribute':
      return passes(tx, filter, place);
    case 'action':
      return hasDone(tx, filter, place);
    default:
      return unknownCase(filter);
  }
}

function everyOrAny(tx: Queryable, group: GroupFilter, place: Place): Fragment {
  const conditions = group.filters.map((filter) => holds(tx, filter, place));
  return group.operator === 'and'
    ? tx`(true ${conditions.map((condition) => tx`and ${condition}`)})`
    : tx`(false ${conditions.map((condition) => tx`or ${condition}`)})`;
}

/**
 * Compares with the version that readers see, not with an operation under way. A separate sub-select reads the version
 * once: the segment's row is not in a bucket. Without a version the condition is null, and no user is a member. Index:
 * segment_members primary key.
 */
function isMember(tx: Queryable, reference: SegmentReference, { workspaceId }: Place): Fragment {
  const version = tx`(
    select segments.version from segments
    where segments.id = ${reference.id} and segments.workspace_id = ${workspaceId}
      and segments.kind in ('FILE', 'COHORT')
  )`;
  return tx`exists (
    select from segment_members as member
    where member.workspace_id = users.workspace_id and member.bucket = users.bucket and member.user_id = users.id
      and member.segment_id = ${reference.id} and member.added_in <= ${version}
      and (member.removed_in is null or member.removed_in > ${version})
  )`;
}

/**
 * Counts a user's events. For "at least once" and "never" the planner may look up each user's events, or read the events
 * once and hash their users. Counts group by the bucket, because a cluster rejects an aggregate without a group next to a
 * column of another query. A partition holds the events received in a day, none of which happened later, so days before
 * the span are not read. Index: events_user of each day.
 */
function hasDone(
  tx: Queryable,
  { eventName, compared, count, during, attributes }: ActionFilter,
  place: Place,
): Fragment {
  const { from, until } = actionRange(during, place.at);
  const isIn = tx`
    ${from === undefined ? tx`` : tx`and done.day >= ${utcDay(new Date(from))}::date and done.occurred_at >= ${new Date(from)}`}
    ${until === undefined ? tx`` : tx`and done.occurred_at < ${new Date(until)}`}`;
  const isMeant = tx`
    done.workspace_id = users.workspace_id and done.bucket = users.bucket and done.user_id = users.id
    and done.name = ${eventName} ${isIn}
    ${attributes === undefined ? tx`` : tx`and ${holds(tx, attributes, { ...place, of: 'events' })}`}`;
  const atLeast = (wanted: number): Fragment =>
    wanted === 1
      ? tx`exists (select from events as done where ${isMeant})`
      : tx`(exists (select from events as done where ${isMeant}) and exists (
          select from events as done where ${isMeant} group by done.bucket having count(*) >= ${wanted}
        ))`;
  switch (compared) {
    case 'atleast':
      return atLeast(count);
    case 'atmost':
      return tx`(not ${atLeast(count + 1)})`;
    case 'exactly':
      return count === 0 ? tx`(not ${atLeast(1)})` : tx`(${atLeast(count)} and not ${atLeast(count + 1)})`;
    default:
      return unknownCase(compared);
  }
}

function passes(tx: Queryable, filter: AttributeFilter, { at, of }: Place): Fragment {
  const isOfEvent = of === 'events';
  // Names of event attributes are stored as they are sent.
  const name = isOfEvent ? filter.name : storedNameOf(filter.name);
  const value = isOfEvent
    ? tx`(done.attributes -> ${name}::text)`
    : name === 'uid'
      ? tx`to_jsonb(users.customer_id)`
      : tx`(users.attributes -> ${name}::text)`;
  switch (filter.dataType) {
    case 'string':
      return isOfEvent ? eventTextPasses(tx, filter.test, value) : textPasses(tx, filter.test, value);
    case 'double':
      return isOfEvent ? eventNumberPasses(tx, filter.test, value) : numberPasses(tx, filter.test, value);
    case 'bool':
      return flagPasses(tx, filter.test, value);
    case 'datetime':
      return timePasses(tx, { test: filter.test, at }, value);
    // A customer id is a text, never a list, and the function that makes it JSON cannot be expanded into rows on a
    // cluster.
    case 'array_string':
      if (filter.name === 'uid') return tx`false`;
      return textListPasses(tx, filter, value);
    case 'array_double':
      if (filter.name === 'uid') return tx`false`;
      return numberListPasses(tx, filter, value);
    default:
      return unknownCase(filter);
  }
}

/**
 * Without items both aggregates are null: an empty list, like a value that is not a list, never passes. The wanted
 * values are converted once by a `with`, not by a sub-select: a cluster accepts no sub-select inside another next to a
 * function's rows. Without `lateral` a cluster rewrites the statement wrongly.
 */
function listPasses(
  tx: Queryable,
  { quantifier, wanted, isPassed }: { quantifier: 'any_of' | 'all_of'; wanted?: Fragment; isPassed: Fragment },
  value: Fragment,
): Fragment {
  return tx`coalesce((
    ${wanted === undefined ? tx`` : tx`with wanted as materialized (${wanted})`}
    select ${quantifier === 'any_of' ? tx`bool_or` : tx`bool_and`}(${isPassed})
    from ${wanted === undefined ? tx`` : tx`wanted cross join lateral`}
      jsonb_array_elements(case when jsonb_typeof(${value}) = 'array' then ${value} else '[]' end) as item (value)
  ), false)`;
}

function textPasses(tx: Queryable, test: TextTest, value: Fragment): Fragment {
  if (test.operator === 'exists') return hasType(tx, 'string', value);
  const subject = comparable(tx, test, tx`${value} #>> '{}'`);
  const wanted = tx`select ${wantedText(tx, test, tx`sent.value`)} from unnest(${test.values}::text[]) as sent (value)`;
  // Each form evaluates the wanted texts once: `in` builds a hash of them.
  const condition = test.operator === 'in' ? tx`${subject} in (${wanted})` : tx`${subject} like any(array(${wanted}))`;
  return tx`(case when jsonb_typeof(${value}) = 'string' then ${condition} else false end)`;
}

/**
 * As for users, with the wanted texts written out: inside the look-up of an event a cluster accepts no further sub-select.
 */
function eventTextPasses(tx: Queryable, test: TextTest, value: Fragment): Fragment {
  if (test.operator === 'exists') return hasType(tx, 'string', value);
  const subject = comparable(tx, test, tx`${value} #>> '{}'`);
  const wanted = listed(
    tx,
    test.values.map((text) => wantedText(tx, test, tx`${text}::text`)),
  );
  const condition = test.operator === 'in' ? tx`${subject} in (${wanted})` : tx`${subject} like any(array[${wanted}])`;
  return tx`(case when jsonb_typeof(${value}) = 'string' then ${condition} else false end)`;
}

function eventNumberPasses(tx: Queryable, test: NumberTest, value: Fragment): Fragment {
  if (test.operator !== 'in') return numberPasses(tx, test, value);
  const wanted = listed(
    tx,
    test.values.map((number) => tx`${String(number)}::text::numeric`),
  );
  return tx`(case when jsonb_typeof(${value}) = 'number' then ${value}::numeric in (${wanted}) else false end)`;
}

function listed(tx: Queryable, items: readonly Fragment[]): Fragment {
  return tx`${items.map((item, index) => (index === 0 ? item : tx`, ${item}`))}`;
}

/** For lists: looking up a key in an object takes a few steps, where an array would be scanned for every item. */
function textListPasses(
  tx: Queryable,
  { quantifier, test }: { quantifier: 'any_of' | 'all_of'; test: TextTest },
  value: Fragment,
): Fragment {
  const item = tx`item.value`;
  if (test.operator === 'exists') return listPasses(tx, { quantifier, isPassed: hasType(tx, 'string', item) }, value);
  const subject = comparable(tx, test, tx`${item} #>> '{}'`);
  const isWanted = test.operator === 'in' ? tx`wanted.names ? ${subject}` : tx`${subject} like any(wanted.patterns)`;
  const text = wantedText(tx, test, tx`sent.value`);
  const wanted = tx`
    select ${test.operator === 'in' ? tx`jsonb_object_agg(${text}, true) as names` : tx`array_agg(${text}) as patterns`}
    from unnest(${test.values}::text[]) as sent (value)`;
  const isPassed = tx`(case when jsonb_typeof(${item}) = 'string' then ${isWanted} else false end)`;
  return listPasses(tx, { quantifier, wanted, isPassed }, value);
}

/** The text to equal or the pattern to match. Special characters of the wanted texts are escaped. */
function wantedText(tx: Queryable, test: Exclude<TextTest, { operator: 'exists' }>, sent: Fragment): Fragment {
  const text = comparable(tx, test, sent);
  const literal = tx`regexp_replace(${text}, '[%_\\\\]', '\\\\\\&', 'g')`;
  switch (test.operator) {
    case 'in':
      return text;
    case 'contains':
      return tx`'%' || ${literal} || '%'`;
    case 'startsWith':
      return tx`${literal} || '%'`;
    case 'endsWith':
      return tx`'%' || ${literal}`;
    default:
      return unknownCase(test.operator);
  }
}

/**
 * NFC, and upper case by the rules of Unicode (ICU) whatever the database's locale: under "C", which the embedded
 * server has, only ASCII letters would change. Both sides are converted by the database, so that one version of Unicode
 * applies.
 */
function comparable(tx: Queryable, { isCaseSensitive }: { isCaseSensitive: boolean }, text: Fragment): Fragment {
  return isCaseSensitive
    ? tx`(normalize(${text}) collate "C")`
    : tx`(upper(normalize(${text}) collate "und-x-icu") collate "C")`;
}

/** Compared as numeric, which can represent every JSON number. The parameter is text: a double would be cut to 15 digits. */
function numberPasses(tx: Queryable, test: NumberTest, value: Fragment): Fragment {
  const number = tx`${value}::numeric`;
  const passesWhen = (condition: Fragment): Fragment =>
    tx`(case when jsonb_typeof(${value}) = 'number' then ${condition} else false end)`;
  switch (test.operator) {
    case 'exists':
      return hasType(tx, 'number', value);
    case 'in':
      return passesWhen(
        tx`${number} in (select sent.value::numeric from unnest(${test.values.map(String)}::text[]) as sent (value))`,
      );
    case 'lessThan':
      return passesWhen(tx`${number} < ${String(test.value)}::text::numeric`);
    case 'greaterThan':
      return passesWhen(tx`${number} > ${String(test.value)}::text::numeric`);
    case 'between':
      return passesWhen(
        tx`${number} between ${String(test.lower)}::text::numeric and ${String(test.upper)}::text::numeric`,
      );
    default:
      return unknownCase(test);
  }
}

/** As for texts, by the shortest form of each number. */
function numberListPasses(
  tx: Queryable,
  { quantifier, test }: { quantifier: 'any_of' | 'all_of'; test: NumberTest },
  value: Fragment,
): Fragment {
  const item = tx`item.value`;
  if (test.operator !== 'in') return listPasses(tx, { quantifier, isPassed: numberPasses(tx, test, item) }, value);
  const wanted = tx`
    select jsonb_object_agg(trim_scale(sent.value::numeric)::text, true) as names
    from unnest(${test.values.map(String)}::text[]) as sent (value)`;
  const isPassed = tx`(case when jsonb_typeof(${item}) = 'number'
    then wanted.names ? trim_scale(${item}::numeric)::text else false end)`;
  return listPasses(tx, { quantifier, wanted, isPassed }, value);
}

function flagPasses(tx: Queryable, test: FlagTest, value: Fragment): Fragment {
  return test.operator === 'exists'
    ? hasType(tx, 'boolean', value)
    : tx`coalesce(${value} = to_jsonb(${test.value}::boolean), false)`;
}

/** All ranges in one value, so that the time is read once without a sub-select, which no shard would accept. */
function timePasses(tx: Queryable, { test, at }: { test: TimeTest; at: Date }, value: Fragment): Fragment {
  // A range that ends before it begins contains nothing, and PostgreSQL would reject it.
  const ranges = timeRanges(test, at).filter(({ from, until }) => from < until);
  const wanted = `{${ranges.map(({ from, until }) => `[${from},${until})`).join(',')}}`;
  return tx`coalesce(${wanted}::int8multirange @> ${milliseconds(tx, value)}, false)`;
}

/**
 * A stored time in milliseconds since 1970, or null if the value is not a time. Seconds must be in the years 1 to 9999.
 * The pattern matches only what timestamptz can read, and the offset is always written out, so no setting of the
 * session matters. The parts of a matching text are at known positions: regexp_match would return them too, in eight
 * times the time of `~` (20 µs a user).
 */
function milliseconds(tx: Queryable, value: Fragment): Fragment {
  const text = tx`(${value} #>> '{}')`;
  // Written out: a cluster rewrites `case x when y` as `case x when x = y`.
  return tx`(case
    when jsonb_typeof(${value}) = 'number' then
      case when ${value}::numeric >= -62135596800 and ${value}::numeric < 253402300800
        then round(${value}::numeric * 1000)::bigint end
    when jsonb_typeof(${value}) = 'string' then
      case when ${text} ~ ${isoTimePattern}::text then (extract(epoch from (
        left(${text}, 10) || 'T' || coalesce(nullif(substr(${text}, 12, 5), ''), '00:00')
          || case when substr(${text}, 17, 1) = ':' then substr(${text}, 17, 3) else ':00' end
          || coalesce(substring(${text} from '[.][0-9]{1,3}'), '')
          || coalesce(substring(${text} from '[+-][0-9]{2}:?[0-9]{2}$'), 'Z')
      )::timestamptz) * 1000)::bigint end
  end)`;
}

function hasType(tx: Queryable, type: 'string' | 'number' | 'boolean', value: Fragment): Fragment {
  return tx`coalesce(jsonb_typeof(${value}) = ${type}::text, false)`;
}
