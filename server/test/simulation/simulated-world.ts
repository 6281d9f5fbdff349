import { storePushes } from '../../src/app/push/store-pushes.ts';
import { changeWorkspace, parseControls } from '../../src/app/workspaces/change-workspace.ts';
import type { WorkspaceControlTexts } from '../../src/app/workspaces/change-workspace.ts';
import type { Clock } from '../../src/clock.ts';
import { defaultDeliverySettings, sendUntil } from '../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import type { Platform } from '../../src/domain/campaigns/content.ts';
import { makeId } from '../../src/domain/ids.ts';
import { addDays, localDate, toInstant } from '../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../src/domain/timing/next-occurrences.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { bucketOf } from '../../src/domain/users/bucket.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import type { WorkspaceChanges } from '../../src/storage/installation/workspaces.ts';
import type { Random } from '../torture/make-random.ts';
import { browserSubscription } from './browser-subscription.ts';

export type WorldDevice = {
  id: string;
  name: string;
  userId: string;
  bucket: number;
  platform: Platform;
  timeZone: string;
  addedAt: number;
};

export type WorldCampaign = {
  id: string;
  name: string;
  acceptedAt: number;
  timing: Timing;
  settings: DeliverySettings;
  /** Of a send to named users. */
  users: Set<string> | undefined;
  /** When it was to be sent; empty for at once. */
  occurrences: number[];
  changes: { action: 'pause' | 'resume' | 'stop'; at: number; realAt: number; requestsBefore: number }[];
};

export type World = Awaited<ReturnType<typeof makeWorld>>;

const platforms: Platform[] = ['ANDROID', 'IOS', 'WEB'];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'];
const quietHours = '22:00-07:00';
const hour = 3_600_000;

/** Everything a seed has to send, and to whom. Ids follow from the seed, so that a replay has the same order. */
export async function makeWorld({ database, clock, random }: { database: Database; clock: Clock; random: Random }) {
  const idAt = (at: Date): string =>
    makeId(
      at,
      Uint8Array.from({ length: 6 }, () => random.between(0, 255)),
    );
  const begin = clock.now();
  const workspaceId = `WS${idAt(begin).toUpperCase()}`;
  const names = new Map<string, string>();
  const devices: WorldDevice[] = [];
  const campaigns: WorldCampaign[] = [];
  const hasQuietHours = random.next() < 0.4;

  await database`
    insert into workspaces (id, db_name, name, created_at)
    values (${workspaceId}, ${`db_${workspaceId.toLowerCase()}`}, 'Simulated', ${begin})`;
  if (hasQuietHours) {
    const controls = parseControls({ quietHours, quietMode: 'HOLD' } as WorkspaceControlTexts);
    await changeWorkspace({ database }, { id: workspaceId, ...controls } as WorkspaceChanges & { id: string });
  }

  async function addDevices(count: number): Promise<void> {
    const at = clock.now();
    const added = Array.from({ length: count }, (_, index): WorldDevice => {
      const name = `d${devices.length + index}`;
      const id = idAt(at);
      names.set(id, name);
      const timeZone = zones[random.between(0, zones.length - 1)]!;
      return {
        id,
        name,
        userId: id,
        bucket: bucketOf(name),
        platform: platforms[(devices.length + index) % 3]!,
        timeZone,
        addedAt: at.getTime(),
      };
    });
    devices.push(...added);
    const column = <Value>(pick: (device: WorldDevice) => Value): Value[] => added.map(pick);
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.name, jsonb_build_object('time_zone', row.zone), ${at}, ${at}
      from unnest(${column(({ bucket }) => bucket)}::smallint[], ${column(({ id }) => id)}::text[],
        ${column(({ name }) => name)}::text[], ${column(({ timeZone }) => timeZone)}::text[]) as row (bucket, id, name, zone)`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.push_id, 'ACTIVE', ${at}, ${at}, ${at}
      from unnest(${column(({ bucket }) => bucket)}::smallint[], ${column(({ id }) => id)}::text[],
        ${column(({ platform }) => platform)}::text[],
        ${column(({ platform, name }) => (platform === 'WEB' ? browserSubscription(name) : name))}::text[])
        as row (bucket, id, platform, push_id)`;
  }

  /** Accepts a campaign, as the push API does. */
  async function addCampaign(): Promise<WorldCampaign> {
    const at = clock.now();
    const picked = pickTiming(random, at);
    // Where the first zone's time has passed, nothing would be left: such a schedule is refused at the edge.
    const timing: Timing = nextOccurrences(picked, { after: at, count: 1 }).length > 0 ? picked : { kind: 'soon' };
    const settings = pickSettings(random);
    const users = timing.kind === 'soon' && random.next() < 0.3 ? devices.filter(() => random.next() < 0.5) : undefined;
    const [campaignId, runId] = [idAt(at), idAt(at)];
    const name = `c${campaigns.length}`;
    const text = { title: 'T', message: 'M' };
    const content = {
      ANDROID: { ...text, richContent: [], additionalActions: [] },
      IOS: { ...text, enableBadge: false, richContent: [], additionalActions: [] },
      WEB: { ...text, redirectUrl: 'https://a.b/', iconUrl: 'https://a.b/i.png', autoDismiss: false },
    };
    const asked = {
      requestId: 'r',
      platforms,
      audience: { kind: 'all-users' },
      content,
      timing,
      tags: [],
      conversionGoals: [],
      settings,
    };
    await inTransaction(database, (tx) =>
      storePushes(tx, [
        {
          responseId: crypto.randomUUID(),
          ...{ workspaceId, name, signedBy: 'the simulation', command: asked as never, segmentId: undefined },
          targetUsers: users?.map(({ bucket, userId }) => [bucket, userId]),
          existing: undefined,
          ...{ campaignId, runId, at, sendUntil: sendUntil(settings, at) },
        },
      ]),
    );
    names.set(campaignId, name);
    const campaign: WorldCampaign = {
      ...{ id: campaignId, name, acceptedAt: at.getTime(), timing, settings, changes: [] },
      users: users && new Set(users.map(({ userId }) => userId)),
      occurrences: nextOccurrences(timing, { after: at, count: 100 }).map((occurrence) => occurrence.getTime()),
    };
    campaigns.push(campaign);
    return campaign;
  }

  await addDevices(random.between(4, 40));
  return {
    workspaceId,
    devices,
    campaigns,
    hasQuietHours,
    addDevices,
    addCampaign,
    /** A run has the name of its campaign and the instant it was made. */
    nameOf(id: string, campaignId?: string): string {
      const known = names.get(id);
      if (known !== undefined || campaignId === undefined)
        return known ?? `run@${Number.parseInt(id.slice(0, 12), 16) - begin.getTime()}`;
      const name = `${names.get(campaignId)!}@${Number.parseInt(id.slice(0, 12), 16) - begin.getTime()}`;
      names.set(id, name);
      return name;
    },
  };
}

