import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export type CitusPrograms = { initdb: string; postgres: string };

/** The newest PostgreSQL of Debian's packages that has the extension. */
export function findCitus(): CitusPrograms | undefined {
  const versions = readVersions().sort((left, right) => right - left);
  const version = versions.find((number) => existsSync(`/usr/share/postgresql/${number}/extension/citus.control`));
  if (version === undefined) return undefined;
  const folder = join('/usr/lib/postgresql', String(version), 'bin');
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
}

function readVersions(): number[] {
  if (!existsSync('/usr/lib/postgresql')) return [];
  return readdirSync('/usr/lib/postgresql').map(Number).filter(Number.isInteger);
}
