import { eventsOf, storeEvents } from '../../src/app/users/events.ts';
import { lockOrMakeUser } from '../../src/app/users/users.ts';
import { makeReleaseDueTriggers } from '../../src/engine/triggers.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { ensureEventsPartition } from '../../src/storage/users/events.ts';
import { makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';

export type TriggerBundle = Awaited<ReturnType<typeof makeTriggerBundle>>;

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

type Tracked = { attributes?: Record<string, unknown>; ago?: number };

/** The campaign routes and the engine, with events that come in, on a clock that stands. */
export async function makeTriggerBundle() {
  const bundle = await makeAuthoringBundle();
  const { database, clock, workspaceId } = bundle;
  const log = makeLog({ level: 'silent', pretty: false });
  const job = makeReleaseDueTriggers({ database, log, lateSendMinutes: 60, onReleased() {} });
  const release = () => job.runOnce(clock.now());
  return {
    ...bundle,
    releaseTriggers: release,
    /** An event of a user, received now; `ago`: milliseconds since it happened. */
    async track(customerId: string, name: string, { attributes = {}, ago = 0 }: Tracked = {}): Promise<void> {
      const at = clock.now();
      await ensureEventsPartition(database, at.toISOString().slice(0, 10));
      const action = { name, attributes, platform: null, appVersion: null, utcOffsetSeconds: null };
      const sent = new Date(at.getTime() - ago);
      const actions = [{ ...action, time: { sent, member: 'user_time' as const } }];
      await inTransaction(database, async (tx) => {
        const { bucket, userId } = await lockOrMakeUser(tx, { workspaceId, customerId, at });
        const events = eventsOf({ actions, at });
        await storeEvents(tx, { workspaceId, at, users: [{ bucket, userId, deviceId: null, events }] });
      });
    },
    /** What is due is released and sent. @returns whom the provider was asked to reach, sorted */
    async deliverDue(): Promise<string[]> {
      await release();
      return bundle.deliver();
    },
    async triggers(campaignId: string): Promise<string[]> {
      const rows = await database`
        select users.customer_id as customer, triggers.state, triggers.reason from triggers
        left join users on users.bucket = triggers.bucket and users.id = triggers.user_id
        where triggers.campaign_id = ${campaignId} order by 1, triggers.occurred_at`;
      return rows.map(({ customer, state, reason }) => `${customer} ${state}${reason === null ? '' : ` ${reason}`}`);
    },
  };
}

/** A filter of one event. */
export const did = (action_name: string, more: object = {}) => ({ filter_type: 'actions', action_name, ...more });
export const didNot = (action_name: string, more: object = {}) =>
  did(action_name, { executed: false, execution: { type: 'exactly', count: 0 }, ...more });

/** The members of a campaign that the event `Left` starts at once. */
export function triggered(condition: object = {}, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    campaign_delivery_type: 'EVENT_TRIGGERED',
    trigger_condition: {
      included_filters: { filter_operator: 'or', filters: [did('Left')] },
      trigger_delay_type: 'ASAP',
      ...condition,
    },
    basic_details: { name: 'Come back', platforms: ['ANDROID', 'IOS', 'WEB'] },
    ...more,
  };
}

export const afterHours = (hours: number) => ({
  trigger_delay_type: 'DELAY',
  trigger_delay_value: hours,
  trigger_delay_granularity: 'HOURS',
});
