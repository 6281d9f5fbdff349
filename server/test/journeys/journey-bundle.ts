import { eventsOf, storeEvents } from '../../src/app/users/events.ts';
import { lockOrMakeUser } from '../../src/app/users/users.ts';
import { makeManualClock } from '../../src/clock.ts';
import { eventNamesOf, readStoredGraph } from '../../src/domain/journeys/read-graph.ts';
import { makeId } from '../../src/domain/ids.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { makeAdvanceJourneys } from '../../src/engine/journeys/advance-journeys.ts';
import type { AdvanceJourneysDependencies } from '../../src/engine/journeys/advance-journeys.ts';
import type { Logger } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { ensureEventsPartition } from '../../src/storage/users/events.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export type JourneyBundle = Awaited<ReturnType<typeof makeJourneyBundle>>;

export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
export const start = new Date('2026-03-09T12:00:00Z'); // a Monday

/** Filters of events by name. */
export const did = (...names: string[]) => ({
  filter_operator: 'or',
  filters: names.map((action_name) => ({ filter_type: 'actions', action_name })),
});
export const span = (value: number, unit = 'HOURS') => ({ value, unit });
export const wait = (id: string, next: string | null, hours = 1) => ({ type: 'wait', id, duration: span(hours), next });
export const send = (id: string, next: string | null, more: object = {}) => ({
  type: 'send',
  id,
  message: { platforms: ['ANDROID'] },
  next,
  ...more,
});
export const exit = (id: string) => ({ type: 'exit', id });
export const waitForEvent = (id: string, next: string | null, timeoutNext: string | null) => ({
  ...{ type: 'wait_for_event', id, included_filters: did('Bought'), timeout: span(2) },
  ...{ next, timeout_next: timeoutNext },
});

type Tracked = { attributes?: Record<string, unknown>; ago?: number; sender?: 'server' | 'app' };

/** Journeys on a real database, with a clock that stands until it is moved. */
export async function makeJourneyBundle() {
  const { database, drop, url } = await createTestDatabase();
  const clock = makeManualClock(start);
  const workspaceId = await insertTestWorkspace(database, start);
  const logged: Record<string, unknown>[] = [];
  const log = { error: (line: Record<string, unknown>) => void logged.push(line) } as unknown as Logger;
  const makeJob = (more: Partial<AdvanceJourneysDependencies> = {}) =>
    makeAdvanceJourneys({ database, log, lateSendMinutes: 60, ...more });
  const job = makeJob();

  /** A live journey that `Joined` lets people enter. The campaign of each send step is named like the step. */
  async function publish(
    steps: readonly object[],
    more: Record<string, unknown> = {},
    id = makeId(start),
  ): Promise<string> {
    const graph = {
      entry: { type: 'event', included_filters: did('Joined') },
      first_step: (steps[0] as { id: string }).id,
      steps,
      ...more,
    };
    const { entry, watched } = eventNamesOf(readStoredGraph(graph));
    const sends = (steps as { id: string; type: string }[]).filter(({ type }) => type === 'send');
    const campaigns = Object.fromEntries(sends.map((step) => [step.id, `campaign of ${step.id}`]));
    await inTransaction(database, async (tx) => {
      await tx`
        insert into journeys (id, workspace_id, name, status, version, created_by, created_at, updated_by, updated_at)
        values (${id}, ${workspaceId}, ${id}, 'ACTIVE', 1, 'test', ${start}, 'test', ${start})
        on conflict (id) do update set version = journeys.version + 1`;
      await tx`
        insert into journey_versions (journey_id, version, workspace_id, graph, campaigns, entry_events, watched_events,
          published_at, published_by)
        select id, version, workspace_id, ${tx.json(graph)}, ${tx.json(campaigns)}, ${entry}, ${watched}, ${start}, 'test'
        from journeys where id = ${id}`;
    });
    return id;
  }

  /** Stores events of a user in a transaction that the caller ends. */
  async function trackIn(tx: Transaction, event: Tracked & { customerId: string; name: string }): Promise<void> {
    const { customerId, name, attributes = {}, ago = 0, sender = 'server' } = event;
    const at = clock.now();
    const sent = new Date(at.getTime() - ago);
    const action = { name, attributes, platform: null, appVersion: null, utcOffsetSeconds: null };
    const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
    const events = eventsOf({ actions: [{ ...action, time: { sent, member: 'user_time' } }], at });
    await storeEvents(tx, { workspaceId, at, users: [{ bucket, userId, deviceId: null, events }], sender });
  }

  return {
    ...{ database, drop, url, clock, workspaceId, logged, makeJob, publish, trackIn },
    async track(customerId: string, name: string, more: Tracked = {}): Promise<void> {
      await ensureEventsPartition(database, clock.now().toISOString().slice(0, 10));
      await inTransaction(database, (tx) => trackIn(tx, { customerId, name, ...more }));
    },
    /** Everything that is due goes on, after the clock moved. */
    async pass(milliseconds = 0): Promise<void> {
      clock.advance(milliseconds);
      await ensureEventsPartition(database, clock.now().toISOString().slice(0, 10));
      while ((await job.runOnce(clock.now())) > 0);
    },
    async setAttributes(customerId: string, attributes: Record<string, unknown>): Promise<void> {
      const { database: on } = { database };
      await on`update users set attributes = ${on.json(attributes)} where customer_id = ${customerId}`;
    },
    async attributes(customerId: string): Promise<unknown> {
      const [row] = await database`
        select attributes from users where bucket = ${bucketOf(customerId)} and customer_id = ${customerId}`;
      return row!.attributes;
    },
    /** Each entry of a person: the steps it passed, and where it is or why it ended. */
    async paths(customerId: string): Promise<string[]> {
      const rows = await database`
        select positions.step, positions.end_reason as reason, array(
          select passages.step || ' ' || passages.edge from journey_passages as passages
          where passages.bucket = positions.bucket and passages.entry_id = positions.entry_id and passages.user_id = positions.user_id
          order by passages.left_at, passages.ctid
        ) as passed
        from journey_positions as positions join users on users.bucket = positions.bucket and users.id = positions.user_id
        where users.customer_id = ${customerId} order by positions.entered_at, positions.entry_id`;
      return rows.map(({ step, reason, passed }) => [...passed, reason ?? `at ${step}`].join(', '));
    },
    /** The messages that are to be sent: the step, and the attributes that personalise it. */
    async sends(customerId: string): Promise<string[]> {
      const rows = await database`
        select triggers.campaign_id as campaign, triggers.attributes from triggers
        join users on users.bucket = triggers.bucket and users.id = triggers.user_id
        where users.customer_id = ${customerId} order by triggers.due_at, triggers.campaign_id`;
      return rows.map(
        ({ campaign, attributes }) => `${campaign.slice('campaign of '.length)} ${JSON.stringify(attributes)}`,
      );
    },
    async figures(journeyId: string): Promise<Record<string, number>> {
      const rows = await database`
        select step, edge, sum(entries)::int as users from journey_figures where journey_id = ${journeyId}
        group by step, edge order by step, edge`;
      return Object.fromEntries(rows.map(({ step, edge, users }) => [`${step} ${edge}`.trim(), users]));
    },
  };
}
