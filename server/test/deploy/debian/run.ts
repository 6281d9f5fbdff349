/**
 * `npm run test:debian`: executes the commands of docs/install.md for several nodes on Debian, in their order, on a bare Debian
 * 12 and a network of their own, while pushes are sent through nginx, and writes docs/reports/debian.txt with `-- --record`.
 * Needs root, debootstrap, Debian's packages and the package registry. `--tree <path>` takes a tree that was made before
 * by `debootstrap --variant=minbase bookworm`, `--folder <path>` one by `npm run production`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolder, readBlocks } from '../files.ts';

if (process.getuid?.() !== 0) {
  process.stderr.write('test:debian needs root: it mounts a tree of its own\n');
  process.exit(2);
}
const blocks = readBlocks();
const memory = mkdtempSync(join(tmpdir(), 'carillon-debian-'));
execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', memory]);
let status: number | null = 1;
try {
  const tree = optionOf('tree') ?? makeTree(join(memory, 'tree'));
  const folder = optionOf('folder') ?? makeFolder(join(memory, 'folder'));
  // What Debian is asked for needs its network; all that follows has one of its own, with this machine alone in it.
  const packages = ['bash', '-ec', `${blocks.get('Packages')!}\nservice postgresql stop`];
  if (unshare([], tree, packages) === 0) {
    cpSync(folder, join(memory, 'upper', 'opt', 'carillon-1'), { recursive: true, verbatimSymlinks: true });
    // The folder brings Node; Debian 12 has none that is new enough.
    const play = [
      '/opt/carillon-1/bin/node',
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'play.ts'),
    ];
    status = unshare(['--net'], tree, [...play, ...process.argv.slice(2)]);
  }
  if (status === 0 && process.argv.includes('--record'))
    copyFileSync(join(memory, 'upper', 'var', 'debian.txt'), join(projectFolder, 'docs', 'reports', 'debian.txt'));
} finally {
  execFileSync('umount', ['-l', memory]);
  rmSync(memory, { recursive: true, force: true });
}
process.exit(status ?? 1);

function optionOf(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

function makeTree(tree: string): string {
  execFileSync('debootstrap', ['--variant=minbase', 'bookworm', tree], { stdio: ['ignore', 'ignore', 'inherit'] });
  return tree;
}

/** By the command of the page, to another place. */
function makeFolder(folder: string): string {
  mkdirSync(join(folder, '..'), { recursive: true });
  const command = blocks.get('Folder')!.replace('/opt/carillon-1', folder);
  execFileSync('bash', ['-ec', command], { cwd: projectFolder, stdio: ['ignore', 'inherit', 'inherit'] });
  return folder;
}

function unshare(namespaces: string[], tree: string, words: string[]): number | null {
  const enter = ['bash', join(import.meta.dirname, 'enter.sh'), memory, tree, projectFolder];
  // No variable of this machine's, and Debian's own path.
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    DEBIAN_FRONTEND: 'noninteractive',
  };
  const all = ['--mount', '--pid', '--fork', '--kill-child', ...namespaces, ...enter, ...words];
  return spawnSync('unshare', all, { stdio: 'inherit', env }).status;
}
