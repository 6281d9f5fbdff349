import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { startGate } from '../rig/gate.ts';
import type { Gate } from '../rig/gate.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { TortureBundle, TortureOptions } from '../rig/installation.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

type Phase = {
  name: string;
  faults: Record<string, object>;
  /** The simulated FCM's port is closed meanwhile. */
  isPortClosed?: boolean;
  /** Simulated time after which the trouble is over; it lasts to the end of the campaign when absent. */
  seconds?: number;
  /** Platforms that must not notice: every device at the first attempt, while the trouble lasts. */
  unaffected: string[];
};

const every1000 = { goawayEvery: 1_000 };
const reset = { reset: true, probability: 0.02 };
const phases: Phase[] = [
  {
    name: 'GOAWAY every 1,000 streams',
    faults: { fcm: every1000, apns: every1000, webpush: every1000 },
    unaffected: ['ANDROID', 'IOS', 'WEB'],
  },
  { name: 'one stream a connection', faults: { apns: { maxStreams: 1 } }, unaffected: ['ANDROID', 'IOS', 'WEB'] },
  { name: 'resets of 2 %', faults: { fcm: reset, apns: reset, webpush: reset }, unaffected: [] },
  {
    name: '429 with Retry-After: 7',
    faults: { fcm: { status: 429, headers: { 'retry-after': '7' } } },
    seconds: 120,
    unaffected: ['IOS', 'WEB'],
  },
  { name: '503 of 30 %', faults: { fcm: { status: 503, probability: 0.3 } }, seconds: 60, unaffected: ['IOS', 'WEB'] },
  { name: 'port closed for 5 minutes', faults: {}, isPortClosed: true, seconds: 300, unaffected: ['IOS', 'WEB'] },
];

const stepSeconds = 10;

/**
 * Reliability R5, fault F4, F5, F8: one campaign to all users for each way in which providers fail. All of it is
 * delivered in the end, the attempts stay few, and providers that do not fail do not notice.
 */
export function providerFaults(options: TortureOptions): Promise<Report> {
  const devices = Math.ceil(options.devices / phases.length);
  const report: Report = { numbers: { 'devices a phase': devices }, broken: [] };
  return withTortureBundle({ ...options, devices }, async (bundle) => {
    const { endpoints } = bundle.collector;
    const gate = await startGate(endpoints.fcm.messagesOrigin);
    try {
      await bundle.importDevices();
      await bundle.startWorker({ ...endpoints, fcm: { messagesOrigin: gate.origin, tokenOrigin: gate.origin } });
      for (const phase of phases) {
        const { summary, broken } = await runPhase(bundle, gate, phase);
        report.numbers[phase.name] = summary;
        report.broken.push(...broken.map((promise) => `${phase.name}: ${promise}`));
      }
      return report;
    } finally {
      await gate.close();
    }
  });
}

async function runPhase(bundle: TortureBundle, gate: Gate, phase: Phase) {
  const before = total(await bundle.collector.arrived());
  await bundle.collector.setFaults(phase.faults);
  if (phase.isPortClosed) await gate.close();
  const campaignId = await bundle.pushToAll(`Torture: ${phase.name}`);
  await bundle.waitFor('the end of all chunks', async () => {
    const [row] = await bundle.database<{ open: number; chunks: number }[]>`
      select count(*) as chunks, count(*) filter (where state in ('READY', 'CLAIMED')) as open
      from chunks where run_id in (select id from runs where campaign_id = ${campaignId})`;
    return row!.chunks > 0 && row!.open === 0;
  });
  const disturbed = await countDisturbed(bundle, campaignId, phase.unaffected);
  if (phase.seconds !== undefined) {
    for (let passed = 0; passed < phase.seconds; passed += stepSeconds) await step(bundle, campaignId);
    await bundle.collector.setFaults({});
    if (phase.isPortClosed) await gate.open();
  }
  while (await isOpen(bundle, campaignId)) await step(bundle, campaignId);
  await bundle.collector.setFaults({});
  const run = await bundle.waitForRunEnd(campaignId);
  const audit = await auditRun(bundle, campaignId);
  const [attempts] = await bundle.database<{ mean: number; most: number }[]>`
    select avg(attempts)::float as mean, max(attempts)::int as most from readable_deliveries as deliveries
    where run_id in (select id from runs where campaign_id = ${campaignId})`;
  const { mean, most } = attempts!;
  const arrived = total(await bundle.collector.arrived()) - before;
  return {
    summary:
      `lost ${audit.lost}, not accepted ${audit.notAccepted}, repeats ${audit.repeats}, requests ${arrived}, ` +
      `attempts a device ${mean.toFixed(2)} (most ${most}), disturbed others ${disturbed}`,
    broken: [
      ...findBrokenPromises(audit, run),
      ...brokenOf({
        'nothing that arrived is repeated': audit.repeats === 0,
        'attempts stay within 8, and 3 on average (fault F5)': most <= 8 && mean <= 3,
        'requests stay within 3 a device: no busy loop': arrived <= audit.devices * 3,
        'other providers are unaffected': disturbed === 0,
      }),
    ],
  };
}

function total(arrived: Record<string, number>): number {
  return Object.values(arrived).reduce((sum, requests) => sum + requests, 0);
}

async function isOpen({ database }: TortureBundle, campaignId: string): Promise<boolean> {
  const [run] = await database<{ status: string }[]>`select status from runs where campaign_id = ${campaignId}`;
  return run!.status === 'SENDING';
}

/** Devices of these platforms that are not accepted at the first attempt. */
async function countDisturbed({ database }: TortureBundle, campaignId: string, platforms: string[]): Promise<number> {
  const [row] = await database<{ disturbed: number }[]>`
    select count(*) as disturbed from readable_deliveries as deliveries
    where run_id in (select id from runs where campaign_id = ${campaignId}) and platform = any(${platforms})
      and not (outcome = 'ACCEPTED' and attempts = 1)`;
  return row!.disturbed;
}

/** Moves time on when everything that is due now was tried and nothing is under way. */
async function step(bundle: TortureBundle, campaignId: string): Promise<void> {
  const { database } = bundle;
  let before = '';
  await bundle.waitFor('a quiet moment', async () => {
    const [row] = await database<{ isOpen: boolean; due: number; state: string }[]>`
      select (select status from runs where campaign_id = ${campaignId}) = 'SENDING' as "isOpen",
        count(*) filter (where outcome = 'WAITING' and retry_at <= ${bundle.now()}) as due,
        concat_ws(' ', sum(attempts), count(*) filter (where outcome = 'WAITING'), max(retry_at)) as state
      from readable_deliveries as deliveries where run_id in (select id from runs where campaign_id = ${campaignId})`;
    const isQuiet = row!.state === before && row!.due === 0;
    before = row!.state;
    // Longer than one request takes, so that two equal looks mean that nothing is in flight.
    if (!isQuiet && row!.isOpen) await new Promise((resolve) => setTimeout(resolve, 100));
    return isQuiet || !row!.isOpen;
  });
  await bundle.advanceClock(stepSeconds * 1000);
}
