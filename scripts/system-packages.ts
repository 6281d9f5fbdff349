import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Debian packages that some tests need. They are installed if that is possible without a prompt (root on a machine with apt);
 * elsewhere the tests that need them are skipped and report it. Packages of services, which would start on this machine after
 * installation, are only unpacked below `folder`. Returns the environment in which all of them are found.
 */
export function findSystemPackages(folder: string, { isFull }: { isFull: boolean }): { PATH: string } {
  if (existsSync('/usr/bin/apt-get')) {
    installMissing(isFull ? { ...installed, ...installedForFull } : installed);
    unpackMissing(folder);
  }
  const places = Object.keys(unpacked).flatMap((name) =>
    ['bin', 'sbin'].map((last) => join(folder, name, 'usr', last)).filter((place) => existsSync(place)),
  );
  return { PATH: [process.env.PATH, ...places].join(delimiter) };
}

/** Each package with the program that shows that it is installed. */
const installed = {
  // For the console; an independent HTTP/2 server; a connection pooler.
  chromium: '/usr/bin/chromium',
  'chromium-headless-shell': '/usr/bin/chromium-headless-shell',
  nghttp2: '/usr/sbin/nghttpd',
  pgbouncer: '/usr/sbin/pgbouncer',
  // The program only, without the service that its other package starts.
  'tinyproxy-bin': '/usr/bin/tinyproxy',
  // For the tests of client-python.
  python3: '/usr/bin/python3',
};

/** For sdk/android, which only FULL=1 compiles: 45 MB to download. */
const installedForFull = {
  'default-jre-headless': '/usr/bin/java',
  'libandroid-json-java': '/usr/share/java/com.android.json.jar',
};

/** Reverse proxies, and the checker of alert rules. */
const unpacked = { nginx: 'nginx', caddy: 'caddy', prometheus: 'promtool' };

const packageMilliseconds = 600_000;
const isRoot = process.getuid?.() === 0;

function installMissing(wanted: Record<string, string>): void {
  const missing = Object.entries(wanted).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (missing.length === 0 || !isRoot) return;
  process.stdout.write(`\n== packages (${missing.join(', ')})\n`);
  const install = (names: string[]): boolean => apt(['install', '-y', '--no-install-recommends', ...names]);
  if (install(missing) || (apt(['update']) && install(missing))) return;
  // A package that this Debian does not have must not prevent the installation of the others.
  tellFailed(missing.filter((name) => !install([name])));
}

function unpackMissing(folder: string): void {
  const missing = Object.entries(unpacked).flatMap(([name, program]) =>
    existsSync(join(folder, name)) || isOnPath(program) ? [] : [name],
  );
  if (missing.length === 0) return;
  process.stdout.write(`\n== unpacked packages (${missing.join(', ')})\n`);
  mkdirSync(folder, { recursive: true });
  const unpack = (name: string): boolean => unpackOne(name, folder);
  const failed = missing.filter((name) => !unpack(name));
  if (failed.length > 0) tellFailed(isRoot && apt(['update']) ? failed.filter((name) => !unpack(name)) : failed);
}

/** Moved to its final place only when it is complete. */
function unpackOne(name: string, folder: string): boolean {
  const making = mkdtempSync(join(folder, '.making-'));
  try {
    if (!apt(['download', name], making)) return false;
    const archive = readdirSync(making).find((file) => file.endsWith('.deb'));
    if (archive === undefined) return false;
    const place = join(making, name);
    if (spawnSync('dpkg-deb', ['-x', join(making, archive), place]).status !== 0) return false;
    renameSync(place, join(folder, name));
    return true;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((place) => place !== '' && existsSync(join(place, program)));
}

function apt(words: string[], folder = '/'): boolean {
  // apt would warn that its account cannot write to the download folder of root.
  const asRoot = isRoot ? ['-o', 'APT::Sandbox::User=root'] : [];
  const ran = spawnSync('apt-get', ['-qq', ...asRoot, ...words], {
    ...{ cwd: folder, timeout: packageMilliseconds, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return ran.status === 0;
}

function tellFailed(names: string[]): void {
  if (names.length > 0)
    process.stdout.write(`${names.join(', ')} could not be installed; the tests that need it will skip\n`);
}
