/**
 * `npm run test:executable`: makes the executable and a next version of it, and plays an ordinary user on a bare Debian 12 with
 * them (play.ts). Writes docs/reports/executable.txt with `-- --record`. Needs root, debootstrap and the package registry.
 * `--tree <path>` takes a tree that was made before by `debootstrap --variant=minbase bookworm`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ExecutablePlatform, readNodeOfExecutable } from '../../../../scripts/release/read-node.ts';
import { projectFolder } from '../files.ts';

const { values } = parseArgs({ options: { tree: { type: 'string' }, record: { type: 'boolean', default: false } } });
if (process.getuid?.() !== 0) {
  process.stderr.write('test:executable needs root: it mounts a separate tree\n');
  process.exit(2);
}
const memory = mkdtempSync(join(tmpdir(), 'carillon-executable-'));
execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', memory]);
let status: number | null = 1;
try {
  const tree = values.tree ?? join(memory, 'tree');
  if (values.tree === undefined)
    execFileSync('debootstrap', ['--variant=minbase', 'bookworm', tree], { stdio: ['ignore', 'ignore', 'inherit'] });
  const home = join(memory, 'upper', 'home', 'ada');
  mkdirSync(home, { recursive: true });
  const sizes = makeExecutables(home);
  // The Node of this script may need a library that the tree does not have. The user does not see the driver's.
  mkdirSync(join(memory, 'upper', 'opt'));
  const node = readNodeOfExecutable(`${process.platform}-${process.arch}` as ExecutablePlatform);
  writeFileSync(join(memory, 'upper', 'opt', 'driver-node'), node, { mode: 0o755 });
  const play = join(import.meta.dirname, 'play.ts');
  const driver = ['/opt/driver-node', '--disable-warning=ExperimentalWarning', play];
  status = enter(tree, [...driver, ...sizes]);
  if (status === 0 && values.record)
    copyFileSync(join(memory, 'upper', 'var', 'executable.txt'), join(projectFolder, 'docs/reports/executable.txt'));
} finally {
  execFileSync('umount', ['-l', memory]);
  rmSync(memory, { recursive: true, force: true });
}
process.exit(status ?? 1);

/** Writes `carillon` and `carillon-next`, the same program with the next version. Returns bytes on the disk and of the download. */
function makeExecutables(folder: string): string[] {
  const program = join(memory, 'program');
  const script = (name: string, ...words: string[]): void => {
    const path = join(projectFolder, 'scripts', `${name}.ts`);
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...words], {
      cwd: projectFolder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  };
  script('make-production-folder', '--out', program, '--without', 'node');
  const executable = join(folder, 'carillon');
  script('make-executable', '--program', program, '--out', executable);
  raiseVersion(program);
  script('make-executable', '--program', program, '--out', join(folder, 'carillon-next'));
  const archive = join(memory, 'carillon.tar.gz');
  execFileSync('tar', ['czf', archive, '-C', folder, 'carillon']);
  return [executable, archive].map((path) => String(statSync(path).size));
}

/** Replaces the version in the only file of the bundle that contains it. */
function raiseVersion(program: string): void {
  const manifest = readFileSync(join(program, 'server', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const bundle = join(program, 'server', 'bundle');
  const names = readdirSync(bundle).filter((name) => /^carillon-version-[^.]*\.js$/.test(name));
  if (names.length !== 1) throw new Error(`${names.length} files of the bundle contain the version`);
  const file = join(bundle, names[0]!);
  writeFileSync(file, readFileSync(file, 'utf8').replace(`"${version}"`, `"${version}-next"`));
}

/** The tree has a separate network, in which this machine is alone. */
function enter(tree: string, words: string[]): number | null {
  const script = join(projectFolder, 'server', 'test', 'deploy', 'debian', 'enter.sh');
  const all = ['--mount', '--pid', '--net', '--fork', '--kill-child', 'bash', script, memory, tree, projectFolder];
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  return spawnSync('unshare', [...all, ...words], { stdio: 'inherit', env }).status;
}
