import { setTimeout } from 'node:timers/promises';
import { median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { insertDevices, insertWorkspaces, startInstallation } from '../kit/installation.ts';
import type { Installation } from '../kit/installation.ts';
import { makeCaller } from '../../../server/test/rig/caller.ts';
import { addCredentials } from './events.ts';

const goals = { smallSeconds: 2, slowed: 0.02 };
const small = 1_000;
const lookMilliseconds = 20;

type Fairness = { installation: Installation; pushOfOther: (campaignName: string) => Promise<string> };

/** A campaign to 1,000 devices next to a large one: of the same workspace by platform, and of another. */
export const fairnessCase: Case<'fairness', Fairness> = {
  async prepare(bench) {
    const { devices, window: windowDevices, chunks: parallelChunks } = bench.options;
    const installation = await startInstallation(bench, { devices: small, windowDevices, parallelChunks });
    await installation.importDevices();
    await installation.database`delete from devices`;
    await insertDevices(installation, { devices: small, platforms: ['ANDROID'], users: 'without' });
    const [other] = await insertWorkspaces(installation, 1);
    await addCredentials(installation, [other!]);
    await insertDevices(installation, {
      devices,
      platforms: ['IOS'],
      users: 'without',
      beside: 'those that are there',
    });
    await installation.startWorker();
    const caller = makeCaller(
      { workspaceId: other!.id, keys: { push: other!.pushKey } as never },
      () => installation.url,
    );
    return { installation, pushOfOther: async (name) => idOf(await caller.push(toPlatform(name, 'ANDROID'))) };
  },

  async run(bench, { installation, pushOfOther }) {
    const { devices, rounds } = bench.options;
    const push = async (name: string, platform: 'IOS' | 'ANDROID') => {
      const { cid, status } = await installation.push(toPlatform(name, platform));
      if (status !== 'Success') throw new Error(`sendpush: ${name} was not accepted`);
      return cid;
    };
    const alone: number[] = [];
    const slowed: number[] = [];
    const waits: Record<'same' | 'other', number[]> = { same: [], other: [] };
    for (let round = 0; round <= rounds; round += 1) {
      const usual = await waitForAccepted(installation, await push(`Large alone ${round}`, 'IOS'), devices);
      const begun = performance.now();
      const large = await push(`Large ${round}`, 'IOS');
      await waitForAccepted(installation, large, devices / 4);
      const same = await waitForAccepted(installation, await push(`Small ${round}`, 'ANDROID'), small);
      const other = await waitForAccepted(installation, await pushOfOther(`Small other ${round}`), small);
      await waitForAccepted(installation, large, devices);
      const seconds = (performance.now() - begun) / 1_000;
      bench.say(
        `round ${round}: alone ${usual.toFixed(2)} s, next to others ${seconds.toFixed(2)} s; small ${same.toFixed(2)} s and ${other.toFixed(2)} s`,
      );
      // The first round warms up.
      if (round === 0) continue;
      alone.push(usual);
      slowed.push(seconds);
      waits.same.push(same);
      waits.other.push(other);
    }
    tell(bench, { alone: median(alone), slowed: median(slowed), waits });
  },
};

const toPlatform = (campaignName: string, platform: 'IOS' | 'ANDROID') => ({
  ...{ campaignName, targetAudience: 'All Users', targetPlatform: [platform] },
  payload: { [platform]: { title: 'Hello', message: 'A campaign.' } },
});

const idOf = ({ body }: { body: Record<string, unknown> }): string => {
  if (body['status'] !== 'Success') throw new Error(`sendpush: ${JSON.stringify(body)}`);
  return String(body['cid']);
};

/** @returns the seconds until the outcomes of this many devices were stored as accepted */
async function waitForAccepted({ database }: Installation, campaignId: string, devices: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const [row] = await database<{ accepted: number }[]>`
      select coalesce(sum(devices), 0)::int as accepted
      from run_counts join runs on runs.id = run_counts.run_id
      where runs.campaign_id = ${campaignId} and outcome = 'ACCEPTED'`;
    if (row!.accepted >= devices) return (performance.now() - begun) / 1_000;
    if (performance.now() - begun > 600_000) throw new Error(`${row!.accepted} of ${devices} devices were accepted`);
    await setTimeout(lookMilliseconds);
  }
}

type Measured = { alone: number; slowed: number; waits: Record<'same' | 'other', number[]> };

function tell(bench: Bench<'fairness'>, { alone, slowed, waits }: Measured): void {
  const { devices } = bench.options;
  for (const [whose, seconds] of Object.entries(waits)) {
    const worst = Math.max(...seconds);
    bench.compare({
      work: `last of ${small} devices, launched next to a campaign to ${devices} of ${whose === 'same' ? 'the same' : 'another'} workspace`,
      ours: `${worst.toFixed(2)} s at most`,
      ...{ goal: `≤ ${goals.smallSeconds} s`, isMet: worst <= goals.smallSeconds },
    });
  }
  // The small campaigns are work as well.
  const share = slowed / (alone * (1 + (2 * small) / devices)) - 1;
  bench.compare({
    work: `a campaign to ${devices} devices next to them`,
    ours: `${(share * 100).toFixed(1)} % slower`,
    ...{ goal: `< ${goals.slowed * 100} %`, isMet: share < goals.slowed },
  });
}
