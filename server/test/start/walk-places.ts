/**
 * Walks the places where people clone, with the two commands they run: `npm start`, which must answer a call of the API
 * and stop, and `npm test` on one file that needs its database. Usage: npm run test:places [-- <part of a place's name>].
 * Root makes the users and the mounts; without root only what an ordinary user can make is walked.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { followStart } from './follow-start.ts';
import type { FollowedStart } from './follow-start.ts';
import { copyProject, isRoot, namelessUser, ordinaryUser, project, run, wordsAs } from './place-bundle.ts';
import type { Place, User } from './place-bundle.ts';
import type { StartLine } from './start-bundle.ts';

// Far above what the slowest machine we know needs for one command; then it hangs.
const maxCommandMilliseconds = 180_000;

type Walk = {
  name: string;
  /** Name of the checkout's folder. */
  folder: string;
  /** Undefined: whoever runs this. */
  user?: User;
  needs: 'nothing' | 'root' | 'mounts';
  checkout: 'own' | 'of root' | 'mounted read-only';
  /** Where no data can be beside the checkout, a start without a data folder must say so. */
  data: 'default' | 'elsewhere';
};

const walks: Walk[] = [
  { name: 'root, closed home', folder: 'carillon', needs: 'root', checkout: 'own', data: 'default' },
  { name: 'root, read-only', folder: 'carillon', needs: 'mounts', checkout: 'mounted read-only', data: 'elsewhere' },
  { name: 'closed home', folder: 'carillon', user: ordinaryUser, needs: 'nothing', checkout: 'own', data: 'default' },
  {
    name: 'spaces and quotes',
    folder: "my clone's Ünïcödé 鐘",
    user: ordinaryUser,
    needs: 'nothing',
    checkout: 'own',
    data: 'default',
  },
  {
    name: 'what a shell reads',
    folder: 'a "clone" of $HOME `x` #1?%20',
    user: ordinaryUser,
    needs: 'nothing',
    checkout: 'own',
    data: 'elsewhere',
  },
  {
    name: 'read-only for the user',
    folder: 'carillon',
    user: ordinaryUser,
    needs: 'root',
    checkout: 'of root',
    data: 'elsewhere',
  },
  {
    name: 'user without a name',
    folder: 'carillon',
    user: namelessUser,
    needs: 'root',
    checkout: 'own',
    data: 'default',
  },
];

const canMount = isRoot && (await succeeds(['unshare', '--mount', 'mount', '--bind', '/tmp', '/tmp']));
const [chosen = ''] = process.argv.slice(2);
const places = await copyProject(
  (await readdir(project)).filter((name) => !['.git', 'data', 'coverage'].includes(name)),
);
try {
  for (const walk of walks.filter(({ name }) => name.includes(chosen))) {
    const obstacle = await findObstacle(walk);
    if (obstacle === undefined) await walkPlace(walk);
    else process.stdout.write(`skip ${walk.name}: ${obstacle}\n`);
  }
} finally {
  await places.remove();
}

async function findObstacle({ needs, user }: Walk): Promise<string | undefined> {
  if (needs !== 'nothing' && !isRoot) return 'takes root';
  if (needs === 'mounts' && !canMount) return 'root may mount nothing here';
  if (!user || !isRoot) return undefined;
  const words = wordsAs(user, { home: '/', checkout: '/' });
  if (!(await succeeds([...words, 'npm', '--version']))) return 'npm is where only its owner may run it';
  const isNamed = user !== namelessUser || (await succeeds([...words, 'unshare', '--user', 'true']));
  return isNamed ? undefined : 'no user may make a user namespace here';
}

async function walkPlace(walk: Walk): Promise<void> {
  const user = isRoot ? walk.user : undefined;
  const place = await places.moveTo(walk.folder, user);
  await preparePlace(place, walk.checkout === 'own' ? user : undefined);
  // Closed and with a space: databases and files of the tests are there.
  const temporary = join(place.home, 'temporary files');
  await mkdir(temporary, { mode: 0o700 });
  if (user) await chown(temporary, user.uid, user.gid);

  const npm = (...words: string[]): Command => ({
    cwd: place.checkout,
    words: [
      ...wordsInMounts(walk, place),
      ...wordsAs(user, place),
      'env',
      `TMPDIR=${temporary}`,
      'NO_COLOR=1',
      'npm',
      ...words,
    ],
  });
  const elsewhere = join(place.home, 'elsewhere');
  const dataFolder = walk.data === 'default' ? join(place.checkout, 'data') : elsewhere;
  const dataWords = walk.data === 'default' ? [] : ['--data-dir', elsewhere];
  await report(`${walk.name}: npm start`, () =>
    startAndCall(npm('start', '--', '--port', '0', '--json', ...dataWords), dataFolder),
  );
  await report(`${walk.name}: npm test`, () =>
    passTests(npm('test', '--', '--only', 'test', '--', 'server/test/tokens/bearer.test.ts')),
  );
  if (walk.data === 'default') return;
  await report(`${walk.name}: npm start without a data folder`, () =>
    beRefused(npm('start', '--', '--port', '0', '--json')),
  );
}

