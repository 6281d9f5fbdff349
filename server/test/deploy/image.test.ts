import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { isRoot } from '../start/place-bundle.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { makeCaller } from '../rig/caller.ts';
import { projectFolder, readDockerfile, textOf } from './files.ts';
import type { Instruction } from './files.ts';

const run = promisify(execFile);
const demoPhones = 3;
// Mounts of its own need root; installing the packages needs the registry.
const isTried = process.platform === 'linux' && process.env.FULL === '1' && isRoot;

let folder: string;
let [build, image]: [Instruction[], Instruction[]] = [[], []];

/** Its container, as far as it matters: a read-only tree, the account of the image, process 1, its variables and no others. */
function startContainer(more: string[], environment: Record<string, string> = {}): ChildProcess {
  const [uid, gid] = textOf(image, 'USER').split(':') as [string, string];
  const entry = [
    ...(JSON.parse(textOf(image, 'ENTRYPOINT')) as string[]),
    ...(JSON.parse(textOf(image, 'CMD')) as string[]),
  ];
  const variables = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...environment }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const account = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs'];
  const words = [...account, 'env', '-i', ...variables, ...textOf(image, 'ENV').split(' '), ...entry, ...more];
  const mounts = [
    'mount --make-rprivate /',
    `mount --bind '${dirname(process.execPath)}' /usr/local/bin`,
    `mkdir -p '${folder}/root/opt' '${folder}/root/lib'`,
    `mount --bind '${folder}/root/opt' /opt`,
    `mount --bind '${folder}/root/lib' /var/lib`,
    'mount -t tmpfs tmpfs /tmp',
    'mount -t proc proc /proc',
    'mount -o remount,bind,ro /opt',
    'mount -o remount,bind,ro /',
  ];
  // What is bound before /tmp is covered stays where it is bound.
  return spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', `${mounts.join(' && ')} && exec "$@"`, 'sh', ...words],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
}

async function readStart(container: ChildProcess): Promise<StartLine> {
  let [stdout, stderr] = ['', ''];
  container.stderr!.on('data', (piece) => (stderr += piece));
  const line = await new Promise<string>((resolve, reject) => {
    container.stdout!.on('data', (piece) => {
      stdout += piece;
      if (stdout.includes('\n')) resolve(stdout.split('\n')[0]!);
    });
    container.once('close', (code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  return JSON.parse(line) as StartLine;
}

/** The one child of `unshare` is process 1 of the container, to which a stop signal goes. */
async function stopContainer(container: ChildProcess): Promise<{ code: number | null; seconds: number }> {
  const { stdout } = await run('pgrep', ['-P', String(container.pid)]);
  const begun = performance.now();
  process.kill(Number(stdout.trim()), textOf(image, 'STOPSIGNAL') as NodeJS.Signals);
  const [code] = (await once(container, 'close')) as [number | null];
  return { code, seconds: (performance.now() - begun) / 1000 };
}

async function readInbox(url: string): Promise<{ deviceToken: string }[]> {
  const answer = await fetch(`${url}/sandbox/inbox?limit=100`);
  return ((await answer.json()) as { messages: { deviceToken: string }[] }).messages;
}

describe.runIf(isTried)('what the image does (FULL=1)', () => {
  beforeAll(async () => {
    [build, image] = (await readDockerfile('deploy/Dockerfile')) as [Instruction[], Instruction[]];
    folder = await mkdtemp(join(tmpdir(), 'carillon-image-'));
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'root', 'opt'), { recursive: true });
    await mkdir(join(folder, 'root', 'lib', 'carillon'), { recursive: true });
    const [uid, gid] = textOf(image, 'USER').split(':').map(Number) as [number, number];
    await chown(join(folder, 'root', 'lib', 'carillon'), uid, gid);
    const words = textOf(build, 'RUN')
      .replace('/opt/carillon', join(folder, 'root', 'opt', 'carillon'))
      .split(' ');
    await run(process.execPath, words.slice(1), { cwd: projectFolder });
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('what it copies is made by its first stage, and holds no package that only builds or tests need', async () => {
    expect(image.map(({ name, text }) => `${name} ${text}`)).toContain('COPY --from=build /opt/carillon /opt/carillon');
    expect(textOf(build, 'RUN')).toMatch(/^node bootstrap\.js /);
    const made = join(folder, 'root', 'opt', 'carillon');
    const packages = await readdir(join(made, 'node_modules'));
    for (const name of ['typescript', 'vite', 'vitest', 'eslint', 'playwright-core', 'fast-check', 'react'])
      expect(packages).not.toContain(name);
    // The others are in the bundle of the server.
    expect(packages).toContain('pino');
    expect(packages).not.toContain('fastify');
    expect(existsSync(join(made, 'server', 'src', 'cli'))).toBe(false);
    const { stdout } = await run('du', ['-sm', made]);
    // Half of it is PostgreSQL.
    expect(Number(stdout.split('\t')[0])).toBeLessThan(110);
    expect((await stat(join(made, 'carillon'))).mode & 0o111).toBe(0o111);
  });

  test('its stack traces name the modules of the server and of its packages', async () => {
    const entry = join(folder, 'root', 'opt', 'carillon', 'server', 'bundle', 'carillon.js');
    const script = `process.argv.push('carillon', '--version');
      process.stdout.write = () => process.stderr.write(new Error('the trace').stack);
      await import(${JSON.stringify(pathToFileURL(entry).href)});`;
    const { stderr } = await run(process.execPath, ['--input-type=module', '-e', script]);
    expect(stderr).toMatch(/^Error: the trace\n {4}at /);
    expect(stderr).toMatch(/ at .*\(file:.*\/node_modules\/commander\/lib\/command\.js:\d+:\d+\)/);
    expect(stderr).toMatch(/\/server\/src\/cli\/[a-z-]+\.js:\d+:\d+/);
    expect(stderr).not.toContain('/server/bundle/');
  });

  test('its account has no name, its tree is read-only: it sends; the stop signal ends it within 10 s, and nothing is lost', async () => {
    const container = startContainer(['--json', '--port', '0']);
    const line = await readStart(container);
    const { url, workspaceId } = line;
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect((await fetch(`${url}/console/`)).status).toBe(200);
    const caller = makeCaller(line, () => url);
    const pushed = await caller.push({ campaignName: 'From a container', targetAudience: 'All Users' });
    expect(pushed.body).toMatchObject({ status: 'Success' });
    await until(async () => (await readInbox(url)).length > 0);
    const ended = await stopContainer(container);
    expect(ended.code).toBe(0);
    expect(ended.seconds).toBeLessThan(10);

    const again = startContainer(['--json', '--port', '0']);
    const second = await readStart(again);
    expect(second.workspaceId).toBe(workspaceId);
    // Each phone of the demo once, whether its message was sent before the stop or after.
    await until(async () => (await readInbox(second.url)).length >= demoPhones);
    expect((await stopContainer(again)).code).toBe(0);
    const third = startContainer(['--json', '--port', '0']);
    const tokens = (await readInbox((await readStart(third)).url)).map(({ deviceToken }) => deviceToken);
    expect([tokens.length, new Set(tokens).size]).toEqual([demoPhones, demoPhones]);
    await stopContainer(third);
  }, 120_000);

  test('the health check of the image asks the port it exposes', () => {
    const check = textOf(image, 'HEALTHCHECK');
    expect(check).toContain(`host: '127.0.0.1', port: ${textOf(image, 'EXPOSE')}, path: '/livez'`);
    expect(existsSync(join(projectFolder, '.dockerignore'))).toBe(true);
  });
});
