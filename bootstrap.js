// Plain JavaScript, because it runs before anything is installed and on whatever Node the machine has (20 or newer).
// It installs the locked dependencies when they are missing or older than the lockfile, then hands over to the
// Node 24 that the repository brings in node_modules/.bin. Usage: node bootstrap.js <script.ts> [arguments …]
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants as access, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

function install() {
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
  const installed = spawnSync(npm, ['ci', '--loglevel=error', '--include=dev', '--include=optional'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (installed.status !== 0) {
    process.stderr.write('carillon: npm ci failed; its message is above.\n');
    process.exit(installed.status ?? 1);
  }
}

// The console is the one part that needs a build; it is made again only when its sources changed.
function isConsoleBuilt() {
  const page = join(root, 'console', 'dist', 'index.html');
  if (!existsSync(page)) return false;
  const builtAt = statSync(page).mtimeMs;
  return ['console/src', 'client/src'].every((folder) =>
    readdirSync(join(root, folder), { recursive: true }).every(
      (file) => statSync(join(root, folder, file)).mtimeMs <= builtAt,
    ),
  );
}

function buildConsole() {
  const refusal = findRefusal(join(root, 'console')) ?? findRefusal(join(root, 'console', 'dist'));
  if (refusal !== undefined) {
    const isThere = existsSync(join(root, 'console', 'dist', 'index.html'));
    process.stderr.write(
      `carillon: the console ${isThere ? 'is older than its sources' : 'is not built'} and ${root} cannot be written (${refusal}); the service runs ${isThere ? 'with the one that is there' : 'without it'}.\n`,
    );
    return;
  }
  const built = spawnSync(
    findNode(),
    [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn'],
    {
      cwd: join(root, 'console'),
      stdio: ['ignore', process.stderr, process.stderr],
    },
  );
  if (built.status !== 0)
    process.stderr.write('carillon: the console could not be built; the service runs without it.\n');
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

if (!isInstalled()) install();
if (!isConsoleBuilt()) buildConsole();

// Short-lived garbage is what a worker makes most of. Node's own 32 MB cost 350 MB of memory at 10,000 devices a second;
// 16 MB keep it below 260 MB at the same rate, 8 MB would slow it by a fifth.
const runtimeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];
const [script, ...scriptArguments] = process.argv.slice(2);
const child = spawn(findNode(), [...runtimeFlags, join(root, script), ...scriptArguments], { stdio: 'inherit' });

// Signals go to the server, which ends the database too; this process only waits and repeats its exit code.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // A terminal sends Ctrl-C to the whole group already; a second one would force the server's stop.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
