/**
 * Runs the whole path with real parts: starts a node with a new embedded database, loads users with one device each from a
 * file, sends one `All Users` campaign over HTTP with a real signature, waits for its end, and compares the counts of the
 * ledger and the simulators. Exits with 1 when the numbers differ.
 *
 * Usage: npm run demo:send -- --users 100000
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../server/src/storage/database.ts';
import type { Database } from '../../server/src/storage/database.ts';

type StartLine = { url: string; workspaceId: string; keys: { push: string }; databaseUrl: string };

const { values } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, keep: { type: 'boolean', default: false } },
});
const users = Number(values.users);
if (!Number.isSafeInteger(users) || users < 1 || users > 20_000_000) {
  process.stderr.write('demo:send: --users takes a whole number from 1 to 20,000,000\n');
  process.exit(2);
}

const serverSource = join(import.meta.dirname, '..', '..', 'server', 'src');
const folder = await mkdtemp(join(tmpdir(), 'carillon-demo-'));
const dataFolder = join(folder, 'data');
const campaignName = `Demo of ${users} devices`;
// A run of a million devices takes minutes; an hour is the limit for any number.
const maxSendMilliseconds = 3_600_000;
const tellingMilliseconds = 3_000;

const node = (script: string, ...parameters: string[]): string[] => [
  '--disable-warning=ExperimentalWarning',
  join(serverSource, script),
  ...parameters,
];

function command(...parameters: string[]): void {
  const done = spawnSync(process.execPath, node('cli/carillon.ts', '--data-dir', dataFolder, ...parameters), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.stdout.write(done.stdout);
  if (done.status !== 0) throw new Error(`carillon ${parameters[0]} ended with ${done.status}`);
}

const beganAt = performance.now();
/** Prints the current step with the seconds since the start: the whole run takes a minute or two. */
function tell(what: string): void {
  process.stdout.write(`[${((performance.now() - beganAt) / 1000).toFixed(0).padStart(3)} s] ${what}\n`);
}

tell('starting a node with a database of its own …');
const server = spawn(process.execPath, node('main.ts', '--data-dir', dataFolder, '--port', '0', '--json'), {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const start = JSON.parse(line) as StartLine;
  const file = join(folder, 'users.ndjson');
  tell(`making a file of ${users.toLocaleString('en')} users …`);
  command('sandbox', 'generate-users', '--users', String(users), '--out', file);
  process.stdout.write(`file: ${((await stat(file)).size / 1e6).toFixed(1)} MB\n`);
  tell('loading them …');
  command('import', file);

  const application = { url: start.databaseUrl, acrossRole: 'carillon_app_across' };
  const database = openDatabase({ ...application, connections: 2, name: 'demo' }).acrossWorkspaces();
  const [counted] = await database<{ devices: number }[]>`
    select count(*)::int as devices from devices where workspace_id = ${start.workspaceId} and state = 'ACTIVE'`;
  const { devices } = counted!;

  tell(`sending to ${devices.toLocaleString('en')} devices …`);
  const startedAt = performance.now();
  const accepted = await send(start);
  const answeredAt = performance.now();
  const run = await waitForEnd(database, { campaignId: accepted.cid, devices });
  const seconds = (performance.now() - startedAt) / 1000;

  const rows = await database<{ platform: string; outcome: string; devices: number }[]>`
    select platform, outcome, count(*)::int as devices from readable_deliveries as deliveries where run_id = ${run.id} group by platform, outcome order by 1, 2`;
  const ledger = rows.reduce((sum, row) => sum + row.devices, 0);
  const failed = rows.filter((row) => row.outcome !== 'ACCEPTED').reduce((sum, row) => sum + row.devices, 0);
  const simulators = (await (await fetch(`${start.url}/sandbox/counters`)).json()) as Record<
    string,
    { accepted: number }
  >;
  const received = Object.values(simulators).reduce((sum, counter) => sum + counter.accepted, 0);
  await database.end();

  process.stdout.write(
    [
      `accepted: ${accepted.status}, campaign ${accepted.cid}, answered in ${(answeredAt - startedAt).toFixed(1)} ms`,
      ...rows.map((row) => `sent: ${row.platform.padEnd(8)} ${row.outcome.padEnd(9)} ${row.devices}`),
      `failed: ${failed}`,
      `seconds: ${seconds.toFixed(2)} (${Math.round(devices / seconds)} devices/s, run ${run.status})`,
      `ledger rows: ${ledger}, devices: ${devices}, simulators received: ${received}`,
      '',
    ].join('\n'),
  );
  if (ledger !== devices || received !== devices - failed || failed !== 0) {
    process.stderr.write('demo:send: the numbers do not agree\n');
    process.exitCode = 1;
  }
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  if (!values.keep) await rm(folder, { recursive: true, force: true });
}

async function send(start: StartLine): Promise<{ status: string; cid: string }> {
  const signature = createHash('sha256')
    .update(`${start.workspaceId}|${campaignName}|${start.keys.push}`)
    .digest('hex');
  const answer = await fetch(`${start.url}/v2.1/transaction/sendpush`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-appkey': start.workspaceId,
      'x-svc-pushapi-signature': signature,
      'x-svc-query-type': 'all users',
    },
    body: JSON.stringify({
      campaignName,
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: { title: 'Hello', message: 'To every Android phone' },
        IOS: { title: 'Hello', message: 'To every iPhone' },
        WEB: {
          title: 'Hello',
          message: 'To every browser',
          redirectURL: 'https://example.com/',
          iconURL: 'https://example.com/icon.png',
        },
      },
      campaignDelivery: { type: 'soon' },
    }),
  });
  const body = (await answer.json()) as { status: string; cid: string; Error_Message?: string };
  if (body.status !== 'Success') throw new Error(`sendpush: ${answer.status} ${body.Error_Message}`);
  return body;
}

async function waitForEnd(
  database: Database,
  { campaignId, devices }: { campaignId: string; devices: number },
): Promise<{ id: string; status: string }> {
  const deadline = performance.now() + maxSendMilliseconds;
  let toldAt = performance.now();
  for (;;) {
    const [run] = await database<{ id: string; status: string; ended: boolean }[]>`
      select id, status, ended_at is not null as ended from runs where campaign_id = ${campaignId}`;
    if (run?.ended) return run;
    if (run?.status === 'PAUSED' || performance.now() > deadline) throw new Error(`the run stands at ${run?.status}`);
    if (run && performance.now() - toldAt > tellingMilliseconds) {
      toldAt = performance.now();
      const [done] = await database<{ devices: number }[]>`
        select coalesce(sum(devices), 0)::int as devices from run_counts where run_id = ${run.id}`;
      tell(`${done!.devices.toLocaleString('en')} of ${devices.toLocaleString('en')} sent`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