async function preparePlace({ checkout }: Place, owner: User | undefined): Promise<void> {
  // What an earlier walk left has another owner.
  for (const name of ['.cache', '.vite'])
    await rm(join(checkout, 'node_modules', name), { recursive: true, force: true });
  if (!isRoot) return;
  const { uid, gid } = owner ?? { uid: 0, gid: 0 };
  await run('find', [checkout, '-type', 'd', '-exec', 'chown', `${uid}:${gid}`, '{}', '+']);
}

/** Less memory than the tests want for their database, so that it is made below TMPDIR, and the checkout read-only. */
function wordsInMounts({ checkout }: Walk, place: Place): string[] {
  if (!canMount) return [];
  const readOnly = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&';
  const script = `mount -t tmpfs -o size=1g none /dev/shm && ${checkout === 'mounted read-only' ? readOnly : ''} cd "$1" && shift && exec "$@"`;
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', place.checkout];
}

type Command = { cwd: string; words: string[] };

async function startAndCall(command: Command, dataFolder: string): Promise<string> {
  const npm = start(command);
  const line = await npm.line;
  if (line === undefined) throw new Error((await npm.ended).text);
  const { url, workspaceId, keys } = JSON.parse(line) as StartLine;
  try {
    const ready = await fetch(`${url}/readyz`);
    const form = { grant_type: 'client_credentials', client_id: workspaceId, client_secret: keys!.oauth };
    const token = await fetch(`${url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    if (ready.status !== 200 || token.status !== 200)
      throw new Error(`/readyz answered ${ready.status}, /v1/oauth/token ${token.status}`);
  } finally {
    npm.process.kill('SIGTERM');
    await npm.ended;
  }
  const { code, text } = await npm.ended;
  const isDatabaseThere = existsSync(join(dataFolder, 'postgres', 'cluster', 'PG_VERSION'));
  const isDatabaseRunning = existsSync(join(dataFolder, 'postgres', 'cluster', 'postmaster.pid'));
  if (code !== 0 || !isDatabaseThere || isDatabaseRunning)
    throw new Error(
      `ended with ${code}; data in ${dataFolder}: ${isDatabaseThere}, still running: ${isDatabaseRunning}\n${text}`,
    );
  return `/readyz 200, a token 200, stopped with 0, data in ${dataFolder}`;
}

async function passTests(command: Command): Promise<string> {
  const { code, text } = await start(command).ended;
  const counted = /Tests +(\d+ passed.*)/.exec(text)?.[1];
  if (code !== 0 || counted === undefined) throw new Error(`ended with ${code}\n${text}`);
  return counted;
}

async function beRefused(command: Command): Promise<string> {
  const { code, text } = await start(command).ended;
  const sentence = /^carillon: .*(cannot be written|in the path).*$/m.exec(text)?.[0];
  if (code !== 11 || sentence === undefined) throw new Error(`ended with ${code}\n${text}`);
  return `11, ${sentence}`;
}

function start({ cwd, words }: Command): FollowedStart {
  const child = spawn(words[0]!, words.slice(1), {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: maxCommandMilliseconds,
  });
  return followStart(child);
}

async function report(name: string, work: () => Promise<string>): Promise<void> {
  const begunAt = performance.now();
  const seconds = (): string => `${((performance.now() - begunAt) / 1_000).toFixed(1)} s`;
  try {
    const said = await work();
    process.stdout.write(`ok   ${name}: ${said} (${seconds()})\n`);
  } catch (error) {
    process.exitCode = 1;
    // The end of what npm said; its help texts are long.
    const said = (error as Error).message.split('\n').slice(-25).join('\n');
    process.stdout.write(`FAIL ${name}: ${said} (${seconds()})\n`);
  }
}

async function succeeds([file, ...words]: string[]): Promise<boolean> {
  return run(file!, words, { cwd: '/' }).then(
    () => true,
    () => false,
  );
}
