import { localTime, findTimeZone, timeZoneAliases } from '../../src/domain/timing/local-time.ts';
import { auditRun } from '../rig/audit.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import type { WorkerProcess } from '../rig/processes.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

type PhoneRow = { id: string; userId: string; pushId: string };

/**
 * Fault F16: one device of a campaign to all users ends, with SIGKILL, each worker that sends to it. It is found and
 * quarantined; all others are reached, and no more workers die than it takes to halve a window.
 */
export function deadlyDevice(options: TortureOptions): Promise<Report> {
  return withTortureBundle(options, async (bundle) => {
    const { database } = bundle;
    await bundle.importDevices();
    const [device] = await database<PhoneRow[]>`
      select id, user_id as "userId", push_id as "pushId" from devices where platform = 'ANDROID' and state = 'ACTIVE'
      order by bucket, id offset ${Math.floor(options.devices / 7)} limit 1`;
    const { campaignId, ...sent } = await sendPastDeadlyDevice(bundle, {
      address: device!.pushId,
      name: 'Torture: a deadly device',
      isOver: async (id) => {
        const open = await database`
          select from runs where campaign_id = ${id} and status in ('QUEUED', 'SENDING')`;
        return open.length === 0;
      },
    });
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const [failed] = await database<{ devices: number; isFound: boolean }[]>`
      select count(*) as devices, bool_and(device_id = ${device!.id} and code = 'SET_ASIDE') as "isFound"
      from readable_deliveries as deliveries where outcome <> 'ACCEPTED'`;
    return {
      numbers: { ...audit, status: run.status, ...sent, setAside: failed!.devices },
      broken: brokenOf({
        'the run ends SENT': run.status === 'SENT',
        'all others are reached': audit.lost === 1 && audit.ledgerRows === audit.devices,
        'the device is quarantined, and no other': failed!.devices === 1 && failed!.isFound,
        ...promisesOf(bundle, { ...audit, ...sent }),
      }),
    };
  });
}

type Counted = { repeats: number; mixedIdentities: number; deaths: number; maxDeaths: number };

function promisesOf(
  { parallelChunks, windowDevices }: TortureOptions,
  { repeats, mixedIdentities, deaths, maxDeaths }: Counted,
): Record<string, boolean> {
  return {
    [`no more than ${maxDeaths} workers die`]: deaths <= maxDeaths,
    'repeats stay within deaths × chunks × window': repeats <= deaths * parallelChunks * windowDevices,
    'a repeat carries the same identity': mixedIdentities === 0,
  };
}

type Deadly = { address: string; name: string; isOver(campaignId: string): Promise<boolean> };

/**
 * Sends a campaign while one address ends, with SIGKILL, each worker that sends to it, and starts a new worker after each
 * death, until `isOver`. The last worker stays alive as one of the bundle's.
 */
async function sendPastDeadlyDevice(bundle: TortureBundle, { address, name, isOver }: Deadly) {
  const startWorker = async (): Promise<WorkerProcess> => {
    const worker = await bundle.startWorker(undefined, { TORTURE_DEADLY_ADDRESS: address });
    // Its death is expected.
    bundle.workers.splice(bundle.workers.indexOf(worker), 1);
    return worker;
  };
  const maxDeaths = 3 + Math.floor(Math.log2(bundle.windowDevices));
  let worker = await startWorker();
  try {
    const campaignId = await bundle.pushToAll(name);
    let isEnded = false;
    const over = bundle
      .waitFor('the end of the chunks with the deadly device', () => isOver(campaignId))
      .finally(() => (isEnded = true));
    for (let deaths = 0; ; deaths += 1) {
      await Promise.race([worker.exited, over]);
      if (isEnded) {
        await over;
        bundle.workers.push(worker);
        return { campaignId, deaths, maxDeaths };
      }
      await bundle.endLeases();
      worker = await startWorker();
    }
  } catch (error) {
    worker.process.kill('SIGKILL');
    throw error;
  }
}

