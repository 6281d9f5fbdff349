import { localTime, findTimeZone, timeZoneAliases } from '../../src/domain/timing/local-time.ts';
import { auditRun } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import type { Report } from '../rig/report.ts';
import { sendPastDeadlyDevice } from './send-past-deadly-device.ts';

const zoneNames = Object.keys(timeZoneAliases);
const namelessZone = 'Middle/Of/Nowhere';
const fallbackZone = 'UTC';
const hourMilliseconds = 3_600_000;

/**
 * A campaign under quiet hours to users of whom one has each of the abbreviated zones, one a stored name that is no
 * zone, and one a device that ends, with SIGKILL, whoever sends to it. Only the last two are not reached, each is named
 * in the ledger with its code; who sleeps when it is sent is sent to in the morning and not before.
 */
export async function everyZone(options: TortureOptions): Promise<Report> {
  const bundle = await makeTortureBundle(options);
  const { database } = bundle;
  try {
    await bundle.importDevices();
    const quiet = await setQuietHours(bundle);
    const users = await chooseUsers(bundle);
    let campaignId = '';
    const deaths = await sendPastDeadlyDevice(bundle, {
      address: users.deadly.pushId,
      start: async () => {
        campaignId = await bundle.pushToAll('Torture: a zone for everybody');
      },
      isOver: () => areChunksEnded(bundle, campaignId),
    });
    const [held] = await database<{ devices: number }[]>`
      select count(*) as devices from readable_deliveries as deliveries where outcome = 'WAITING' and code = 'QUIET_HOURS'`;
    for (let hour = 0; hour < 24 && (await isWaiting(bundle)); hour += 1) {
      await bundle.advanceClock(hourMilliseconds);
      await bundle.waitFor('what is due', async () => ((await isDue(bundle)) ? undefined : true));
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const failed = await database<{ deviceId: string; code: string }[]>`
      select device_id as "deviceId", code from readable_deliveries as deliveries where outcome <> 'ACCEPTED' order by code`;
    const woken = await countWoken(bundle, quiet);
    const maxDeaths = 3 + Math.floor(Math.log2(options.windowDevices));
    const isNamed = (device: { id: string }, code: string): boolean =>
      failed.some((row) => row.deviceId === device.id && row.code === code);
    const promises: Record<string, boolean> = {
      [`the run ends SENT, not ${run.status} (${run.reason})`]: run.status === 'SENT',
      'everybody is reached but two': audit.lost === 2 && audit.notAccepted === 2,
      'the ledger has one row a device': audit.ledgerRows === audit.devices,
      'the deadly device is named': isNamed(users.deadly, 'SET_ASIDE'),
      'who has no zone is named': isNamed(users.nameless, 'TIME_ZONE_UNKNOWN'),
      'somebody is held by quiet hours': held!.devices > 0,
      'nobody is sent to in quiet hours': woken === 0,
      'counters and ledger agree': audit.miscounted === 0,
      'a repeat carries the same identity': audit.mixedIdentities === 0,
      [`no more than ${maxDeaths} workers die`]: deaths <= maxDeaths,
      'repeats stay within deaths × chunks × window':
        audit.repeats <= deaths * options.parallelChunks * options.windowDevices,
    };
    return {
      numbers: {
        ...audit,
        zones: zoneNames.length,
        'held by quiet hours': held!.devices,
        'sent to in quiet hours': woken,
        'not reached': failed.map(({ code }) => code).join(', '),
        deaths,
      },
      broken: Object.keys(promises).filter((promise) => !promises[promise]),
    };
  } finally {
    await bundle.stop();
  }
}

/** From three hours on, for eight: whatever the time, those without a zone are awake and some of the others sleep. */
async function setQuietHours({ database, now }: TortureBundle) {
  const at = (hours: number): string =>
    localTime(new Date(now().getTime() + hours * hourMilliseconds), fallbackZone).slice(0, 5);
  const quiet = { from: at(3), to: at(11) };
  await database`
    update workspaces set quiet_from = ${quiet.from}, quiet_to = ${quiet.to}, quiet_mode = 'HOLD',
      zone_attribute = 'time_zone', time_zone = ${fallbackZone}`;
  return quiet;
}

/** Spread over the audience; a name that is no zone can only be stored past the edge, which refuses it. */
async function chooseUsers({ database, devices }: TortureBundle) {
  const wanted = zoneNames.length + 2;
  const chosen = await database<{ id: string; userId: string; pushId: string }[]>`
    select id, user_id as "userId", push_id as "pushId" from (
      select id, user_id, push_id, row_number() over (order by bucket, id) as place from devices
      where platform = 'ANDROID' and state = 'ACTIVE'
    ) as android
    where place % ${Math.floor(devices / 3 / (wanted + 3))} = 1 order by place limit ${wanted}`;
  const zones = [...zoneNames, namelessZone];
  for (const [index, zone] of zones.entries())
    await database`
      update users set attributes = coalesce(attributes, '{}') || jsonb_build_object('time_zone', ${zone}::text)
      where id = ${chosen[index]!.userId}`;
  return { nameless: chosen[zoneNames.length]!, deadly: chosen[wanted - 1]! };
}

async function areChunksEnded({ database }: TortureBundle, campaignId: string): Promise<boolean> {
  const [row] = await database<{ chunks: number; open: number }[]>`
    select count(*) as chunks, count(*) filter (where ended_at is null) as open from chunks
    where run_id in (select id from runs where campaign_id = ${campaignId})`;
  return row!.chunks > 0 && row!.open === 0;
}

async function isWaiting({ database }: TortureBundle): Promise<boolean> {
  return (await database`select 1 from readable_deliveries as deliveries where outcome = 'WAITING' limit 1`).length > 0;
}

async function isDue({ database, now }: TortureBundle): Promise<boolean> {
  return (
    (
      await database`select 1 from readable_deliveries as deliveries where outcome = 'WAITING' and retry_at <= ${now()} limit 1`
    ).length > 0
  );
}

/** Devices that were sent to while it was quiet where their users are. */
async function countWoken({ database }: TortureBundle, { from, to }: { from: string; to: string }): Promise<number> {
  const rows = await database<{ zone: string | null; sentAt: Date }[]>`
    select users.attributes ->> 'time_zone' as zone, deliveries.sent_at as "sentAt" from readable_deliveries as deliveries
    join users on users.workspace_id = deliveries.workspace_id and users.bucket = deliveries.bucket
      and users.id = deliveries.user_id
    where deliveries.outcome = 'ACCEPTED'`;
  return rows.filter(({ zone, sentAt }) => {
    const time = localTime(sentAt, (zone === null ? undefined : findTimeZone(zone)) ?? fallbackZone);
    return from < to ? time >= from && time < to : time >= from || time < to;
  }).length;
}
