import { storePushes } from '../../src/app/push/store-pushes.ts';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import type { WorkspaceControlTexts } from '../../src/app/workspaces.ts';
import type { Clock } from '../../src/clock.ts';
import { defaultDeliverySettings, sendUntil } from '../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../src/domain/campaigns/delivery-settings.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import { makeId } from '../../src/domain/ids.ts';
import { addDays, localDate, toInstant } from '../../src/domain/timing/local-time.ts';
import { nextOccurrences } from '../../src/domain/timing/occurrences.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import type { WorkspaceChanges } from '../../src/storage/workspaces.ts';
import type { History } from '../rig/history.ts';
import type { Random } from '../rig/random.ts';
import { drawCondition, drawSporadic, pushOrigins } from './simulated-answers.ts';
import type { DeviceCondition, WorldProvider } from './simulated-answers.ts';

export type WorldDevice = {
  id: string;
  name: string;
  userId: string;
  bucket: number;
  platform: Platform;
  provider: WorldProvider;
  /** Through which it is reached: a provider, or a push service by its origin. */
  account: string;
  condition: DeviceCondition;
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
const usualProviders: Record<Platform, WorldProvider> = { ANDROID: 'fcm', IOS: 'apns', WEB: 'webpush' };
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'];
const quietHours = '22:00-07:00';
const hour = 3_600_000;

type WorldOptions = { database: Database; clock: Clock; random: Random; history: History };

/** Everything a seed has to send, and to whom. Ids follow from the seed, so that a replay has the same order. */
export async function makeWorld({ database, clock, random, history }: WorldOptions) {
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
  const byId = new Map<string, WorldDevice>();
  let hmsPhones = 0;
  const hasQuietHours = random.next() < 0.4;
  // An iPhone is reached through Firebase where its app says so.
  const hasFcmPhones = random.next() < 0.5;
  const hasHms = random.next() < 0.2;
  const hasDeadHost = random.next() < 0.06;

  await database`
    insert into workspaces (id, db_name, name, created_at)
    values (${workspaceId}, ${`db_${workspaceId.toLowerCase()}`}, 'Simulated', ${begin})`;
  if (hasQuietHours) {
    const controls = parseControls({ quietHours, quietMode: 'HOLD' } as WorkspaceControlTexts);
    await changeWorkspace({ database }, { id: workspaceId, ...controls } as WorkspaceChanges & { id: string });
  }

  /** Draws the provider and the condition of the next device. */
  function drawDevice(index: number): Drawn {
    const platform = platforms[index % 3]!;
    const origin = pushOrigins[random.between(0, 2)]!;
    // One credential serves few phones: its evidence is thin.
    const isHms = hasHms && platform === 'ANDROID' && hmsPhones < 3 && random.next() < 0.3;
    if (isHms) hmsPhones += 1;
    const isFcmPhone = hasFcmPhones && platform === 'IOS' && random.next() < 0.7;
    const provider = isHms ? 'hms' : isFcmPhone ? 'fcm' : usualProviders[platform];
    const condition = drawCondition(random, { provider, origin, begin: begin.getTime() });
    return { platform, provider, account: provider === 'webpush' ? origin : provider, condition };
  }

  /** Three to eight iPhones of a world that Apple's gateway at Firebase refuses now and then, among as many healthy ones. */
  function addSporadicPhones(): Drawn[] {
    const phone = { platform: 'IOS', provider: 'fcm', account: 'fcm' } as const;
    const sporadic = Array.from({ length: random.between(3, 8) }, () => drawSporadic(random, begin.getTime()));
    const healthy = sporadic.map((): DeviceCondition => ({ kind: 'healthy' }));
    return [...sporadic, ...healthy].map((condition) => ({ ...phone, condition }));
  }

  async function addDevices(count: number, more: Drawn[] = []): Promise<void> {
    const at = clock.now();
    const drawn = [...Array.from({ length: count }, (_, index) => drawDevice(devices.length + index)), ...more];
    const added = drawn.map((given, index): WorldDevice => {
      const name = `d${devices.length + index}`;
      const id = idAt(at);
      names.set(id, name);
      const timeZone = zones[random.between(0, zones.length - 1)]!;
      const found = { ...given, id, name, userId: id, bucket: bucketOf(name), timeZone, addedAt: at.getTime() };
      byId.set(id, found);
      return found;
    });
    devices.push(...added);
    for (const { id, name, userId, platform, condition } of added) {
      const isWell = condition.kind === 'healthy';
      history.note({
        kind: 'device',
        workspace: workspaceId,
        user: userId,
        device: id,
        address: name,
        platform,
        isWell,
      });
    }
    const column = <Value>(pick: (device: WorldDevice) => Value): Value[] => added.map(pick);
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.name, jsonb_build_object('time_zone', row.zone), ${at}, ${at}
      from unnest(${column(({ bucket }) => bucket)}::smallint[], ${column(({ id }) => id)}::text[],
        ${column(({ name }) => name)}::text[], ${column(({ timeZone }) => timeZone)}::text[]) as row (bucket, id, name, zone)`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_provider, push_id, state,
        registered_at, created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.provider, row.push_id, 'ACTIVE',
        ${at}, ${at}, ${at}
      from unnest(${column(({ bucket }) => bucket)}::smallint[], ${column(({ id }) => id)}::text[],
        ${column(({ platform }) => platform)}::text[],
        ${column(({ platform, provider }) => (provider === usualProviders[platform] ? null : provider))}::text[],
        ${column(({ account, name, provider }) => (provider === 'webpush' ? browserSubscription(name, account) : name))}::text[])
        as row (bucket, id, platform, provider, push_id)`;
  }

  /** Accepts a campaign, as the push API does. */
  async function addCampaign(given?: { to: readonly WorldDevice[] }): Promise<WorldCampaign> {
    const at = clock.now();
    const picked: Timing = given ? { kind: 'soon' } : pickTiming(random, at);
    // Where the first zone's time has passed, nothing would be left: such a schedule is refused at the edge.
    const timing: Timing = nextOccurrences(picked, { after: at, count: 1 }).length > 0 ? picked : { kind: 'soon' };
    const settings: DeliverySettings = given
      ? { ...pickSettings(random, { hasDeadHost }), devicesPerMinute: null, bypassesQuietHours: true }
      : pickSettings(random, { hasDeadHost });
    const drawn = timing.kind === 'soon' && random.next() < 0.3 ? devices.filter(() => random.next() < 0.5) : undefined;
    const users = given?.to ?? drawn;
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
    history.note({
      ...{ kind: 'campaign', workspace: workspaceId, id: campaignId, name, at: at.getTime() },
      ...{ users: users?.map(({ userId }) => userId), occurrences: campaign.occurrences },
      ttlMinutes: Math.max(...Object.values(settings.ttlMinutes)),
      isSpread: settings.devicesPerMinute !== null || 'inUserZone' in timing,
    });
    return campaign;
  }

  await addDevices(
    random.between(4, hasFcmPhones ? 26 : 38),
    hasFcmPhones && random.next() < 0.5 ? addSporadicPhones() : [],
  );
  if (hasDeadHost) await addDevices(0, [deadHost(devices.length)]);
  const before = devices.length;
  if (random.next() < longShare) await addDevices(0, longAudience());
  return {
    workspaceId,
    hasHms,
    /** The devices that get campaigns over several days in the end; empty in most worlds. */
    longAudience: devices.slice(before),
    deviceOf: (id: string): WorldDevice => byId.get(id)!,
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

/** A browser whose push service is gone; no other one has its origin. */
function deadHost(number: number): Drawn {
  const account = `https://d${number}.dead.example`;
  return { platform: 'WEB', provider: 'webpush', account, condition: { kind: 'unresolved' } };
}

type Drawn = Pick<WorldDevice, 'platform' | 'provider' | 'account' | 'condition'>;

/** For each of three accounts, one address that never works, without an answer that says so for certain, and three healthy ones. */
function longAudience(): Drawn[] {
  const faulty: Drawn[] = [
    { platform: 'ANDROID', provider: 'fcm', account: 'fcm', condition: { kind: 'malformed' } },
    { platform: 'IOS', provider: 'apns', account: 'apns', condition: { kind: 'foreign' } },
    { platform: 'WEB', provider: 'webpush', account: pushOrigins[1], condition: { kind: 'outdated' } },
  ];
  return faulty.flatMap((device) => [
    device,
    ...Array.from({ length: 3 }, (): Drawn => ({ ...device, condition: { kind: 'healthy' } })),
  ]);
}

/** In this share of worlds campaigns are sent over several days in the end. */
const longShare = 0.08;

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

function pickSettings(random: Random, { hasDeadHost }: { hasDeadHost: boolean }): DeliverySettings {
  const drawn = [60, 240, 1440, 2880][random.between(0, 3)]!;
  // A host that is gone is tried every two minutes until the message is over.
  const ttl = hasDeadHost ? 60 : drawn;
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

/** What a browser's page hands over: enough to be read; nothing is encrypted for it. */
function browserSubscription(name: string, origin = 'https://push.example'): string {
  const p256dh = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  const auth = Buffer.alloc(16, 1).toString('base64url');
  return JSON.stringify({ endpoint: `${origin}/${name}`, keys: { p256dh, auth } });
}