const zoneNames = Object.keys(timeZoneAliases);
const namelessZone = 'Middle/Of/Nowhere';
const fallbackZone = 'UTC';
const hourMilliseconds = 3_600_000;

/**
 * A campaign under quiet hours to users of whom one has each of the abbreviated zones, one a stored name that is not a
 * zone, and one a device that ends, with SIGKILL, each worker that sends to it. Only the last two are not reached, and the
 * ledger names each with its code; users who are in quiet hours get the message in the morning and not before.
 */
export function everyZone(options: TortureOptions): Promise<Report> {
  return withTortureBundle(options, async (bundle) => {
    await bundle.importDevices();
    const quiet = await setQuietHours(bundle);
    const users = await chooseUsers(bundle);
    const { campaignId, ...sent } = await sendPastDeadlyDevice(bundle, {
      address: users.deadly.pushId,
      name: 'Torture: a zone for everybody',
      isOver: (id) => areChunksEnded(bundle, id),
    });
    const held = await countWaiting(bundle, { code: 'QUIET_HOURS' });
    for (let hour = 0; hour < 24 && (await countWaiting(bundle)) > 0; hour += 1) {
      await bundle.advanceClock(hourMilliseconds);
      await bundle.waitFor('due messages', async () => (await countWaiting(bundle, { due: bundle.now() })) === 0);
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const failed = await bundle.database<{ deviceId: string; code: string }[]>`
      select device_id as "deviceId", code from readable_deliveries as deliveries where outcome <> 'ACCEPTED' order by code`;
    const woken = await countWoken(bundle, quiet);
    const isNamed = (device: PhoneRow, code: string): boolean =>
      failed.some((row) => row.deviceId === device.id && row.code === code);
    return {
      numbers: {
        ...audit,
        zones: zoneNames.length,
        'held by quiet hours': held,
        'sent to in quiet hours': woken,
        'not reached': failed.map(({ code }) => code).join(', '),
        deaths: sent.deaths,
      },
      broken: brokenOf({
        [`the run ends SENT, not ${run.status} (${run.reason})`]: run.status === 'SENT',
        'all users are reached but two': audit.lost === 2 && audit.notAccepted === 2,
        'the ledger has one row a device': audit.ledgerRows === audit.devices,
        'the deadly device is named': isNamed(users.deadly, 'SET_ASIDE'),
        'the user without a zone is named': isNamed(users.nameless, 'TIME_ZONE_UNKNOWN'),
        'some users are held by quiet hours': held > 0,
        'no user is sent to in quiet hours': woken === 0,
        'counters and ledger agree': audit.miscounted === 0,
        ...promisesOf(bundle, { ...audit, ...sent }),
      }),
    };
  });
}

/** From three hours on, for eight: whatever the time, users without a zone are awake and some of the others sleep. */
async function setQuietHours({ database, now }: TortureBundle) {
  const at = (hours: number): string =>
    localTime(new Date(now().getTime() + hours * hourMilliseconds), fallbackZone).slice(0, 5);
  const quiet = { from: at(3), to: at(11) };
  await database`
    update workspaces set quiet_from = ${quiet.from}, quiet_to = ${quiet.to}, quiet_mode = 'HOLD',
      zone_attribute = 'time_zone', time_zone = ${fallbackZone}`;
  return quiet;
}

/** Spread over the audience. A name that is not a zone can only be stored past the API, which refuses it. */
async function chooseUsers({ database, devices }: TortureBundle) {
  const wanted = zoneNames.length + 2;
  const chosen = await database<PhoneRow[]>`
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

async function countWaiting(
  { database }: TortureBundle,
  { code = null, due = null }: { code?: string | null; due?: Date | null } = {},
): Promise<number> {
  const [row] = await database<{ devices: number }[]>`
    select count(*) as devices from readable_deliveries as deliveries
    where outcome = 'WAITING' and (${code}::text is null or code = ${code})
      and (${due}::timestamptz is null or retry_at <= ${due})`;
  return row!.devices;
}

/** Devices that were sent to during the quiet hours of their users. */
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
