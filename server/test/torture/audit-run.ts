import { parseSubscription } from '../../src/engine/delivery/webpush/parse-subscription.ts';
import type { Database } from '../../src/storage/database.ts';
import type { TortureBundle } from './torture-bundle.ts';

export type Audit = {
  devices: number;
  requests: number;
  /** Devices without a request. */
  lost: number;
  repeats: number;
  /** Devices whose requests did not all carry the same collapse identity and message id. */
  mixedIdentities: number;
  ledgerRows: number;
  /** Ledger rows that are not ACCEPTED. */
  notAccepted: number;
  /** Whether the counters disagree with the ledger: 1 if so. */
  miscounted: number;
};

/** Compares what a campaign to everybody was to reach, what devices received, and what the ledger says. */
export async function auditRun(
  bundle: Pick<TortureBundle, 'database' | 'workspaceId' | 'collector'>,
  campaignId: string,
): Promise<Audit> {
  const { database, workspaceId } = bundle;
  await bundle.collector.settle();
  const devices = await database<{ platform: string; pushId: string }[]>`
    select platform, push_id as "pushId" from devices where workspace_id = ${workspaceId} and state <> 'OPTED_OUT'`;
  const received = bundle.collector.of(campaignId);
  const counts = devices.map((device) => received.get(`${device.platform}:${tokenOf(device)}`)?.requests ?? 0);
  const [ledger] = await database<{ rows: number; accepted: number }[]>`
    select count(*) as rows, count(*) filter (where outcome = 'ACCEPTED') as accepted
    from readable_deliveries as deliveries where run_id in (select id from runs where campaign_id = ${campaignId})`;
  const [counters] = await database<{ counted: number }[]>`
    select coalesce(sum(devices), 0)::bigint as counted from run_counts
    where run_id in (select id from runs where campaign_id = ${campaignId}) and outcome = 'ACCEPTED'`;
  const requests = [...received.values()].reduce((sum, device) => sum + device.requests, 0);
  return {
    devices: devices.length,
    requests,
    lost: counts.filter((count) => count === 0).length,
    repeats: requests - received.size,
    mixedIdentities: [...received.values()].filter((device) => device.identities.length !== 1).length,
    ledgerRows: ledger!.rows,
    notAccepted: ledger!.rows - ledger!.accepted,
    miscounted: counters!.counted === ledger!.accepted ? 0 : 1,
  };
}

/** The address as the provider knows it. */
function tokenOf({ platform, pushId }: { platform: string; pushId: string }): string {
  if (platform !== 'WEB') return pushId;
  return decodeURIComponent(parseSubscription(pushId)!.endpoint.pathname.replace('/push/', ''));
}

/** The promises that hold however a campaign was disturbed. @returns those that were broken */
export function findBrokenPromises(audit: Audit, run: { status: string; reason: string | null }): string[] {
  const promises: Record<string, boolean> = {
    [`the run ends SENT, not ${run.status} (${run.reason})`]: run.status === 'SENT',
    'no device is lost': audit.lost === 0,
    'the ledger has one row a device': audit.ledgerRows === audit.devices,
    'every device is ACCEPTED': audit.notAccepted === 0,
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
