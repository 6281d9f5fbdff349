/*
 * What a journey means, written a second time from docs/journeys.md, one user after the other and without a database. It shares
 * nothing with the product, so that a misunderstanding there is not repeated here.
 */

const minute = 60_000;

export type Span = { value: number; unit: 'MINUTES' };
export type NaiveCondition =
  | { type: 'user' }
  | { type: 'events'; included_filters: { filters: { action_name: string; execution: { count: number } }[] } };

/** A step as it is sent. Only what the generator of random graphs makes. */
export type NaiveStep = { id: string } & (
  | { type: 'wait'; duration: Span; next: string | null }
  | { type: 'wait_until_time'; time: string; weekdays: number[]; next: string | null }
  | { type: 'wait_for_event'; event: string; timeout: Span; next: string | null; timeout_next: string | null }
  | { type: 'branch'; condition: NaiveCondition; next: string | null; else_next: string | null }
  | { type: 'split'; ways: { percent: number; next: string | null }[] }
  | { type: 'send'; late: 'send' | 'skip' | 'exit'; next: string | null }
  | { type: 'update'; next: string | null }
  | { type: 'exit' }
);

export type NaiveGraph = {
  steps: readonly NaiveStep[];
  first: string;
  goal: string | undefined;
  exit: string | undefined;
  /** Open entries that one user may have; undefined: a user enters once. */
  atATime: number | undefined;
};

type Entry = {
  graph: NaiveGraph;
  enteredAt: number;
  step: string;
  arrivedAt: number;
  dueAt: number;
  eventAt: number | undefined;
  /** `time of leaving: step edge`. */
  passed: string[];
  sent: string[];
  end: string | undefined;
};

type NaiveEvent = { name: string; at: number };

/** A user, their entries, oldest first, and their events. */
export type NaiveUser = { entries: Entry[]; events: NaiveEvent[]; isMarked: boolean; isEverEntered: boolean };

export const makeNaiveUser = (): NaiveUser => ({ entries: [], events: [], isMarked: false, isEverEntered: false });

/** An event arrives at `now`; it happened at `event.at`. `Joined` lets the user enter the live graph. */
export function receive(user: NaiveUser, event: NaiveEvent, { now, live }: { now: number; live: NaiveGraph }): void {
  user.events.push(event);
  for (const entry of user.entries.filter(({ end }) => end === undefined)) {
    const { graph, enteredAt, arrivedAt } = entry;
    const step = graph.steps.find(({ id }) => id === entry.step)!;
    if (event.name === graph.goal && event.at > enteredAt) entry.end = 'GOAL';
    else if (event.name === graph.exit && event.at > enteredAt) entry.end = 'EXIT_EVENT';
    else if (step.type === 'wait_for_event' && step.event === event.name && event.at > arrivedAt)
      if (entry.eventAt === undefined) Object.assign(entry, { eventAt: event.at, dueAt: now });
  }
  if (event.name === 'Joined') enter(user, { now, live });
}

function enter(user: NaiveUser, { now, live }: { now: number; live: NaiveGraph }): void {
  const inside = user.entries.filter(({ end }) => end === undefined).length;
  if (live.atATime === undefined ? user.isEverEntered : inside >= live.atATime) return;
  user.isEverEntered = true;
  const place = { step: live.first, arrivedAt: now, dueAt: now, eventAt: undefined };
  user.entries.push({ graph: live, enteredAt: now, ...place, passed: [], sent: [], end: undefined });
}

/** Another user becomes part of this one. Of their open entries the oldest stay, as many as the one with more of them had. */
export function join(user: NaiveUser, other: NaiveUser): void {
  const open = ({ entries }: NaiveUser) => entries.filter(({ end }) => end === undefined);
  const kept = Math.max(open(user).length, open(other).length);
  const isShared = open(user).length > 0 && open(other).length > 0;
  user.entries = [...user.entries, ...other.entries].toSorted((one, two) => one.enteredAt - two.enteredAt);
  if (isShared) for (const entry of open(user).slice(kept)) entry.end = 'MERGED';
  user.events.push(...other.events);
  user.isMarked ||= other.isMarked;
  user.isEverEntered ||= other.isEverEntered;
}

/** Everything that is due goes on. `wayOf`: the way that a split gave to the entry; only its existence can be checked. */
export function goOn(user: NaiveUser, now: number, wayOf: (entry: Entry, step: string) => number): void {
  for (const entry of user.entries)
    if (entry.end === undefined && entry.dueAt <= now) walk(user, { entry, now, wayOf });
}

type Walk = { entry: Entry; now: number; wayOf: (entry: Entry, step: string) => number };

function walk(user: NaiveUser, { entry, now, wayOf }: Walk): void {
  const isLate = now - entry.dueAt > 60 * minute;
  while (entry.end === undefined) {
    const step = entry.graph.steps.find(({ id }) => id === entry.step)!;
    const taken = take(user, { entry, step, now, isLate, wayOf });
    if (typeof taken === 'number') {
      entry.dueAt = taken;
      return;
    }
    const { edge, to } = taken;
    entry.passed.push(`${now}: ${step.id} ${edge}`);
    if (step.type === 'send' && edge === 'next') entry.sent.push(step.id);
    if (step.type === 'send' && edge === 'late' && step.late === 'exit') entry.end = 'LATE';
    else if (to === null) entry.end = 'COMPLETED';
    else Object.assign(entry, { step: to, arrivedAt: now, eventAt: undefined });
  }
}

type Taking = Walk & { step: NaiveStep; isLate: boolean };

/** The edge by which the user leaves the step, or until when they wait. */
function take(
  user: NaiveUser,
  { entry, step, now, isLate, wayOf }: Taking,
): number | { edge: string; to: string | null } {
  const after = (until: number, edge: string, to: string | null) => (until > now ? until : { edge, to });
  switch (step.type) {
    case 'wait':
      return after(entry.arrivedAt + step.duration.value * minute, 'next', step.next);
    case 'wait_until_time':
      return after(nextTime(step, entry.arrivedAt), 'next', step.next);
    case 'wait_for_event':
      if (entry.eventAt !== undefined) return { edge: 'event', to: step.next };
      return after(entry.arrivedAt + step.timeout.value * minute, 'timeout', step.timeout_next);
    case 'branch':
      return isMet(user, { entry, condition: step.condition })
        ? { edge: 'yes', to: step.next }
        : { edge: 'no', to: step.else_next };
    case 'split': {
      const way = wayOf(entry, step.id);
      return { edge: `way ${way}`, to: step.ways[way - 1]!.next };
    }
    case 'send':
      return { edge: isLate && step.late !== 'send' ? 'late' : 'next', to: step.next };
    case 'update':
      user.isMarked = true;
      return { edge: 'next', to: step.next };
    case 'exit':
      return { edge: 'end', to: null };
  }
}

function isMet(user: NaiveUser, { entry, condition }: { entry: Entry; condition: NaiveCondition }): boolean {
  if (condition.type === 'user') return user.isMarked;
  const [filter] = condition.included_filters.filters;
  const { action_name: name, execution } = filter!;
  return user.events.filter((event) => event.name === name && event.at > entry.enteredAt).length >= execution.count;
}

/** In UTC, minute by minute. */
function nextTime({ time, weekdays }: { time: string; weekdays: number[] }, arrivedAt: number): number {
  for (let at = Math.ceil(arrivedAt / minute) * minute; ; at += minute) {
    const date = new Date(at);
    const weekday = date.getUTCDay() === 0 ? 7 : date.getUTCDay();
    if (date.toISOString().slice(11, 16) === time && weekdays.includes(weekday)) return at;
  }
}
