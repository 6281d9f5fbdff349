import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { makeRandom, pickOccurrences } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';
import { startSoleNode, until } from './sole-node.ts';
import type { OpenInstallation } from '../../src/start/database/open-installation.ts';

/**
 * With its embedded database a node knows that it is alone: far below a lease. On a database that others may use it waits until
 * what it held is free (fault F1: at most 60 s).
 */
const maxSentSeconds = { embedded: 15, own: 75 };

/**
 * The only node is killed with SIGKILL in a campaign to everybody and started again, with its embedded database. It takes
 * up what it held at once: the campaign is sent soon after the last start, nobody is lost, and what is repeated was in
 * its open windows.
 */
export async function killNode(options: TortureOptions): Promise<Report> {
  const node = await startSoleNode(options);
  const { collector, workspaceId } = node;
  try {
    const answer = await node.caller.push({
      campaignName: 'Torture: the only node is killed',
      targetAudience: 'All Users',
    });
    if (answer.body.status !== 'Success') throw new Error(`sendpush: ${JSON.stringify(answer.body)}`);
    const campaignId = String(answer.body.cid);
    let sentSeconds = 0;
    for (const reached of pickOccurrences({ ...options, random: makeRandom(options.seed) })) {
      await until('a moment to kill', () => collector.reached() >= reached);
      await node.killAndRestart('alone');
      sentSeconds = performance.now() / 1000;
    }
    const installation = await node.open();
    try {
      const run = await waitForEnd(installation, campaignId);
      sentSeconds = Math.round((performance.now() / 1000 - sentSeconds) * 10) / 10;
      const audit = await auditRun({ database: installation.acrossWorkspaces, workspaceId, collector }, campaignId);
      const maxSeconds = maxSentSeconds[options.startDatabase === undefined ? 'embedded' : 'own'];
      const bound = options.rounds * options.parallelChunks * options.windowDevices;
      return {
        numbers: { ...audit, kills: options.rounds, bound, sentSeconds },
        broken: [
          ...findBrokenPromises(audit, run),
          ...(audit.repeats <= bound ? [] : ['repeats stay within kills × chunks × window']),
          ...(sentSeconds <= maxSeconds ? [] : [`SENT ${maxSeconds} s after the node was ready`]),
        ],
      };
    } finally {
      await installation.close();
    }
  } finally {
    await node.stop();
  }
}

async function waitForEnd({ acrossWorkspaces: database }: OpenInstallation, campaignId: string) {
  let run: { status: string; reason: string | null } | undefined;
  await until('the end of the run', async () => {
    [run] = await database<{ status: string; reason: string | null }[]>`
      select status, status_reason as reason from runs where campaign_id = ${campaignId}`;
    return run!.status !== 'SENDING' && run!.status !== 'QUEUED';
  });
  return run!;
}
