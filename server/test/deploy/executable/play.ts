/**
 * Plays an ordinary user of a bare Debian who downloaded the executable: first start, a push, a backup, second start, and an
 * upgrade while a campaign is being sent. Runs as root in the tree of run.ts; the user's processes see neither this script's
 * Node nor its variables. Writes /var/executable.txt; exits with 1 if a step fails.
 *
 * Arguments: the sizes in bytes of the executable and of its download.
 */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { makeCaller, toUser } from '../../rig/caller.ts';
import type { StartLine } from '../../start/start-bundle.ts';

const [executableBytes, downloadBytes] = process.argv.slice(2).map(Number) as [number, number];
const port = '8080';
const url = `http://127.0.0.1:${port}`;
const phones = 900;
const maxWaitSeconds = 120;
const lines: string[] = [];
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

execFileSync('useradd', ['--no-create-home', '--home-dir', '/home/ada', '--shell', '/bin/sh', 'ada']);
execFileSync('chown', ['-R', 'ada:', '/home/ada']);
const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'ada'], { encoding: 'utf8' }))) as [
  number,
  number,
];
note(`executable ${megabytes(executableBytes)}, download ${megabytes(downloadBytes)}`);

const first = await start('carillon');
note(`first start, unpacked and ready after ${first.seconds} s`);
const caller = makeCaller(first.line, () => url);
for (const path of ['/docs/', '/console/']) expect(`${path} is served`, (await fetch(`${url}${path}`)).status, 200);
const pushed = await caller.push({ campaignName: 'From the executable', ...toUser('ada') });
expect('a push is accepted', pushed.body.status, 'Success');
await waitFor('its message arrives', async () => (await countMessages()).length > 0);

ada('./carillon backup --out backup && ./carillon backup verify backup');
note('backup made and verified');
writeFileSync(
  '/home/ada/users.csv',
  ['customer_id', ...Array.from({ length: phones }, (_, n) => `user-${n}`)].join('\n'),
);
writeFileSync(
  '/home/ada/devices.csv',
  [
    'customer_id,device_id,platform,push_id',
    ...Array.from({ length: phones }, (_, n) => `user-${n},phone-${n},ANDROID,token-of-phone-${n}`),
  ].join('\n'),
);
ada('./carillon import users.csv && ./carillon import devices.csv --kind devices');
await stop(first.node);

const second = await start('carillon');
note(`second start, ready after ${second.seconds} s`);

// Each message waits for its answer, so that the campaign is being sent when the node stops.
await fetch(`${url}/sandbox/inbox`, { method: 'DELETE' });
await post('/sandbox/faults', { fcm: { delayMilliseconds: 3_000, goawayEvery: 1_000, maxStreams: 5 } });
const campaign = await caller.push({
  campaignName: 'During the upgrade',
  targetAudience: 'All Users',
  targetPlatform: ['ANDROID'],
});
expect('the campaign is accepted', campaign.body.status, 'Success');
await waitFor('its first messages arrive', async () => (await countMessages()).length > 0);
await stop(second.node);

const next = await start('carillon-next');
expect('the next version runs', ada('./carillon-next --version').trim().endsWith('-next'), true);
await waitFor('each phone gets its message', async () => new Set(await countMessages()).size > phones);
// The counters of the simulators begin with the process.
const sentByNext = await countReceived();
note(`upgrade while a campaign was being sent: ${sentByNext} of its messages were sent by the next version`);
expect('both versions sent', sentByNext > 0 && sentByNext < phones, true);
const tokens = (await countMessages()).filter((token) => token.startsWith('token-of-phone-'));
note(`lost ${phones - new Set(tokens).size}, sent again ${tokens.length - new Set(tokens).size} of ${phones}`);
expect('nobody is lost', new Set(tokens).size, phones);
await stop(next.node);

const machine = `${availableParallelism()} cores`;
writeFileSync(
  '/var/executable.txt',
  [`The executable on a bare Debian 12, as an ordinary user, ${machine}`, ...lines, ''].join('\n'),
);

type Started = { node: ChildProcess; line: StartLine; seconds: string };

/** Starts a node as the user, with an empty environment, and waits until it is ready. */
async function start(name: string): Promise<Started> {
  const begun = performance.now();
  // Not by `su`, which kills its child two seconds after a SIGTERM. A node finishes what it is sending.
  const node = spawn(`/home/ada/${name}`, ['start', '--json', '--port', port], {
    ...{ uid, gid, cwd: '/home/ada' },
    env: { PATH: '/usr/bin:/bin', HOME: '/home/ada' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<StartLine>((resolve, reject) => {
    let stdout = '';
    node.stdout.on('data', (piece) => {
      stdout += piece;
      if (stdout.includes('\n')) resolve(JSON.parse(stdout.split('\n')[0]!) as StartLine);
    });
    node.once('close', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
  await waitFor(`${name} is ready`, async () => (await fetch(`${url}/readyz`)).ok);
  return { node, line, seconds: ((performance.now() - begun) / 1000).toFixed(1) };
}

async function stop(node: ChildProcess): Promise<void> {
  node.kill('SIGTERM');
  const [code, signal] = (await once(node, 'close')) as [number | null, string | null];
  if (code !== 0) fail(`the node ended with ${code ?? signal}`);
}

function ada(command: string): string {
  return execFileSync('su', ['ada', '--shell', '/bin/sh', '--command', `cd /home/ada && ${command}`], {
    env: { PATH: '/usr/bin:/bin', HOME: '/home/ada' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function countMessages(): Promise<string[]> {
  const answer = await fetch(`${url}/sandbox/inbox?limit=1000`);
  const { messages } = (await answer.json()) as { messages: { deviceToken: string }[] };
  return messages.map(({ deviceToken }) => deviceToken);
}

async function countReceived(): Promise<number> {
  const counters = (await (await fetch(`${url}/sandbox/counters`)).json()) as { ANDROID?: { received: number } };
  return counters.ANDROID?.received ?? 0;
}

async function post(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) fail(`${path}: ${answer.status} ${await answer.text()}`);
}

async function waitFor(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + maxWaitSeconds * 1000;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > until) fail(`${what}: not within ${maxWaitSeconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function expect(what: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) fail(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

function note(text: string): void {
  lines.push(text);
  process.stdout.write(`${text}\n`);
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
