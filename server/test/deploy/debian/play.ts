import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeCaller, pushContent } from '../../rig/caller.ts';
import { startPushLoad } from '../../rig/load.ts';
import type { Load } from '../../rig/load.ts';
import type { StartLine } from '../../start/start-bundle.ts';
import { projectFolder, readBlocks } from '../files.ts';

const users = 20_000;
const nextVersion = '99.0.0';
const everybody = { targetAudience: 'All Users' };
const blocks = readBlocks();
const lines: string[] = [];
const began = Date.now();
copyFileSync(join(import.meta.dirname, 'systemctl.sh'), '/usr/local/bin/systemctl');
// The certificate of a trial is its own.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');

function tell(line: string): void {
  const told = `${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`;
  lines.push(told);
  process.stdout.write(`${told}\n`);
}

function shell(text: string): string {
  return execFileSync('bash', ['-ec', text], {
    cwd: projectFolder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** In a process that does not stop this one: load goes on meanwhile. */
async function execute(name: string): Promise<string> {
  const text = blocks.get(name)!;
  const from = Date.now();
  try {
    const { stdout } = await promisify(execFile)('bash', ['-ec', text], { cwd: projectFolder, maxBuffer: 1e8 });
    tell(`### ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`### ${name}\n${stdout}\n${stderr}`, { cause: error });
  }
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
  tell(`    ${what}`);
}

const carillon = (words: string): string =>
  shell(`set -a; . /etc/carillon/environment; set +a; cd /tmp; /opt/carillon/carillon ${words}`);
const ask = (sql: string): string =>
  execFileSync('su', ['postgres', '-c', 'psql -v ON_ERROR_STOP=1 -At carillon'], {
    encoding: 'utf8',
    input: sql,
  }).trim();
const askNumber = (sql: string): number => Number(ask(sql));

async function untilSo(holds: () => boolean, seconds: number): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !holds(); await wait(250))
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${String(holds)}`);
}

function sendToAll(name: string): void {
  writeFileSync(
    '/tmp/push.json',
    JSON.stringify({ ...pushContent, ...everybody, campaignName: name, requestId: name }),
  );
  carillon('send --file /tmp/push.json --yes');
}
const statusOf = (name: string): string => ask(`select status from campaigns where name = '${name}'`);
const ledgerOf = (name: string): number =>
  askNumber(`select count(*) from deliveries join runs on runs.number = run_number
    join campaigns on campaigns.id = runs.campaign_id where campaigns.name = '${name}'`);

const readyCodes = (): string =>
  shell(
    "for port in 8081 8082 8083 8084; do curl -s -m 5 -o /dev/null -w '%{http_code} ' http://127.0.0.1:$port/readyz || true; done",
  ).trim();

/** Of all loads: the time at which the reply came, by request id. */
const accepted = new Map<string, number>();

async function endLoad(load: Load, during: string): Promise<void> {
  await load.stop();
  for (const [id, at] of load.answeredAt) accepted.set(id, at);
  for (const failure of load.faults) tell(`    failed: ${failure}`);
  must(load.faults.length === 0, `${load.answered.length} pushes through nginx ${during}, failed 0`);
}

function tellWhere(): void {
  const versions = shell(
    "dpkg-query -W -f '${Package} ${Version}, ' postgresql-15 pgbouncer nginx-light; /opt/carillon-1/bin/node --version",
  );
  lines.push(
    `npm run test:debian -- ${process.argv.slice(2).join(' ')}`.replaceAll(/ \/\S+/g, ' …'),
    `${new Date().toISOString().slice(0, 16)}Z, ${cpus().length} cores (${cpus()[0]!.model}), shared with other programs`,
    `Debian ${shell('cat /etc/debian_version').trim()} as debootstrap makes it (minbase), and of Packages: ${versions.trim()}`,
    '',
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function install(): Promise<void> {
  tellWhere();
  for (const name of ['Select the version', 'Settings']) await execute(name);
  // Simulated phones are a sandbox's; nothing else of the page is changed.
  shell("sed -i 's/^CARILLON_MODE=production/CARILLON_MODE=sandbox/' /etc/carillon/environment");
  tell('    (CARILLON_MODE=sandbox instead of production, for its simulated phones)');
  for (const name of ['Migrate', 'Nodes', 'Proxy']) await execute(name);
  const bytes = Number(shell('du -sb /opt/carillon-1').split('\t')[0]);
  must(bytes < 200e6, `the folder has ${Math.round(bytes / 1e6)} MB`);
  const rights = ask(`select rolsuper::text || rolcreatedb || has_schema_privilege('carillon_app', 'public', 'create')
    || exists (select from pg_class join pg_roles on pg_roles.oid = relowner where relnamespace = 'public'::regnamespace and rolname = 'carillon_app')
    from pg_roles where rolname = 'carillon_app'`);
  must(rights === 'falsefalsefalsefalse', 'the role of the nodes owns nothing and may make nothing');
  const series = (await execute('Metrics')).trim().split('\n').map(Number);
  must(
    series.length === 4 && series.every((count) => count > 10),
    `metrics of four nodes: ${series.join(', ')} series`,
  );
}

/** Another folder of the same code under another number: upgrades of data have tests of their own. */
function makeNextVersion(): void {
  shell(`cp -a /opt/carillon-1 /opt/carillon-2
    sed -i 's/"version": *"[^"]*"/"version":"${nextVersion}"/' /opt/carillon-2/package.json /opt/carillon-2/server/package.json
    sed -i 's/const carillonVersion = "[^"]*"/const carillonVersion = "${nextVersion}"/' /opt/carillon-2/server/bundle/carillon-version-*.js`);
}

async function play(): Promise<void> {
  await install();
  const { workspaceId, keys } = JSON.parse(carillon('status --json')) as {
    workspaceId: string;
    keys: NonNullable<StartLine['keys']>;
  };
  const startLoad = (prefix: string): Load => {
    const caller = makeCaller({ workspaceId, keys }, () => 'https://127.0.0.1');
    return startPushLoad(caller, { clients: 4, users: 'ada', prefix, pauseMilliseconds: 40 });
  };
  carillon(`sandbox generate-users --users ${users} --out /tmp/users.ndjson`);
  carillon('import /tmp/users.ndjson');
  const devices = askNumber('select count(*) from devices');
  must(devices >= users, `${devices} devices imported`);

  sendToAll('First');
  let load = startLoad('upgraded');
  await untilSo(() => ledgerOf('First') > 0, 120);
  makeNextVersion();
  await execute('Upgrade');
  const sent = ledgerOf('First');
  await endLoad(load, `while each of four nodes was upgraded, in the middle of a campaign to all (${sent} sent)`);
  const versions = ask("select string_agg(distinct version, ' ') from nodes");
  must(
    versions === nextVersion,
    `all nodes are of version ${versions}, which differs from the first by its number alone`,
  );

  load = startLoad('restarted');
  await execute('Replace a node');
  await endLoad(load, 'while each of four nodes was replaced');

  load = startLoad('rotated');
  await execute('Rotate the master key');
  await endLoad(load, 'while the master key was rotated and each node was replaced twice');
  const state = JSON.parse(carillon('master-key status --json')) as { underOtherKeys: Record<string, number> };
  must(
    Object.values(state.underOtherKeys).every((count) => count === 0),
    'nothing is left under the old key',
  );

  await untilSo(() => statusOf('First') === 'SENT', 240);
  tell(`    ${ledgerOf('First')} rows of the ledger for ${devices} devices`);
  must(
    ledgerOf('First') === devices,
    `the campaign to all has ended: ${devices} rows of the ledger, one for each device`,
  );

  load = startLoad('backed up');
  sendToAll('Second');
  await untilSo(() => ledgerOf('Second') > 0, 120);
  await execute('Back up');
  await endLoad(load, 'during the backup');
  await restore(startLoad, devices);
}

async function restore(startLoad: (prefix: string) => Load, devices: number): Promise<void> {
  const manifest = JSON.parse(shell('cat /var/backups/carillon/first/backup.json')) as { madeAt: string };
  const madeAt = new Date(manifest.madeAt).getTime();
  const before = [...accepted].filter(([, at]) => at < madeAt).map(([id]) => id);
  const since = accepted.size - before.length;
  tell(`    the backup is of ${manifest.madeAt}; ${before.length} pushes had been accepted by then, ${since} since`);
  execFileSync('su', ['postgres', '-c', 'dropdb --force carillon']);
  tell('    the database is lost, under four nodes');
  await untilSo(() => readyCodes() === '503 503 503 503', 60);
  tell('    /readyz of each of the four nodes answers 503');
  await execute('Restore');
  const list = before.map((id) => `'${id}'`).join(',') || 'null';
  const found = askNumber(`select count(*) from push_requests where request_id in (${list})`);
  must(found === before.length, `accepted before the backup and lost: ${before.length - found}`);
  const sent = ledgerOf('Second');
  must(
    statusOf('Second') === 'PAUSED',
    `the campaign is paused; ${sent} of ${devices} had been sent when the backup was made`,
  );
  const id = ask("select id from campaigns where name = 'Second'");
  carillon(`campaigns resume ${id}`);
  await untilSo(() => statusOf('Second') === 'SENT', 180);
  must(ledgerOf('Second') === devices, `resumed, it has ended: ${devices} rows of the ledger, one for each device`);
  must(ledgerOf('First') === devices, 'the ledger of the first campaign is whole');
  const last = startLoad('after');
  await wait(10_000);
  await endLoad(last, 'after the restore');
}

await play();
tell('all of it is so');
writeFileSync('/var/debian.txt', `${lines.join('\n')}\n`);
process.exit(0);
