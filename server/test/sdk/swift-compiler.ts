import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export type SwiftCompiler = {
  /**
   * Compiles files into a module, which later compilations with the same folder find.
   *
   * @throws Error with the compiler's words, also for a warning
   */
  module: (name: string, sources: string[], folder: string) => void;
  /** Compiles a program that uses modules of the folder. Returns the words that start it. */
  program: (sources: string[], options: { folder: string; modules: string[] }) => [string, ...string[]];
};

/** The first Debian with Swift 6. Its compiler also runs in older ones, in a folder with its own C library. */
const release = 'trixie';
const packages = ['swiftlang', 'libswiftlang', 'libc6-dev', 'libstdc++-14-dev', 'bash', 'ca-certificates'];
/** Parts of the packages that compile nothing here: 1.2 GB of debugger, editor service, documentation, static libraries. */
const unneeded = [
  '*/bin/*lldb*',
  '*/lib/*lldb*',
  '*/bin/sourcekit-lsp',
  '*/bin/docc',
  '*/bin/clangd',
  '*/bin/swift-format',
].concat(['*/swift_static/*', './usr/share/doc/*', './usr/share/locale/*', './usr/share/man/*']);
const cache = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache');
const words = ['-swift-version', '6', '-warnings-as-errors'];

/**
 * Returns a compiler, or the reason why there is none: `swiftc` on the path, else Debian's packages (546 MB to download),
 * which are unpacked once and not installed.
 */
export function findSwift(): SwiftCompiler | string {
  if (spawnSync('swiftc', ['--version']).status === 0)
    return makeCompiler({ compile: (list) => run('swiftc', list), start: (program) => [program] });
  const tree = findTree();
  if (!tree.startsWith('/')) return tree;
  const libraries = ['usr/lib/x86_64-linux-gnu', 'usr/libexec/swift/lib/swift/linux'].map((path) => join(tree, path));
  return makeCompiler({
    compile: (list) => runInTree(tree, ['/usr/libexec/swift/bin/swiftc', ...list]),
    // By the loader of that Debian: the program needs its C library.
    start: (program) => [join(tree, 'lib64/ld-linux-x86-64.so.2'), '--library-path', libraries.join(':'), program],
  });
}

function makeCompiler(options: {
  compile: (words: string[]) => void;
  start: (program: string) => [string, ...string[]];
}): SwiftCompiler {
  const { compile, start } = options;
  return {
    module(name, sources, folder) {
      const made = ['-emit-module-path', join(folder, `${name}.swiftmodule`), '-o', join(folder, `lib${name}.a`)];
      const kind = ['-emit-module', '-emit-library', '-static', '-parse-as-library', '-module-name', name];
      compile([...words, '-I', folder, ...kind, ...made, ...sources]);
    },
    program(sources, { folder, modules }) {
      const made = join(folder, 'program');
      const linked = modules.map((name) => `-l${name}`);
      compile([...words, '-I', folder, '-L', folder, ...linked, '-o', made, ...sources]);
      return start(made);
    },
  };
}

function findTree(): string {
  if (!existsSync('/usr/bin/apt-get') || process.arch !== 'x64') return 'no swiftc';
  if (process.getuid?.() !== 0) return 'no swiftc, and only root can unpack it';
  const digest = createHash('sha256')
    .update(JSON.stringify([release, packages, unneeded]))
    .digest('hex')
    .slice(0, 16);
  const tree = join(cache, `swift-${digest}`);
  if (existsSync(tree)) return tree;
  mkdirSync(cache, { recursive: true });
  const making = mkdtempSync(join(cache, 'swift-new-'));
  try {
    download(making);
    unpack(join(making, 'cache', 'archives'), join(making, 'tree'));
    renameSync(join(making, 'tree'), tree);
    return tree;
  } catch (error) {
    return `Swift could not be unpacked: ${(error as Error).message.trim().split('\n').at(-1)}`;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Downloads the packages with everything that they need, from the archive that this machine installs from. */
function download(folder: string): void {
  const [, own = ''] = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const sites = spawnSync('apt-get', ['indextargets', '--format', '$(CODENAME) $(COMPONENT) $(SITE)'], {
    encoding: 'utf8',
  }).stdout.split('\n');
  const site = sites.find((line) => line.startsWith(`${own} main `))?.split(' ')[2];
  if (site === undefined) throw new Error('apt has no list of packages');
  for (const path of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, path), { recursive: true });
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(join(folder, 'sources.list'), `deb [signed-by=${keys}] ${site} ${release} main\n`);
  writeFileSync(join(folder, 'status'), '');
  const options = [
    ...[`Dir::Etc::sourcelist=${join(folder, 'sources.list')}`, 'Dir::Etc::sourceparts=/dev/null'],
    ...[`Dir::State::lists=${join(folder, 'lists')}`, `Dir::State::status=${join(folder, 'status')}`],
    ...[`Dir::Cache=${join(folder, 'cache')}`, 'APT::Sandbox::User=root'],
  ].flatMap((option) => ['-o', option]);
  run('apt-get', ['-qq', ...options, 'update']);
  run('apt-get', ['-qq', ...options, 'install', '-y', '--no-install-recommends', '--download-only', ...packages]);
}

function unpack(archives: string, tree: string): void {
  mkdirSync(tree);
  const left = unneeded.map((pattern) => `--exclude=${pattern}`).join(' ');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb')))
    run('bash', [
      '-c',
      `set -f; dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" ${left}`,
      '-',
      join(archives, name),
      tree,
    ]);
}

/** Runs a command with the tree as its root; the repository and temporary files stay at their paths. Ends its mounts with it. */
function runInTree(tree: string, command: string[]): void {
  const repository = join(import.meta.dirname, '..', '..', '..');
  const script = `
    set -e
    for place in /tmp "$2"; do mkdir -p "$1$place"; mount --bind "$place" "$1$place"; done
    mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"
    tree="$1"; shift 2; exec chroot "$tree" "$@"`;
  run('unshare', ['--mount', 'bash', '-c', script, '-', tree, repository, ...command]);
}

/** @throws Error with the last words of a command that failed */
function run(command: string, list: string[]): void {
  const { status, stderr, stdout, error } = spawnSync(command, list, { encoding: 'utf8', timeout: 600_000 });
  if (status !== 0) throw new Error(`${stderr ?? ''}${stdout ?? ''}` || `${command}: ${error?.message ?? status}`);
}
