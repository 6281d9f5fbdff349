import type { Platform } from '../../src/domain/content/content.ts';
import { messageIdentity } from '../../src/domain/content/message.ts';
import { providerOf } from '../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../src/domain/delivery/providers.ts';
import { strikesDevice } from '../../src/domain/sandbox/faults.ts';
import type { Fault } from '../../src/domain/sandbox/faults.ts';
import { parseSubscription } from '../../src/providers/webpush/encrypt.ts';
import { isDistributed } from '../../src/storage/cluster.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Collector } from './collector.ts';
import type { TortureBundle } from './installation.ts';
import type { Load } from './load.ts';
import type { FileHost } from './receivers.ts';
import { brokenOf } from './report.ts';

type Audit = {
  devices: number;
  requests: number;
  /** Devices that a message can reach, and that got none. */
  lost: number;
  repeats: number;
  /** Devices whose requests did not all carry the same collapse identity and message id. */
  mixedIdentities: number;
  ledgerRows: number;
  /** Ledger rows that are not ACCEPTED, but for those of devices that no message can reach. */
  notAccepted: number;
  /** Devices with an address that never works, by the simulators' own assignment. */
  useless: number;
  /** Healthy devices that were made to wait before they were asked once, though no account was at fault. */
  heldBack: number;
  /** What they waited for, as the ledger said it, and how often. */
  heldBackBy: string;
  /** Devices that were dropped although no answer said that they are dead. */
  dropped: number;
  /** Whether the counters disagree with the ledger: 1 if so. */
  miscounted: number;
};

type Audited = Pick<TortureBundle, 'database' | 'workspaceId' | 'collector'> & Partial<Pick<TortureBundle, 'field'>>;

/** Compares the audience of a campaign to all users with what devices received and what the ledger says. */
export async function auditRun(bundle: Audited, campaignId: string): Promise<Audit> {
  const { database, workspaceId, field } = bundle;
  await bundle.collector.settle();
  const devices = await database<AuditedDevice[]>`
    select id, platform, push_provider as provider, push_id as "pushId", state from devices
    where workspace_id = ${workspaceId} and state <> 'OPTED_OUT'`;
  const truthOf = (device: AuditedDevice) =>
    field === undefined ? 'healthy' : fieldTruthOf(providerOf(device), tokenOf(device));
  const useless = new Set(devices.flatMap((device) => (truthOf(device) === 'useless' ? [device.id] : [])));
  const received = bundle.collector.of(campaignId);
  const lost = devices.filter(
    (device) => !useless.has(device.id) && !received.has(`${device.platform}:${tokenOf(device)}`),
  );
  const rows = await database<{ deviceId: string; isAccepted: boolean }[]>`
    select device_id as "deviceId", outcome = 'ACCEPTED' as "isAccepted"
    from readable_deliveries as deliveries where run_id in (select id from runs where campaign_id = ${campaignId})`;
  const accepted = rows.filter(({ isAccepted }) => isAccepted).length;
  const [counters] = await database<{ counted: number }[]>`
    select coalesce(sum(devices), 0)::bigint as counted from run_counts
    where run_id in (select id from runs where campaign_id = ${campaignId}) and outcome = 'ACCEPTED'`;
  const requests = [...received.values()].reduce((sum, device) => sum + device.requests, 0);
  const healthy = new Set(devices.flatMap((device) => (truthOf(device) === 'healthy' ? [device.id] : [])));
  const putOffs = (await field?.putOffs?.of(campaignId)) ?? [];
  const held = putOffs.filter(({ deviceId }) => healthy.has(deviceId));
  return {
    devices: devices.length,
    requests,
    lost: lost.length,
    repeats: requests - received.size,
    mixedIdentities: [...received.values()].filter((device) => device.identities.length !== 1).length,
    ledgerRows: rows.length,
    notAccepted: rows.filter(({ isAccepted, deviceId }) => !isAccepted && !useless.has(deviceId)).length,
    useless: useless.size,
    heldBack: new Set(held.map(({ deviceId }) => deviceId)).size,
    heldBackBy: describeCodes(held),
    // No device is dead here.
    dropped: field === undefined ? 0 : devices.filter(({ state }) => state === 'GONE').length,
    miscounted: counters!.counted === accepted ? 0 : 1,
  };
}

