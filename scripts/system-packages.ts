import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * What some tests need of Debian. Packages are installed where that is possible without asking (root on a machine with apt);
 * elsewhere the tests that need them skip and say so. Services, which an installed package would start on this machine, are only
 * unpacked, below `folder`. Returns the environment in which all of them are found.
 */
export function findSystemPackages(folder: string): { PATH: string } {
  if (existsSync('/usr/bin/apt-get')) {
    installMissing();
    unpackMissing(folder);
  }
  const places = Object.keys(unpacked).flatMap((name) =>
    ['bin', 'sbin'].map((last) => join(folder, name, 'usr', last)).filter((place) => existsSync(place)),
  );
  return { PATH: [process.env.PATH, ...places].join(delimiter) };
}

/** Each with its program, by which it is known to be there. */
const installed = {
  // For the console; an HTTP/2 server that is not ours; a pooler.
  chromium: '/usr/bin/chromium',
  'chromium-headless-shell': '/usr/bin/chromium-headless-shell',
  nghttp2: '/usr/sbin/nghttpd',
  pgbouncer: '/usr/sbin/pgbouncer',
  // The program alone, without the service that its other package starts.
  'tinyproxy-bin': '/usr/bin/tinyproxy',
  // For the tests of client-python.
  python3: '/usr/bin/python3',
};

/** Reverse proxies, and the checker of alert rules. */
const unpacked = { nginx: 'nginx', caddy: 'caddy', prometheus: 'promtool' };

const packageMilliseconds = 600_000;
const isRoot = process.getuid?.() === 0;

function installMissing(): void {
  const missing = Object.entries(installed).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (missing.length === 0 || !isRoot) return;
  process.stdout.write(`\n== packages (${missing.join(', ')})\n`);
  const install = (names: string[]): boolean => apt(['install', '-y', '--no-install-recommends', ...names]);
  if (install(missing) || (apt(['update']) && install(missing))) return;
  // One that this Debian does not have must not keep the others away.
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

/** In its place only when it is whole. */
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
  // Its own account may not write where root downloads to, which it would remark on.
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
