/**
 * Measures fan-out end to end (budget P3): devices in the store → audience → rendered → real HTTP/2 requests to the simulated
 * providers in another process → ledger, everything durable (fsync on). One worker process; its rate and peak memory for each
 * mix of platforms, and the same at ten times the devices, which shows whether memory and time per item are flat. Also prints
 * the bytes of a ledger row on disk with its indexes, and in the database's log with everything that a run stores.
 *
 * Usage: npm run bench -- fanout [--devices 100000] [--mixes ANDROID,IOS,WEB,ALL] [--chunks 8] [--window 500] [--rounds 3]
 *        [--caps 2/1d]: with frequency caps, quiet hours and a delay that exclude no user but are checked for all
 *        [--personal]: each message contains its user's name
 *        [--profile FOLDER]: writes a CPU profile of the worker there, for each mix
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Platform } from '../../server/src/domain/content/content.ts';
import { parseFrequencyCaps } from '../../server/src/domain/workspace-controls.ts';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';
import { readPeakMegabytes, readProcessSeconds } from '../../server/test/rig/processor-time.ts';
import { insertDevices } from './insert-devices.ts';
import { median } from './median.ts';
import { profilingEnvironment } from './profiling.ts';

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
    profile: { type: 'string' },
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
    const worker = await bundle.startWorker(undefined, profilingEnvironment(values.profile));
    const rates: number[] = [];
    const cpuBefore = await readProcessSeconds(worker.process.pid!);
    const logBefore = await logPosition(bundle);
    for (let round = 1; round <= rounds; round += 1) {
      const startedAt = performance.now();
      const cpuAtStart = await readProcessSeconds(worker.process.pid!);
      const campaignId = await pushToAll(bundle, `Bench ${mix} ${round}`);
      const run = await bundle.waitForRunEnd(campaignId);
      const seconds = (performance.now() - startedAt) / 1000;
      const [ledger] = await bundle.database`
        select count(*) as rows from readable_deliveries where campaign_id = ${campaignId} and outcome = 'ACCEPTED'`;
      await bundle.collector.settle();
      const received = bundle.collector.of(campaignId).size;
      if (run.status !== 'SENT' || received !== ledger!.rows)
        throw new Error(`${run.status}: ${received} devices reached, ${ledger!.rows} accepted in the ledger`);
      rates.push(received / seconds);
      const roundCpu = ((await readProcessSeconds(worker.process.pid!)) - cpuAtStart) / received;
      process.stdout.write(
        `${mix.padEnd(8)} round ${round}: ${received} devices in ${seconds.toFixed(2)} s, ${Math.round(received / seconds)}/s, ${(roundCpu * 1e6).toFixed(1)} µs of CPU a device\n`,
      );
    }
    const cpu = ((await readProcessSeconds(worker.process.pid!)) - cpuBefore) / (devices * rounds);
    process.stdout.write(
      `${mix.padEnd(8)} median ${Math.round(median(rates))}/s, worker ${Math.round(cpu * 1e6)} µs of CPU a device and at most ${await readPeakMegabytes(worker.process.pid!)} MB\n`,
    );
    const logged = ((await logPosition(bundle)) - logBefore) / (devices * rounds);
    process.stdout.write(
      `${mix.padEnd(8)} a row of the ledger: ${await rowBytes(bundle)} bytes on disk, ${Math.round(logged)} of log\n`,
    );
    // Written when the process exits normally.
    if (values.profile !== undefined) await bundle.endWorker(worker, 'SIGTERM');
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

/** Sets quiet hours that end long before a run could reach them, in each user's time zone. */
async function setCaps({ database }: TortureBundle, text: string): Promise<void> {
  const caps = parseFrequencyCaps(text);
  if (!caps) throw new Error(`no frequency caps: ${text}`);
  const minute = new Date((await database`select clock_timestamp() - interval '2 hours' as at`)[0]!.at as Date);
  const [from, to] = [minute, new Date(minute.getTime() + 60_000)].map((at) => at.toISOString().slice(11, 16));
  await database`
    update workspaces set cap_messages = ${caps.map(({ messages }) => messages)},
      cap_hours = ${caps.map(({ hours }) => hours)}, quiet_from = ${from!}, quiet_to = ${to!}`;
}

/** Returns the bytes that the database has written to its log so far. */
async function logPosition({ database }: TortureBundle): Promise<number> {
  const [row] = await database<{ bytes: string }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`;
  return Number(row!.bytes);
}

/** Returns the bytes per row over all days, for table and indexes. */
async function rowBytes({ database }: TortureBundle): Promise<number> {
  const [row] = await database<{ bytes: string; rows: number }[]>`
    select sum(pg_relation_size(part) + pg_indexes_size(part)) as bytes, (select count(*) from deliveries) as rows
    from pg_inherits, lateral (select inhrelid::regclass as part) as partition
    where inhparent = 'deliveries'::regclass`;
  return Math.round(Number(row!.bytes) / row!.rows);
}
