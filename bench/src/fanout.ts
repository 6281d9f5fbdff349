/**
 * Fan-out end to end (budget P3): devices in the store → audience → rendered → real HTTP/2 requests to the simulated
 * providers in another process → ledger, everything durable (fsync on). One worker process; its rate and peak memory for
 * each mix of platforms, and the same at ten times the devices, which shows whether memory and time an item are flat.
 *
 * Usage: npm run bench -- fanout [--devices 100000] [--mixes ANDROID,IOS,WEB,ALL] [--chunks 8] [--window 500] [--rounds 3]
 *        [--caps 2/1d]: under frequency caps, quiet hours and a delay that stop nobody but are looked at for everybody
 *        [--personal]: each message says its user's name
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Platform } from '../../server/src/domain/campaigns/content.ts';
import { parseFrequencyCaps } from '../../server/src/domain/eligibility/workspace-controls.ts';
import { makeTortureBundle } from '../../server/test/torture/torture-bundle.ts';
import type { TortureBundle } from '../../server/test/torture/torture-bundle.ts';
import { insertDevices } from './insert-devices.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'fanout'),
  options: {
    devices: { type: 'string', default: '100000' },
    mixes: { type: 'string', default: 'ANDROID,IOS,WEB,ALL' },
    chunks: { type: 'string', default: '8' },
    window: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    caps: { type: 'string' },
    personal: { type: 'boolean', default: false },
  },
});
const devices = Number(values.devices);
const rounds = Number(values.rounds);

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
for (const mix of values.mixes.split(',')) {
  const platforms: Platform[] = mix === 'ALL' ? ['ANDROID', 'IOS', 'WEB'] : [mix as Platform];
  const bundle = await makeTortureBundle({
    seed: 1,
    devices,
    rounds: 0,
    windowDevices: Number(values.window),
    parallelChunks: Number(values.chunks),
  });
  try {
    await insertDevices(bundle, { devices, platforms, users: values.personal ? 'with' : 'without' });
    if (values.caps !== undefined) await setCaps(bundle, values.caps);
    const worker = await bundle.startWorker();
    const rates: number[] = [];
    const cpuBefore = await cpuSeconds(worker.process.pid!);
    for (let round = 1; round <= rounds; round += 1) {
      const startedAt = performance.now();
      const campaignId = await pushToAll(bundle, `Bench ${mix} ${round}`);
      const run = await bundle.waitForRunEnd(campaignId);
      const seconds = (performance.now() - startedAt) / 1000;
      const [ledger] = await bundle.database`
        select count(*) as rows from deliveries join runs on runs.id = deliveries.run_id
        where runs.campaign_id = ${campaignId} and deliveries.outcome = 'ACCEPTED'`;
      const received = bundle.collector.of(campaignId).size;
      if (run.status !== 'SENT' || received !== ledger!.rows)
        throw new Error(`${run.status}: ${received} devices reached, ${ledger!.rows} accepted in the ledger`);
      rates.push(received / seconds);
      process.stdout.write(
        `${mix.padEnd(8)} round ${round}: ${received} devices in ${seconds.toFixed(2)} s, ${Math.round(received / seconds)}/s\n`,
      );
    }
    const cpu = ((await cpuSeconds(worker.process.pid!)) - cpuBefore) / (devices * rounds);
    const median = rates.sort((a, b) => a - b)[Math.floor(rates.length / 2)]!;
    process.stdout.write(
      `${mix.padEnd(8)} median ${Math.round(median)}/s, worker ${Math.round(cpu * 1e6)} µs of CPU a device and at most ${await peakMegabytes(worker.process.pid!)} MB\n`,
    );
  } finally {
    await bundle.stop();
  }
}

async function pushToAll(bundle: TortureBundle, campaignName: string): Promise<string> {
  if (!values.personal) return bundle.pushToAll(campaignName);
  const text = {
    title: "Hello {{ UserAttribute['First Name'] }}",
    message: '{{ UserAttribute.points }} points for you',
  };
  const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
  const payload = { ANDROID: text, IOS: text, WEB: { ...text, ...web } };
  const answer = await bundle.push({ campaignName, targetAudience: 'All Users', payload });
  if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
  return answer.cid;
}

/** Quiet hours that end long before a run could meet them, in the zone of each user. */
async function setCaps({ database }: TortureBundle, text: string): Promise<void> {
  const caps = parseFrequencyCaps(text);
  if (!caps) throw new Error(`no frequency caps: ${text}`);
  const minute = new Date((await database`select clock_timestamp() - interval '2 hours' as at`)[0]!.at as Date);
  const [from, to] = [minute, new Date(minute.getTime() + 60_000)].map((at) => at.toISOString().slice(11, 16));
  await database`
    update workspaces set cap_messages = ${caps.map(({ messages }) => messages)},
      cap_hours = ${caps.map(({ hours }) => hours)}, quiet_from = ${from!}, quiet_to = ${to!}`;
}

/** User and system time so far, of the kernel's clock of 100 ticks a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Peak resident memory, from the kernel's own count. */
async function peakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024);
}
