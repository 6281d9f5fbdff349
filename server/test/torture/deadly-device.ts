import { auditRun } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import type { Report } from '../rig/report.ts';
import { sendPastDeadlyDevice } from './send-past-deadly-device.ts';

/**
 * Fault F16: one device of a campaign to everybody ends, with SIGKILL, each worker that sends to it. It is found and set
 * aside; everybody else is reached, and no more workers die than it takes to halve a window.
 */
export async function deadlyDevice(options: TortureOptions): Promise<Report> {
  const bundle = await makeTortureBundle(options);
  const { database } = bundle;
  try {
    await bundle.importDevices();
    const [device] = await database<{ id: string; pushId: string }[]>`
      select id, push_id as "pushId" from devices where platform = 'ANDROID' and state = 'ACTIVE'
      order by bucket, id offset ${Math.floor(options.devices / 7)} limit 1`;
    let campaignId = '';
    const deaths = await sendPastDeadlyDevice(bundle, {
      address: device!.pushId,
      start: async () => {
        campaignId = await bundle.pushToAll('Torture: a deadly device');
      },
      isOver: async () => {
        const [run] = await database<{ isOpen: boolean }[]>`
          select status in ('QUEUED', 'SENDING') as "isOpen" from runs where campaign_id = ${campaignId}`;
        return !run!.isOpen;
      },
    });
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const [failed] = await database<{ devices: number; isFound: boolean }[]>`
      select count(*) as devices, bool_and(device_id = ${device!.id} and code = 'SET_ASIDE') as "isFound"
      from readable_deliveries as deliveries where outcome <> 'ACCEPTED'`;
    const maxDeaths = 3 + Math.floor(Math.log2(options.windowDevices));
    const promises: Record<string, boolean> = {
      'the run ends SENT': run.status === 'SENT',
      'everybody else is reached': audit.lost === 1 && audit.ledgerRows === audit.devices,
      'the device is set aside, and nobody else': failed!.devices === 1 && failed!.isFound,
      [`no more than ${maxDeaths} workers die`]: deaths <= maxDeaths,
      'repeats stay within deaths × chunks × window':
        audit.repeats <= deaths * options.parallelChunks * options.windowDevices,
      'a repeat carries the same identity': audit.mixedIdentities === 0,
    };
    return {
      numbers: { ...audit, status: run.status, deaths, maxDeaths, setAside: failed!.devices },
      broken: Object.keys(promises).filter((promise) => !promises[promise]),
    };
  } finally {
    await bundle.stop();
  }
}
