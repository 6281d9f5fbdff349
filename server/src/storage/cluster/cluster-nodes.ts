import type { Queryable } from '../database.ts';

export type ClusterExtension = {
  /** Undefined where the server has no such extension. */
  availableVersion: string | undefined;
  /** Undefined while it has not been made in this database. */
  installedVersion: string | undefined;
};

/** Reads the catalogue, and which extensions there are files of. */
export async function readClusterExtension(on: Queryable): Promise<ClusterExtension> {
  const [row] = await on<{ available: string; installed: string | null }[]>`
    select default_version as available, installed_version as installed from pg_available_extensions where name = 'citus'`;
  return { availableVersion: row?.available, installedVersion: row?.installed ?? undefined };
}

export type ClusterNode = {
  id: number;
  host: string;
  port: number;
  isCoordinator: boolean;
  isActive: boolean;
  holdsShards: boolean;
};

/** Those that take writes, the coordinator first. The extension must be there. */
export async function listClusterNodes(on: Queryable): Promise<ClusterNode[]> {
  return on<ClusterNode[]>`
    select nodeid as id, nodename as host, nodeport as port, groupid = 0 as "isCoordinator", isactive as "isActive",
      shouldhaveshards as "holdsShards"
    from pg_dist_node where noderole = 'primary' order by groupid limit 1000`;
}

/** Roles that have rights on the tables of this database and may not sign in, as nobody may on the workers. */
export async function listRolesWithoutLogin(on: Queryable): Promise<string[]> {
  const rows = await on<{ name: string }[]>`
    select distinct rolname as name
    from pg_class cross join aclexplode(relacl) as acl join pg_roles on pg_roles.oid = acl.grantee
    where pg_class.oid = 'users'::regclass and not rolcanlogin
    order by rolname`;
  return rows.map(({ name }) => name);
}
