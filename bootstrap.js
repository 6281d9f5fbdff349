// Plain JavaScript, because it runs before anything is installed and on whatever Node the machine has (20 or newer).
// It installs the locked dependencies when they are missing or older than the lockfile, then hands over to the
// Node 24 that the repository brings in node_modules/.bin. Usage: node bootstrap.js <script.ts> [arguments …]
import { spawn } from 'node:child_process';
import { accessSync, constants as access, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Whatever is running now gets the signals of this process: npm, the build of the console, at last the script itself.
let running;
let stopSignal;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));

const [script, ...scriptArguments] = process.argv.slice(2);
const isService = script === 'server/src/main.ts';

// npm that began this process may have ended without passing a signal on: killed, or stopped in the few milliseconds
// between beginning a script and listening for signals. What it began would hold the folder and the port for good.
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
 * Whether npm had ended before this process looked for it: whoever takes orphans is its parent then. npm names itself
 * `npm start`; where its own name for itself is not seen, it is a node that runs npm's file.
 */
function isOrphan() {
  // Other runners of scripts name themselves in other ways.
  if (!(process.env.npm_config_user_agent ?? '').startsWith('npm/')) return false;
  try {
    return !/(^|\/)npm(-cli\.js)?([ \0]|$)/.test(readFileSync(`/proc/${parent}/cmdline`, 'latin1'));
  } catch {
    // No /proc, or closed to others: the first process is the one that takes orphans.
    return parent === 1;
  }
}

const root = dirname(fileURLToPath(import.meta.url));
const lockfile = join(root, 'package-lock.json');
// npm writes this file last, so a broken install is seen as no install.
const installedLockfile = join(root, 'node_modules', '.package-lock.json');

// As exitCodes.DATA_FOLDER_UNUSABLE (docs/operations.md): a place that cannot be written where it must be.
const unusableFolderCode = 11;

function isInstalled() {
  if (!existsSync(installedLockfile)) return false;
  return statSync(installedLockfile).mtimeMs >= statSync(lockfile).mtimeMs || holdsLockedPackages();
}

// A checkout that was copied has new times in any order; what counts then is the packages themselves.
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

/** What the system says against writing there; undefined when nothing does. */
function findRefusal(folder) {
  try {
    accessSync(folder, access.W_OK);
    return undefined;
  } catch (error) {
    return error.code === 'ENOENT' ? undefined : error.code;
  }
}

/** Runs a program until it and what it started have ended; resolves to its exit code, or the signal that ended it. */
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

/** What must be done before the script; stopped with everything it started, by one signal to its group. */
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
  // Those that it started may need a moment longer.
  for (let waited = 0; group !== undefined && waited < 100 && signalGroup(group, 0); waited += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  process.exit(isService ? 0 : codeOf(stopSignal));
}

/** Whether the group has a member that the signal could be sent to. */
function signalGroup(group, signal) {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}

/** As a shell says that a signal ended a program. */
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
  // --include=optional and dev: the embedded database and Node 24 are optional packages, the checks are dev ones.
  const { code } = await prepare(npm, ['ci', '--loglevel=error', '--include=dev', '--include=optional'], {
    cwd: root,
  });
  if (code !== 0) {
    process.stderr.write('carillon: npm ci failed; its message is above.\n');
    process.exit(code ?? 1);
  }
}

// The console is the one part that needs a build; it is made again only when its sources changed.
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
  // With another NODE_ENV of the caller, such as a test runner's, it would be React's development build: a third larger
  // and slower on every screen, until the sources change again.
  const { code } = await prepare(findNode(), [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(root, 'console'),
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (code !== 0) process.stderr.write('carillon: the console could not be built; the service runs without it.\n');
}

function findNode() {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  process.stderr.write(
    `carillon: Node 24 is needed; this machine has ${process.versions.node} and no packaged Node exists for ${process.platform}-${process.arch}.\n`,
  );
  process.exit(1);
}

/**
 * The documentation is built beside the service, at a lower priority, so that no start waits for it: /docs has it some seconds
 * later. What it says is nobody's concern here; npm run docs says it.
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

// Short-lived garbage is what a worker makes most of. Node's own 32 MB cost 350 MB of memory at 10,000 devices a second;
// 16 MB keep it below 260 MB at the same rate, 8 MB would slow it by a fifth.
const runtimeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];
// A signal may have come between two steps, when nothing was running.
if (stopSignal !== undefined) process.exit(isService ? 0 : codeOf(stopSignal));

// What was compiled at one start is read at the next: 0.5 s of the processor each time. Where the folder cannot be written,
// Node compiles as ever.
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') };

if (isService) buildDocsBeside();

// Signals go to the server, which ends the database too; this process only waits and repeats its exit code.
const { code, signal } = await run(findNode(), [...runtimeFlags, join(root, script), ...scriptArguments], {
  stdio: 'inherit',
  env: { ...compileCache, ...process.env },
  // npm runs scripts in this folder; the paths of a command are those of whoever called it.
  cwd: script === 'server/src/cli/carillon.ts' && isOfNpm ? process.env.INIT_CWD : undefined,
  passOn(child, signal) {
    // A terminal sends Ctrl-C to the whole group already. The service takes the two for one; another script may not.
    if (isService || signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  },
});
// Before the first line of the service nothing has begun: it was stopped as asked.
if (isService && signal !== null && signal === stopSignal) process.exit(0);
process.exit(signal ? codeOf(signal) : (code ?? 1));
