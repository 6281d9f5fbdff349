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
import { bucketOf } from '../../server/src/domain/users/bucket.ts';
import { parseFrequencyCaps } from '../../server/src/domain/eligibility/workspace-controls.ts';
import { makeId } from '../../server/src/domain/ids.ts';
import { makeSimulatedSubscription } from '../../server/src/engine/delivery/simulator/make-simulated-subscription.ts';
import { makeTortureBundle } from '../../server/test/torture/torture-bundle.ts';
import type { TortureBundle } from '../../server/test/torture/torture-bundle.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

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
const perStatement = 20_000;

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
    await insertDevices(bundle, platforms);
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

async function insertDevices(bundle: TortureBundle, platforms: Platform[]): Promise<void> {
  const { database, workspaceId, secret } = bundle;
  // The demo people would be counted too.
  await database`delete from devices`;
  const attributes = JSON.stringify({
    u_fn: 'Ada',
    u_em: 'ada@example.com',
    points: 7,
    tags: ['red', 'green'],
    city: 'Rome',
  });
  const at = new Date();
  for (let from = 0; from < devices; from += perStatement) {
    const rows = Array.from({ length: Math.min(perStatement, devices - from) }, (_, index) => {
      const number = from + index;
      const platform = platforms[number % platforms.length]!;
      return {
        number,
        platform,
        id: makeId(at),
        bucket: bucketOf(`bench-${number}`),
        pushId: pushIdOf({ platform, number, secret }),
      };
    });
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.push_id, 'ACTIVE', ${at}, ${at}, ${at}
      from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
        ${rows.map((row) => row.platform)}::text[], ${rows.map((row) => row.pushId)}::text[])
        as row (bucket, id, platform, push_id)`;
    if (values.personal)
      await database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.customer_id, ${attributes}::text::jsonb, ${at}, ${at}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => `bench-${row.number}`)}::text[]) as row (bucket, id, customer_id)`;
  }
  await database`select analyze_table('users'), analyze_table('devices')`;
}

function pushIdOf({ platform, number, secret }: { platform: Platform; number: number; secret: Buffer }): string {
  if (platform === 'ANDROID') return `bench-token-${String(number).padStart(10, '0')}-${'a'.repeat(120)}`;
  if (platform === 'IOS') return number.toString(16).padStart(64, '0');
  return makeSimulatedSubscription({ secret, id: `bench-${number}` });
}
