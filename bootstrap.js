// Plain JavaScript, because it runs before anything is installed and on any Node of the machine (20 or newer). It installs the
// locked dependencies if they are missing or older than the lockfile, then starts the script with the Node 26 in
// node_modules/.bin. Usage: node bootstrap.js <script.ts> [arguments …]
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants as access, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The running child gets the signals of this process: npm, the build of the console, then the script itself.
let running;
let stopSignal;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));

const [script, ...scriptArguments] = process.argv.slice(2);
const isService = script === 'server/src/main.ts';

// The npm process that started this one may have ended without forwarding a signal: it was killed, or was stopped in the few
// milliseconds between starting a script and listening for signals. Its child would then hold the folder and the port forever.
const isOfNpm = (process.env.npm_lifecycle_script ?? '').startsWith(`exec node bootstrap.js ${script}`);
const parent = process.ppid;
if (isOfNpm) {
  if (isOrphan()) process.exit(isService ? 0 : codeOf('SIGTERM'));
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop('SIGTERM');
  }, 500).unref();
}

function stop(signal) {
  stopSignal ??= signal;
  running?.passOn(signal);
}

/**
 * True if npm ended before this process looked for it: the parent is then the process that adopts orphans. npm names itself
 * `npm start`. If its name is not visible, the parent is a node process that runs npm's file.
 */
function isOrphan() {
  // Other script runners use other names.
  if (!(process.env.npm_config_user_agent ?? '').startsWith('npm/')) return false;
  try {
    return !/(^|\/)npm(-cli\.js)?([ \0]|$)/.test(readFileSync(`/proc/${parent}/cmdline`, 'latin1'));
  } catch {
    // No /proc, or no access to it: process 1 adopts orphans.
    return parent === 1;
  }
}

const root = dirname(fileURLToPath(import.meta.url));
const lockfile = join(root, 'package-lock.json');
// npm writes this file last, so an interrupted install counts as no install.
const installedLockfile = join(root, 'node_modules', '.package-lock.json');

// Same as exitCodes.DATA_FOLDER_UNUSABLE (docs/operations.md): a required folder is not writable.
const unusableFolderCode = 11;

function isInstalled() {
  if (!existsSync(installedLockfile)) return false;
  return statSync(installedLockfile).mtimeMs >= statSync(lockfile).mtimeMs || holdsLockedPackages();
}

