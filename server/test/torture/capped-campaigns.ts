import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';

/**
 * Two campaigns to everybody at once under a cap of one message a day, while workers are killed with SIGKILL: everybody
 * gets one of the two, whichever was first, and is counted once however often a window is sent again.
 */
export async function cappedCampaigns(options: TortureOptions): Promise<Report> {
  const bundle = await makeTortureBundle(options);
  try {
    await bundle.importDevices();
    await bundle.database`update workspaces set cap_messages = '{1}', cap_hours = '{24}'`;
    await bundle.startWorker();
    const campaignIds = [await bundle.pushToAll('Torture: the first'), await bundle.pushToAll('Torture: the second')];
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
      await bundle.endLeases();
      await bundle.startWorker();
    }
    const runs = [await bundle.waitForRunEnd(campaignIds[0]!), await bundle.waitForRunEnd(campaignIds[1]!)];
    const numbers = { ...(await auditCaps(bundle, campaignIds)), kills: options.rounds };
    const promises: Record<string, boolean> = {
      'both runs end SENT': runs.every(({ status }) => status === 'SENT'),
      'each run has a row a device': numbers.ledgerRows === 2 * numbers.devices,
      'everybody gets one message': numbers.accepted === numbers.devices && numbers.reached === numbers.devices,
      'nobody gets both': numbers.gotBoth === 0,
      'the other is withheld by the cap': numbers.withheld === numbers.devices,
      'everybody is counted once, for the run that sent': numbers.countedOnce === numbers.devices,
    };
    return { numbers, broken: Object.keys(promises).filter((promise) => !promises[promise]) };
  } finally {
    await bundle.stop();
  }
}

async function auditCaps({ database, workspaceId, collector }: TortureBundle, campaignIds: string[]) {
  await collector.settle();
  const [first, second] = campaignIds.map((id) => collector.of(id));
  const gotBoth = [...first!.keys()].filter((device) => second!.has(device)).length;
  // Two questions: a cluster answers no question of one table within one of others.
  const [found] = await database<{ devices: number }[]>`
    select count(*) as devices from devices where workspace_id = ${workspaceId} and state <> 'OPTED_OUT'`;
  const { devices } = found!;
  const [row] = await database<{ ledgerRows: number; accepted: number; withheld: number; countedOnce: number }[]>`
    select count(*) as "ledgerRows", count(*) filter (where outcome = 'ACCEPTED') as accepted,
      count(*) filter (where outcome = 'WITHHELD' and code = 'FREQUENCY_CAP') as withheld,
      count(*) filter (where outcome = 'ACCEPTED' and message.run_ids = array[deliveries.run_id]) as "countedOnce"
    from readable_deliveries as deliveries
    left join user_messages as message on message.workspace_id = deliveries.workspace_id
      and message.bucket = deliveries.bucket and message.user_id = deliveries.user_id`;
  const reached = first!.size + second!.size - gotBoth;
  return { devices, ...row!, gotBoth, reached, lost: devices - reached };
}
