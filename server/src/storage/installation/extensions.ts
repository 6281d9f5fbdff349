import type { Queryable } from '../database.ts';

/** Those that searches are fast by, and that a migration makes where it may. */
export const usefulExtensions = ['pg_trgm', 'btree_gin'] as const;

export type Extension = { name: string; isAvailable: boolean; isInstalled: boolean };

/** Which of them the database has, and the server could have. Reads the catalogue and a folder of the server. */
export async function readUsefulExtensions(tx: Queryable): Promise<Extension[]> {
  return tx<Extension[]>`
    select wanted.name, available.name is not null as "isAvailable", available.installed_version is not null as "isInstalled"
    from unnest(${[...usefulExtensions]}::text[]) with ordinality as wanted (name, place)
    left join pg_available_extensions as available on available.name = wanted.name
    order by wanted.place`;
}
