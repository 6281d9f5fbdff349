import { spawnSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { signPush } from '../../../server/src/domain/crypto/signatures.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import type { StartLine } from '../../../server/test/start/start-bundle.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { UsageError } from '../kit/case-table.ts';
import { startBenchNode } from '../kit/installation.ts';

const carillon = join(import.meta.dirname, '..', '..', '..', 'server', 'src', 'cli', 'carillon.ts');
// A run of a million devices takes minutes; an hour is the limit for any number.
const maxSendMilliseconds = 3_600_000;
const tellMilliseconds = 3_000;

type Demo = { start: StartLine; database: Database; devices: number; tell: (what: string) => void };

/** Runs the whole path with real parts. Fails when the numbers differ. */
export const demoSendCase: Case<'demo-send', Demo> = {
  async prepare(bench) {
    const { users } = bench.options;
    if (!Number.isSafeInteger(users) || users < 1 || users > 20_000_000)
      throw new UsageError('--users is a whole number from 1 to 20,000,000');
    const begunAt = performance.now();
    // The whole run takes a minute or two.
    const tell = (what: string): void =>
      bench.say(`[${((performance.now() - begunAt) / 1000).toFixed(0).padStart(3)} s] ${what}`);
    const folder = await bench.makeFolder();
    const dataFolder = join(folder, 'data');
    tell('starting a node with its own database …');
    const start = await startBenchNode(bench, { settings: { CARILLON_DATA_DIR: dataFolder } });
    const file = join(folder, 'users.ndjson');
    tell(`making a file of ${users.toLocaleString('en')} users …`);
    runCommand(bench, ['--data-dir', dataFolder, 'sandbox', 'generate-users', '--users', String(users), '--out', file]);
    bench.say(`file: ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
    tell('loading them …');
    runCommand(bench, ['--data-dir', dataFolder, 'import', file]);
    const application = { url: start.databaseUrl, acrossRole: 'carillon_app_across' };
    const opened = openDatabase({ ...application, connections: 2, name: 'demo' });
    bench.defer(() => opened.end());
    const database = opened.acrossWorkspaces();
    const [counted] = await database<{ devices: number }[]>`
      select count(*)::int as devices from devices where workspace_id = ${start.workspaceId} and state = 'ACTIVE'`;
    return { start, database, devices: counted!.devices, tell };
  },

  async run(bench, demo) {
    const { start, database, devices, tell } = demo;
    tell(`sending to ${devices.toLocaleString('en')} devices …`);
    const startedAt = performance.now();
    const accepted = await send(start, `Demo of ${devices} devices`);
    const answeredMilliseconds = performance.now() - startedAt;
    const run = await waitForEnd(demo, accepted.cid);
    const seconds = (performance.now() - startedAt) / 1000;
    const rows = await database<{ platform: string; outcome: string; devices: number }[]>`
      select platform, outcome, count(*)::int as devices from readable_deliveries
      where run_id = ${run.id} group by platform, outcome order by 1, 2`;
    const count = (some: readonly { devices: number }[]): number => some.reduce((sum, row) => sum + row.devices, 0);
    const [ledger, failed] = [count(rows), count(rows.filter((row) => row.outcome !== 'ACCEPTED'))];
    const answer = await fetch(`${start.url}/sandbox/counters`);
    const simulators = (await answer.json()) as Record<string, { accepted: number }>;
    const received = Object.values(simulators).reduce((sum, counter) => sum + counter.accepted, 0);
    bench.say(
      `accepted: ${accepted.status}, campaign ${accepted.cid}, answered in ${answeredMilliseconds.toFixed(1)} ms`,
    );
    for (const row of rows) bench.say(`sent: ${row.platform.padEnd(8)} ${row.outcome.padEnd(9)} ${row.devices}`);
    bench.say(`failed: ${failed}`);
    bench.say(`seconds: ${seconds.toFixed(2)} (${Math.round(devices / seconds)} devices/s, run ${run.status})`);
    bench.say(`ledger rows: ${ledger}, devices: ${devices}, simulators received: ${received}`);
    if (ledger === devices && received === devices && failed === 0) return;
    process.stderr.write('demo:send: the numbers do not agree\n');
    bench.fail();
  },
};

function runCommand(bench: Bench<'demo-send'>, parameters: readonly string[]): void {
  const words = ['--disable-warning=ExperimentalWarning', carillon, ...parameters];
  const done = spawnSync(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  bench.say(done.stdout.trimEnd());
  if (done.status !== 0) throw new Error(`carillon ${parameters.join(' ')} ended with ${done.status}`);
}

/** Sends one campaign to all users, as a caller does. */
async function send(
  { url, workspaceId, keys }: StartLine,
  campaignName: string,
): Promise<{ status: string; cid: string }> {
  const text = { title: 'Hello', message: 'To everybody' };
  const web = { ...text, redirectURL: 'https://example.com/', iconURL: 'https://example.com/icon.png' };
  const answer = await fetch(`${url}/v2.1/transaction/sendpush`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-appkey': workspaceId,
      'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys!.push }),
      'x-svc-query-type': 'all users',
    },
    body: JSON.stringify({
      ...{ campaignName, targetPlatform: ['ANDROID', 'IOS', 'WEB'], targetAudience: 'All Users' },
      payload: { ANDROID: text, IOS: text, WEB: web },
      campaignDelivery: { type: 'soon' },
    }),
  });
  const body = (await answer.json()) as { status: string; cid: string; Error_Message?: string };
  if (body.status !== 'Success') throw new Error(`sendpush: ${answer.status} ${body.Error_Message}`);
  return body;
}

async function waitForEnd(
  { database, devices, tell }: Demo,
  campaignId: string,
): Promise<{ id: string; status: string }> {
  const deadline = performance.now() + maxSendMilliseconds;
  let toldAt = performance.now();
  for (;;) {
    const [run] = await database<{ id: string; status: string; ended: boolean }[]>`
      select id, status, ended_at is not null as ended from runs where campaign_id = ${campaignId}`;
    if (run?.ended) return run;
    if (run?.status === 'PAUSED' || performance.now() > deadline) throw new Error(`the run is ${run?.status}`);
    if (run && performance.now() - toldAt > tellMilliseconds) {
      toldAt = performance.now();
      const [done] = await database<{ devices: number }[]>`
        select coalesce(sum(devices), 0)::int as devices from run_counts where run_id = ${run.id}`;
      tell(`${done!.devices.toLocaleString('en')} of ${devices.toLocaleString('en')} sent`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