function describeCodes(held: readonly PutOff[]): string {
  const byCode = Map.groupBy(held, ({ code }) => code);
  return [...byCode].map(([code, own]) => `${code} ${own.length} times, ${Math.round(own[0]!.seconds)} s`).join('; ');
}

type AuditedDevice = { id: string; platform: Platform; provider: ProviderName | null; pushId: string; state: string };

/** The address as the provider knows it. */
export function tokenOf({ platform, pushId }: Pick<AuditedDevice, 'platform' | 'pushId'>): string {
  if (platform !== 'WEB') return pushId;
  return decodeURIComponent(parseSubscription(pushId)!.endpoint.pathname.replace('/push/', ''));
}

/** Returns the broken ones of the promises that hold however a campaign was disturbed. */
export function findBrokenPromises(audit: Audit, run: FinishedRun): string[] {
  return brokenOf({
    [`the run ends SENT, not ${run.status} (${run.reason})`]: run.status === 'SENT',
    'no device is lost': audit.lost === 0,
    'the ledger has one row a device': audit.ledgerRows === audit.devices,
    'every device that a message can reach is ACCEPTED': audit.notAccepted === 0,
    [`no healthy device is held back for another one (${audit.heldBackBy})`]: audit.heldBack === 0,
    'no device is dropped without an answer that says so': audit.dropped === 0,
    'counters and ledger agree': audit.miscounted === 0,
    'a repeat carries the same identity': audit.mixedIdentities === 0,
  });
}

/** The counts of several audits together. */
export function sumAudits(audits: readonly Audit[]): Record<SummedCount, number> {
  const sums = { devices: 0, requests: 0, lost: 0, repeats: 0, mixedIdentities: 0, miscounted: 0, ledgerRows: 0 };
  for (const audit of audits) for (const name of Object.keys(sums) as SummedCount[]) sums[name] += audit[name];
  return sums;
}

type SummedCount = 'devices' | 'requests' | 'lost' | 'repeats' | 'mixedIdentities' | 'miscounted' | 'ledgerRows';

/** Counters that are not what the ledger has, by run, bucket, platform and outcome. */
export function findMiscounts(database: Database) {
  return database<{ runId: string; outcome: string; counted: number; stored: number }[]>`
    select coalesce(counts.run_id, ledger.run_id) as "runId", coalesce(counts.outcome, ledger.outcome) as outcome,
      coalesce(counts.devices, 0)::int as counted, coalesce(ledger.devices, 0)::int as stored
    from (select run_id, bucket, platform, outcome, sum(devices) as devices from run_counts group by 1, 2, 3, 4) as counts
    full join (select run_id, bucket, platform, outcome, count(*) as devices from readable_deliveries group by 1, 2, 3, 4) as ledger
      using (run_id, bucket, platform, outcome)
    where coalesce(counts.devices, 0) <> coalesce(ledger.devices, 0)`;
}

/** The addresses of iPhones that are reached through Firebase begin so. */
export const fcmPhonePrefix = 'fcm-iphone-';

/** The faults that simulated providers give to a share of devices while something is killed. None concerns an account. */
export const fieldFaults: Partial<Record<ProviderName, Fault[]>> = {
  fcm: [
    { answer: 'limited', share: 0.01, seed: 11, countPerDevice: 1 },
    { answer: 'limited-bare', share: 0.004, seed: 12, countPerDevice: 1 },
    { answer: 'malformed', share: 0.004, seed: 13 },
    { answer: 'sporadic', device: fcmPhonePrefix, share: 0.2, seed: 14, countPerDevice: 2 },
  ],
  apns: [{ answer: 'wrong-environment', share: 0.004, seed: 15 }],
  webpush: [
    { answer: 'throttled', share: 0.01, seed: 16, countPerDevice: 1 },
    { answer: 'outdated-key', share: 0.004, seed: 17 },
  ],
};