function pickTiming(random: Random, now: Date): Timing {
  const timeZone = zones[random.between(0, zones.length - 1)]!;
  // Every quarter of an hour, so that the hours a clock change skips and repeats are among them.
  const time = `${String(random.between(0, 23)).padStart(2, '0')}:${['00', '15', '30', '45'][random.between(0, 3)]!}`;
  const share = random.next();
  if (share < 0.45) return { kind: 'soon' };
  const inUserZone =
    random.next() < 0.25 ? { inUserZone: random.next() < 0.5 ? ('SKIP' as const) : ('SEND' as const) } : {};
  const today = localDate(now, timeZone);
  if (share < 0.75) {
    const date = addDays(today, inUserZone.inUserZone ? 2 : random.between(0, 1));
    const at = toInstant({ date, time, timeZone });
    return at > now ? { kind: 'later', at, date, time, timeZone, ...inUserZone } : { kind: 'soon' };
  }
  const firstDate = addDays(today, 1);
  const endDate = addDays(firstDate, random.between(0, 3));
  return { kind: 'periodic', repeatAfterDays: random.between(1, 2), firstDate, endDate, time, timeZone, ...inUserZone };
}

function pickSettings(random: Random): DeliverySettings {
  const ttl = [60, 240, 1440, 2880][random.between(0, 3)]!;
  return {
    ...defaultDeliverySettings,
    templates: 'OFF',
    ttlMinutes: { ANDROID: ttl, IOS: ttl, WEB: ttl },
    devicesPerMinute: random.next() < 0.15 ? random.between(3, 30) : null,
    bypassesQuietHours: random.next() < 0.3,
  };
}

/** The days around the clock changes of Berlin, New York and Auckland in 2026, and one without. */
const days = ['2026-03-07', '2026-03-28', '2026-04-04', '2026-09-26', '2026-10-24', '2026-10-31', '2026-06-10'];

export function pickBegin(random: Random): Date {
  const day = new Date(`${days[random.between(0, days.length - 1)]!}T00:00:00Z`);
  return new Date(day.getTime() + random.between(0, 24 * hour));
}

/** Whether a local time of day lies in the quiet hours of the simulated workspace. */
export function isQuietTime(time: string): boolean {
  return time >= '22:00' || time < '07:00';
}
