import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The release with which the layout and the statements are tested. */
export const citusVersion = 'v13.2.2';
const origin = 'https://github.com/citusdata/citus';

/**
 * Builds the extension for Debian's PostgreSQL 15 from its source and installs it. Takes about ten minutes on two cores.
 *
 * @param source a git directory or working copy that has the tag; if undefined, the source is cloned
 * @returns undefined if the extension was installed, otherwise the reason why not
 */
export async function buildCitus(source: string | undefined, say: (line: string) => void): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'installing the extension needs root';
  if (!existsSync('/usr/bin/apt-get')) return 'the build needs packages from apt, which this system does not have';
  const folder = await mkdtemp(join(tmpdir(), 'carillon-citus-source-'));
  try {
    for (const [name, command] of steps(folder, source)) {
      say(`${name}: ${command}`);
      const { status } = spawnSync('/bin/bash', ['-c', `set -eo pipefail; ${command}`], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
        timeout: maxStepMilliseconds,
      });
      if (status !== 0) return `${name} failed`;
      if (name === 'source') await removeDuplicateFunction(folder);
    }
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const maxStepMilliseconds = 30 * 60_000;

function steps(folder: string, source: string | undefined): [name: string, command: string][] {
  const packages =
    'postgresql-15 postgresql-server-dev-15 git make gcc flex bison pkg-config liblz4-dev libzstd-dev libssl-dev libkrb5-dev libreadline-dev zlib1g-dev libxml2-dev libxslt1-dev libpam0g-dev libselinux1-dev libicu-dev';
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    // Debian's package would also create and start a database cluster, which is not needed here.
    [
      'packages',
      `mkdir -p /etc/postgresql-common/createcluster.d && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/carillon-test.conf; ` +
        `apt-get -qq update; DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends ${packages}`,
    ],
    [
      'source',
      source === undefined
        ? `git clone -q --depth 1 --branch ${citusVersion} ${origin} ${quoted(folder)}`
        : `git -C ${quoted(source)} archive ${citusVersion} | tar x -C ${quoted(folder)}`,
    ],
    ['configure', 'PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config ./configure -q --without-libcurl'],
    ['make', `make -s -j${availableParallelism()} with_llvm=no extension`],
    ['install', 'make -s with_llvm=no install-all'],
  ];
}

/** Removes a function that newer minor versions of PostgreSQL 15 define themselves. */
async function removeDuplicateFunction(folder: string): Promise<void> {
  const path = join(folder, 'src', 'include', 'pg_version_compat.h');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/static inline bool\nhave_createdb_privilege\(void\)\n\{[^]*?\n\}\n/, ''));
}