/** A device works, has a fault that passes, or has an address that never works. */
type FieldTruth = 'healthy' | 'passing' | 'useless';

/** The simulators' own assignment, whatever the product makes of their answers. */
function fieldTruthOf(provider: ProviderName, address: string): FieldTruth {
  const struck = (fieldFaults[provider] ?? []).filter((fault) => strikesDevice(fault, address));
  if (struck.some(({ countPerDevice }) => countPerDevice === undefined)) return 'useless';
  return struck.length > 0 ? 'passing' : 'healthy';
}

/** A message that was due, was not tried, and was made to wait for longer than this. */
type PutOff = { deviceId: string; code: string | null; seconds: number };

const maxHeldSeconds = 30;

type PutOffs = { of(campaignId: string): Promise<PutOff[]> };

/**
 * A trigger that writes down each row of the ledger that is made to wait before its device was asked once. On a cluster,
 * whose tables take no triggers, nothing is watched: undefined.
 */
export async function watchPutOffs(database: Database, ownerUrl: string): Promise<PutOffs | undefined> {
  if (await isDistributed(database, 'deliveries')) return undefined;
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'torture owner' });
  try {
    await owner`
      create table torture_put_offs (run_number bigint not null, device_id bytea not null, code text, seconds float8 not null)`;
    await owner`grant select on torture_put_offs to public`;
    // By the clock that the sandbox moves, which is that of `retry_at`.
    await owner`
      create function torture_note_put_off() returns trigger language plpgsql security definer as $body$
      begin
        insert into torture_put_offs
        select new.run_number, new.device_id, new.code,
          extract(epoch from new.retry_at - clock_timestamp()) - clock_offset_ms / 1000.0
        from installation;
        return null;
      end $body$`;
    await owner`
      create trigger torture_put_offs after insert or update on deliveries for each row
      when (new.outcome = 'W' and new.attempts = 0) execute function torture_note_put_off()`;
  } finally {
    await owner.end();
  }
  return {
    of: (campaignId) => database<PutOff[]>`
      select encode(device_id, 'hex') as "deviceId", code, seconds from torture_put_offs
      where run_number in (select number from runs where campaign_id = ${campaignId}) and seconds > ${maxHeldSeconds}`,
  };
}

type FillAudit = { operations: number; succeeded: number; members: number; callbacks: number };

/** Compares fills, each of `users` users, with what the database and the receiver of callbacks have. */
export async function auditFills(
  { database, host }: { database: Database; host: FileHost },
  { fills, users }: { fills: number; users: number },
): Promise<{ audit: FillAudit; broken: string[] }> {
  const [row] = await database<{ operations: number; succeeded: number; members: number; sent: number }[]>`
    select (select count(*) from segment_operations) as operations,
      (select count(*) from segment_operations where state = 'SUCCEEDED') as succeeded,
      (select count(*) from segment_members where removed_in is null
        and segment_id in (select segment_id from segment_operations)) as members,
      (select count(*) from callbacks) as sent`;
  const { operations, succeeded, members, sent } = row!;
  const broken = brokenOf({
    'a fill is one operation, and ends well': operations === fills && succeeded === fills,
    'a filled segment has every user once': members === fills * users,
    'a fill has one callback, under one id': sent === fills && host.callbacks.size === fills,
  });
  return { audit: { operations, succeeded, members, callbacks: host.callbacks.size }, broken };
}

export type FinishedRun = { status: string; reason: string | null };

/** Finds the run of a campaign if it has ended. */
export async function findFinishedRun(database: Database, campaignId: string): Promise<FinishedRun | undefined> {
  const [run] = await database<FinishedRun[]>`
    select status, status_reason as reason from runs
    where campaign_id = ${campaignId} and status not in ('QUEUED', 'SENDING')`;
  return run;
}

