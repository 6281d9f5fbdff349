import type { Platform } from '../../src/domain/content/content.ts';
import { providerOf } from '../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../src/domain/delivery/providers.ts';
import { parseSubscription } from '../../src/providers/webpush/encrypt.ts';
import type { Database } from '../../src/storage/database.ts';
import { fieldTruthOf } from './field-faults.ts';
import type { TortureBundle } from './torture-bundle.ts';
import type { PutOff } from './watch-put-offs.ts';

export type Audit = {
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
  /** Devices that were dropped, though no answer said that they are dead. */
  dropped: number;
  /** Whether the counters disagree with the ledger: 1 if so. */
  miscounted: number;
};

type Audited = Pick<TortureBundle, 'database' | 'workspaceId' | 'collector'> & Partial<Pick<TortureBundle, 'field'>>;

/** Compares what a campaign to everybody was to reach, what devices received, and what the ledger says. */
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
function tokenOf({ platform, pushId }: AuditedDevice): string {
  if (platform !== 'WEB') return pushId;
  return decodeURIComponent(parseSubscription(pushId)!.endpoint.pathname.replace('/push/', ''));
}

/** The promises that hold however a campaign was disturbed. @returns those that were broken */
export function findBrokenPromises(audit: Audit, run: { status: string; reason: string | null }): string[] {
  const promises: Record<string, boolean> = {
    [`the run ends SENT, not ${run.status} (${run.reason})`]: run.status === 'SENT',
    'no device is lost': audit.lost === 0,
    'the ledger has one row a device': audit.ledgerRows === audit.devices,
    'every device that a message can reach is ACCEPTED': audit.notAccepted === 0,
    [`no healthy device is held back for another one (${audit.heldBackBy})`]: audit.heldBack === 0,
    'no device is dropped without an answer that says so': audit.dropped === 0,
    'counters and ledger agree': audit.miscounted === 0,
    'a repeat carries the same identity': audit.mixedIdentities === 0,
  };
  return Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise]));
}

/** Counters that are not what the ledger has, by run, bucket, platform and outcome. */
export async function countMismatches(database: Database): Promise<number> {
  const [row] = await database<{ mismatches: number }[]>`
    select count(*) as mismatches
    from (select run_id, bucket, platform, outcome, sum(devices) as devices from run_counts group by 1, 2, 3, 4) as counts
    full join (select run_id, bucket, platform, outcome, count(*) as devices from readable_deliveries group by 1, 2, 3, 4) as ledger
      using (run_id, bucket, platform, outcome)
    where coalesce(counts.devices, 0) <> coalesce(ledger.devices, 0)`;
  return row!.mismatches;
}
