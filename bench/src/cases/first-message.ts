import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { inTransaction } from '../../../server/src/storage/database.ts';
import { stopCampaignRuns } from '../../../server/src/storage/runs/campaign-runs.ts';
import { median } from '../kit/bench.ts';
import type { Case } from '../kit/bench.ts';
import { insertDevices, startInstallation } from '../kit/installation.ts';
import type { Installation } from '../kit/installation.ts';

const goalSeconds = (devices: number): number => (devices > 1_000_000 ? 1 : 0.5);

/** `first`: resolves with the time of the first request for a round's message. */
type FirstMessage = { installation: Installation; first: (round: number) => Promise<number> };

/** A campaign to everybody, until the first request arrives at the provider, a plain HTTP/2 server in this process. Then it is stopped. */
export const firstMessageCase: Case<'first-message', FirstMessage> = {
  async prepare(bench) {
    const { devices, window: windowDevices, chunks: parallelChunks } = bench.options;
    const waiting = new Map<string, (at: number) => void>();
    const provider = createServer({ settings: { maxConcurrentStreams: 1_000 } }).on('stream', (stream) => {
      const at = performance.now();
      let text = '';
      stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      stream.on('end', () => {
        const [, round = ''] = /Round (\d+)\./.exec(text) ?? [];
        waiting.get(round)?.(at);
        stream.respond({ ':status': 200 }, { endStream: true });
      });
      stream.on('error', () => {});
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    bench.defer(() => provider.close());
    const installation = await startInstallation(bench, { devices, windowDevices, parallelChunks });
    await insertDevices(installation, { devices, platforms: ['IOS'], users: 'with' });
    const apns = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    await installation.startWorker({ ...installation.collector.endpoints, apns });
    return {
      installation,
      first: (round) => new Promise((resolve) => waiting.set(String(round), resolve)),
    };
  },

  async run(bench, { installation, first }) {
    const { devices, rounds } = bench.options;
    const waits: number[] = [];
    const counts: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const arrived = first(round);
      const answer = await installation.push({
        ...{ campaignName: `First message ${round}`, targetAudience: 'All Users', targetPlatform: ['IOS'] },
        payload: { IOS: { title: 'Hello', message: `Round ${round}.` } },
      });
      if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
      const begun = performance.now();
      const seconds = ((await arrived) - begun) / 1_000;
      const counted = await waitForSize(installation, answer.cid);
      const sized = (performance.now() - begun) / 1_000;
      await stopAndSettle(installation, answer.cid);
      bench.say(
        `round ${round}: first request ${seconds.toFixed(3)} s, ${counted} devices counted ${sized.toFixed(2)} s`,
      );
      if (counted !== devices) throw new Error(`${counted} of ${devices} devices were counted`);
      // The first round warms up.
      if (round === 0) continue;
      waits.push(seconds);
      counts.push(sized);
    }
    const goal = goalSeconds(devices);
    bench.compare({
      work: `from the response of sendpush to the first request at the provider, All Users, ${devices} devices`,
      ours: `${median(waits).toFixed(2)} s (${Math.max(...waits).toFixed(2)} s at most), size known after ${median(counts).toFixed(1)} s`,
      ...{ goal: `≤ ${goal} s`, isMet: median(waits) <= goal },
    });
  },
};

function waitForSize({ database, waitFor }: Installation, campaignId: string): Promise<number> {
  return waitFor('the size of the audience', async () => {
    const [run] = await database<{ devices: number | null }[]>`
      select audience_devices as devices from runs where campaign_id = ${campaignId}`;
    return run?.devices ?? undefined;
  });
}

async function stopAndSettle({ database, waitFor }: Installation, campaignId: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    await stopCampaignRuns(tx, { campaignId, reason: 'measured', at: new Date() });
    await tx`update campaigns set status = 'STOPPED', status_reason = 'measured' where id = ${campaignId}`;
  });
  await waitFor('the end of the round', async () => {
    const [run] = await database`select 1 from runs where campaign_id = ${campaignId} and settled_at is not null`;
    return run !== undefined || undefined;
  });
}