// A copied checkout has new modification times in any order, so only the packages themselves count.
function holdsLockedPackages() {
  const { packages: locked } = JSON.parse(readFileSync(lockfile, 'utf8'));
  const { packages: installed } = JSON.parse(readFileSync(installedLockfile, 'utf8'));
  return Object.entries(locked).every(([path, entry]) => {
    const found = installed[path];
    // The packages of other platforms are optional and absent. The entry without a path is the project itself.
    if (!found) return path === '' || entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** Returns the reason why the folder is not writable; undefined if it is. */
function findRefusal(folder) {
  try {
    accessSync(folder, access.W_OK);
    return undefined;
  } catch (error) {
    return error.code === 'ENOENT' ? undefined : error.code;
  }
}

/** Runs a program until it and its children have ended; resolves to its exit code, or the signal that ended it. */
function run(file, words, { passOn, ...options }) {
  return new Promise((resolve) => {
    const child = spawn(file, words, options);
    running = { passOn: (signal) => passOn(child, signal) };
    const end = (code, signal) => {
      running = undefined;
      resolve({ code, signal });
    };
    child.on('error', (error) => {
      process.stderr.write(`carillon: ${file} cannot be run: ${error.message}\n`);
      end(1, null);
    });
    child.on('exit', end);
  });
}

/** Runs a step that must finish before the script starts. One signal to its group stops it and all its children. */
async function prepare(file, words, { cwd, env = process.env }) {
  let group;
  const ended = await run(file, words, {
    cwd,
    env,
    stdio: ['ignore', process.stderr, process.stderr],
    detached: true,
    passOn(child, signal) {
      group = -child.pid;
      signalGroup(group, signal);
    },
  });
  if (stopSignal === undefined) return ended;
  // Its children may need a moment longer.
  for (let waited = 0; group !== undefined && waited < 100 && signalGroup(group, 0); waited += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  process.exit(isService ? 0 : codeOf(stopSignal));
}

/** True if the group has a process that could get the signal. */
function signalGroup(group, signal) {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}

/** The exit code that a shell uses for a program that a signal ended. */
function codeOf(signal) {
  return 128 + constants.signals[signal];
}

async function install() {
  const refusal = findRefusal(root) ?? findRefusal(join(root, 'node_modules'));
  if (refusal !== undefined) {
    process.stderr.write(
      `carillon: the dependencies are missing or not those of package-lock.json, and ${root} cannot be written (${refusal}); run "npm ci --include=dev" there as somebody who may.\n`,
    );
    process.exit(unusableFolderCode);
  }
  process.stderr.write('carillon: installing the locked dependencies (npm ci) …\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // --include=optional and dev: the embedded database and Node 26 are optional packages, the checks are dev packages.
  const { code } = await prepare(npm, ['ci', '--loglevel=error', '--include=dev', '--include=optional'], {
    cwd: root,
  });
  if (code !== 0) {
    process.stderr.write('carillon: npm ci failed; its message is above.\n');
    process.exit(code ?? 1);
  }
}

// Only the console needs a build; it is rebuilt only if its sources changed.
function isConsoleBuilt() {
  const page = join(root, 'console', 'dist', 'index.html');
  if (!existsSync(page)) return false;
  const builtAt = statSync(page).mtimeMs;
  const own = readdirSync(join(root, 'console')).filter((name) => name !== 'dist' && name !== 'node_modules');
  return ['package-lock.json', 'client/src', ...own.map((name) => join('console', name))].every(
    (name) => newestChange(join(root, name)) <= builtAt,
  );
}

function newestChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(0, ...readdirSync(path, { recursive: true }).map((name) => statSync(join(path, name)).mtimeMs));
}

async function buildConsole() {
  const refusal = findRefusal(join(root, 'console')) ?? findRefusal(join(root, 'console', 'dist'));
  if (refusal !== undefined) {
    const isThere = existsSync(join(root, 'console', 'dist', 'index.html'));
    process.stderr.write(
      `carillon: the console ${isThere ? 'is older than its sources' : 'is not built'} and ${root} cannot be written (${refusal}); the service runs ${isThere ? 'with the one that is there' : 'without it'}.\n`,
    );
    return;
  }
  process.stderr.write('carillon: building the console (once, about ten seconds) …\n');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  // Another NODE_ENV of the caller, such as a test runner's, would produce React's development build: a third larger and slower
  // on every screen, until the sources change again.
  const { code } = await prepare(findNode(), [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(root, 'console'),
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (code !== 0) process.stderr.write('carillon: the console could not be built; the service runs without it.\n');
}

let foundNode;
function findNode() {
  foundNode ??= lookForNode();
  return foundNode;
}

function lookForNode() {
  const own = join(root, 'node_modules', '.bin', 'node');
  const isThere = existsSync(own);
  // It does not start where a library is missing: minimal systems have no libatomic.so.1.
  const attempt = isThere ? spawnSync(own, ['--version'], { encoding: 'utf8' }) : undefined;
  if (attempt?.status === 0) return own;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  const reason = isThere
    ? `the packaged one does not start (${(attempt.error?.message ?? attempt.stderr).trim()}). Debian and Ubuntu: apt-get install libatomic1; Fedora and RHEL: dnf install libatomic`
    : `no packaged Node exists for ${process.platform}-${process.arch}`;
  process.stderr.write(
    `carillon: Node 24 or newer is needed; this machine has ${process.versions.node}, and ${reason}.\n`,
  );
  process.exit(1);
}

/**
 * Builds the documentation next to the service, at a lower priority, so that no start waits for it; /docs is available some
 * seconds later. Its output is dropped; npm run docs shows it.
 */
function buildDocsBeside() {
  const script = join(root, 'scripts', 'build-docs.ts');
  if (!existsSync(script) || findRefusal(join(root, 'docs')) !== undefined) return;
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', script, '--if-older'], { stdio: 'ignore' });
  child.on('error', () => undefined);
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  child.unref();
  process.on('exit', () => child.kill());
}

if (!isInstalled()) await install();
if (!isConsoleBuilt()) await buildConsole();

// A worker mostly allocates short-lived objects. Node's default of 32 MB cost 350 MB of memory at 10,000 devices a second; 16
// MB keep it below 260 MB at the same rate; 8 MB would slow it by a fifth.
const runtimeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];
// A signal may have arrived between two steps, when no child was running.
if (stopSignal !== undefined) process.exit(isService ? 0 : codeOf(stopSignal));

// The compile cache of one start serves the next: it saves 0.5 s of CPU time. If the folder is not writable, Node compiles as
// usual.
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') };

if (isService) buildDocsBeside();

// Signals go to the server, which also stops the database. This process only waits and returns the exit code of the server.
const { code, signal } = await run(findNode(), [...runtimeFlags, join(root, script), ...scriptArguments], {
  stdio: 'inherit',
  env: { ...compileCache, ...process.env },
  // npm runs scripts in this folder, but the paths of a command are relative to the caller's folder.
  cwd: script === 'server/src/cli/carillon.ts' && isOfNpm ? process.env.INIT_CWD : undefined,
  passOn(child, signal) {
    // A terminal sends Ctrl-C to the whole group. The service treats the second signal as the first; other scripts may not.
    if (isService || signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  },
});
// Before the first line of the service, nothing has started, so it was stopped as requested.
if (isService && signal !== null && signal === stopSignal) process.exit(0);
process.exit(signal ? codeOf(signal) : (code ?? 1));