/** True if nothing is open: no run, fill or callback. */
export async function isAllEnded(database: Database): Promise<boolean> {
  const [row] = await database<{ open: number }[]>`
    select (select count(*) from runs where status in ('SCHEDULED', 'QUEUED', 'SENDING'))
      + (select count(*) from segment_operations where ended_at is null)
      + (select count(*) from callbacks where state = 'PENDING') as open`;
  return row!.open === 0;
}

/**
 * Compares the replies that callers got with what is on disk and what devices received: a request that was answered Success
 * is stored and its message was sent, and one that was answered otherwise is not stored.
 */
export async function auditLoad(
  { database, collector }: Pick<Audited, 'database' | 'collector'>,
  loads: readonly AuditedLoad[],
): Promise<{ numbers: LoadNumbers; stored: number; broken: string[] }> {
  const answered = loads.flatMap((load) => load.answered);
  const denied = loads.flatMap((load) => load.denied);
  const { kept, sent, requests, deniedAndKept } = await findKept({ database, collector }, { answered, denied });
  return {
    stored: requests,
    numbers: {
      answered: answered.length,
      answeredNotStored: answered.length - kept,
      'answered and not sent': kept - sent,
      storedNotAnswered: deniedAndKept,
      unanswered: loads.reduce((sum, load) => sum + load.unanswered(), 0),
    },
    broken: brokenOf({
      'an answered request is on disk': kept === answered.length,
      'the message of an answered request was sent': sent === answered.length,
      'what is on disk was not answered as failed': deniedAndKept === 0,
    }),
  };
}

/** Replies that are a fault of the server: a 500, or a 503 that does not say when to retry. */
export async function findFaults(
  { database }: Pick<Audited, 'database'>,
  loads: readonly Pick<Load, 'statuses'>[],
): Promise<string[]> {
  const faults = await database<{ fault: string }[]>`
    select distinct concat_ws(' ', method, route, error_name, error_detail) as fault from api_log where status = 500`;
  const statuses = loads.flatMap((load) => Object.entries(load.statuses));
  const wrong = statuses.filter(([status]) => status === '500' || status === '503 without Retry-After');
  return [
    ...faults.map(({ fault }) => `nothing ends in a fault of ours: ${fault}`),
    ...wrong.map(([status, times]) => `answered ${status} ${times} times`),
  ];
}

export type AuditedLoad = Pick<Load, 'answered' | 'denied' | 'unanswered'>;

type LoadNumbers = Record<
  'answered' | 'answeredNotStored' | 'answered and not sent' | 'storedNotAnswered' | 'unanswered',
  number
>;

/** Of the answered requests, how many are on disk, and how many have a message that a device received. */
async function findKept(
  { database, collector }: { database: Database; collector: Collector },
  { answered, denied }: { answered: readonly string[]; denied: readonly string[] },
) {
  const rows = await database<{ requestId: string; campaignId: string; runId: string; deviceId: string | null }[]>`
    select push_requests.request_id as "requestId", push_requests.campaign_id as "campaignId",
      push_requests.run_id as "runId", deliveries.device_id as "deviceId"
    from push_requests
    left join readable_deliveries as deliveries on deliveries.run_id = push_requests.run_id and deliveries.outcome = 'ACCEPTED'`;
  const byRequest = new Map(rows.map((row) => [row.requestId, row]));
  const received = new Map<string, Set<string>>();
  const receivedOf = (campaignId: string): Set<string> => {
    let identities = received.get(campaignId);
    if (!identities) {
      const devices = [...collector.of(campaignId).values()];
      identities = new Set(devices.flatMap((device) => device.identities));
      received.set(campaignId, identities);
    }
    return identities;
  };
  const kept = answered.filter((requestId) => byRequest.has(requestId));
  const sent = kept.filter((requestId) => {
    const { campaignId, runId, deviceId } = byRequest.get(requestId)!;
    if (deviceId === null) return false;
    const { id, collapseId } = messageIdentity(runId, deviceId);
    return receivedOf(campaignId).has(`${collapseId} ${id}`);
  });
  const deniedAndKept = denied.filter((requestId) => byRequest.has(requestId)).length;
  return { kept: kept.length, sent: sent.length, requests: byRequest.size, deniedAndKept };
}
