import { inSchemaTransaction, withSession } from '../database.ts';
import type { Database, Queryable, Transaction } from '../database.ts';

/**
 * Returns the role that works across workspaces. The application's login is a member of it but does not inherit its
 * rights.
 */
export const acrossRoleOf = (application: string): string => `${application}_across`;

export type LoginRights = {
  role: string;
  /** Why row-level security does not restrict this login; undefined if it does. */
  fault: 'superuser' | 'bypasses row security' | 'owns the tables' | 'inherits the rights across' | undefined;
  /** True if the login may change the schema: it owns the schema, or there is none yet and it may create one. */
  mayMigrate: boolean;
  /** Undefined if there is no such role that the login may assume. */
  acrossRole: string | undefined;
};

/** Returns the role and the rights of the login of these connections. Reads the catalogue only. */
export async function readLoginRights(database: Queryable): Promise<LoginRights> {
  const [row] = await database<
    (Omit<LoginRights, 'fault'> & Record<'isSuperuser' | 'bypasses' | 'owns' | 'inherits' | 'isAllowed', boolean>)[]
  >`
    select login.rolname as role, login.rolsuper as "isSuperuser", login.rolbypassrls as bypasses, owned.owns,
      exists (
        select 1 from pg_policy where polname = 'across_workspaces' and login.oid = any(polroles)
      ) as "isAllowed",
      owned.owns or (not owned.exists and has_schema_privilege(login.rolname, 'public', 'create')) as "mayMigrate",
      across.rolname as "acrossRole", coalesce(pg_has_role(login.oid, across.oid, 'usage'), false) as inherits
    from pg_roles as login
    left join pg_roles as across
      on across.rolname = login.rolname || '_across' and pg_has_role(login.oid, across.oid, 'member')
    cross join lateral (
      select count(*) > 0 as exists, coalesce(bool_or(pg_has_role(login.oid, relowner, 'usage')), false) as owns
      from pg_class where relname = 'schema_migrations'
    ) as owned
    where login.rolname = current_user`;
  const { isSuperuser, bypasses, owns, inherits, isAllowed, ...rights } = row!;
  if (isSuperuser) return { ...rights, fault: 'superuser' };
  if (bypasses) return { ...rights, fault: 'bypasses row security' };
  if (owns) return { ...rights, fault: 'owns the tables' };
  return { ...rights, fault: inherits || isAllowed ? 'inherits the rights across' : undefined };
}

/** Raised when the application does not own the tables, and its roles are missing or misconfigured. */
export class ApplicationRolesError extends Error {
  override readonly name = 'ApplicationRolesError';
}

/**
 * Grants the application's login, and its role that works across workspaces, the rights they need in this database;
 * existing rights stay. Called by the owner after each migration. An application that is itself the owner only gets the
 * policy, because its tables apply policies to their owner too.
 *
 * @throws ApplicationRolesError
 */
export async function grantRights(owner: Database, application: string): Promise<void> {
  await withSession(owner, (session) => inSchemaTransaction(session, (tx) => grantEverything(tx, application)));
}

async function grantEverything(tx: Transaction, application: string): Promise<void> {
  // Two nodes that start together would change the same rows of the catalogue. The number is arbitrary.
  await tx`select pg_advisory_xact_lock(7312846)`;
  const [row] = await tx<{ ownerRole: string }[]>`select current_user as "ownerRole"`;
  const isOwner = application === row!.ownerRole;
  const across = isOwner ? application : acrossRoleOf(application);
  if (!isOwner) await requireRoles(tx, { application, across });
  await tx`
      select set_config('carillon.application', ${application}, true), set_config('carillon.across', ${across}, true)`;
  if (!isOwner) await grantTables(tx);
  await allowAcross(tx);
}

async function requireRoles(
  tx: Queryable,
  { application, across }: { application: string; across: string },
): Promise<void> {
  const [found] = await tx<{ isReady: boolean }[]>`
    select pg_has_role(application.oid, across.oid, 'member') and not pg_has_role(application.oid, across.oid, 'usage')
      as "isReady"
    from pg_roles as application, pg_roles as across
    where application.rolname = ${application} and across.rolname = ${across}`;
  if (found?.isReady) return;
  throw new ApplicationRolesError(
    `The role ${application} must be a member of the role ${across} and must not inherit its rights. Run the missing statements as an administrator: ` +
      `create role "${across}" nologin bypassrls; alter role "${application}" noinherit; revoke "${across}" from "${application}"; grant "${across}" to "${application}";`,
  );
}

// Staging tables of segments hold values of one workspace and no workspace_id; their creator grants access to them.
const grantTables = (tx: Queryable) => tx`
  do $$
  declare
    granted record;
    grantees text := format('%I, %I', current_setting('carillon.application'), current_setting('carillon.across'));
  begin
    execute format('grant usage on schema public to %s', grantees);
    for granted in
      select pg_class.oid::regclass as name, relkind = 'v' or relname = 'schema_migrations' as is_read from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and relname !~ '^segment_(lines|matches)_[0-9a-f]{24}_'
        and not (
          has_table_privilege(current_setting('carillon.application'), pg_class.oid, 'select')
          and has_table_privilege(current_setting('carillon.across'), pg_class.oid, 'select')
        )
    loop
      execute format(
        'grant %s on %s to %s', case when granted.is_read then 'select' else 'select, insert, update, delete' end,
        granted.name, grantees
      );
    end loop;
    execute format('grant usage, select on all sequences in schema public to %s', grantees);
    execute format(
      'grant execute on function make_day_partition(text, date), drop_day_partition(text, date, integer), '
      'make_segment_staging(text), drop_segment_staging(text), analyze_table(text) to %s', grantees
    );
  end $$`;

// The policy is for the owner, which runs the migrations, and for a role that the administrator could not create with
// bypassrls. An application that was once the owner is removed from it.
const allowAcross = (tx: Queryable) => tx`
  do $$
  declare
    guarded record;
    application text := current_setting('carillon.application');
    allowed text;
  begin
    for guarded in
      select pg_class.oid::regclass as name, polname, array(
        select rolname from pg_roles where pg_roles.oid = any(polroles) order by rolname
      ) as present, array(
        select rolname from pg_roles
        where pg_roles.oid = any(polroles) and (rolname <> application or rolname = current_user)
          or rolname in (current_user, current_setting('carillon.across'))
        order by rolname
      ) as roles
      from pg_class
      join pg_attribute on attrelid = pg_class.oid and attname in ('workspace_id', 'workspace_number')
        and not attisdropped
      left join pg_policy on polrelid = pg_class.oid and polname = 'across_workspaces'
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relrowsecurity
    loop
      continue when guarded.polname is not null and guarded.present = guarded.roles;
      select string_agg(quote_ident(name), ', ') into allowed from unnest(guarded.roles) as name;
      if guarded.polname is null then
        execute format('create policy across_workspaces on %s to %s using (true)', guarded.name, allowed);
      else
        execute format('alter policy across_workspaces on %s to %s', guarded.name, allowed);
      end if;
    end loop;
  end $$`;
