import type { Queryable, Session, Statement } from '../database.ts';

/** The staging tables that rows are streamed to: PostgreSQL does not support `copy` into a table with policies. */
export type CopiedTable =
  'import_users' | 'import_identifiers' | 'import_devices' | 'import_events' | 'new_identifiers';

/** Creates the staging tables of users in this session: without indexes or crash safety, dropped with the session. */
export async function makeUserStaging(session: Session): Promise<void> {
  // All rows of a batch are alike, so a small sample is enough for the planner and takes a tenth of the time.
  await session`set default_statistics_target = 10`;
  await session`
    create temporary table if not exists import_users (
      bucket smallint, id text collate "C", customer_id text collate "C", attributes jsonb, removed text[],
      is_existing boolean, is_changed boolean
    )`;
  await session`
    create temporary table if not exists import_identifiers (
      customer_id text collate "C", attribute text collate "C", type text, value text collate "C"
    )`;
  await session`
    create temporary table if not exists new_identifiers (
      bucket smallint, user_id text collate "C", attribute text collate "C", type text, value text collate "C"
    )`;
  // An interrupted import may have left rows in this connection.
  await session`truncate import_users, import_identifiers, new_identifiers`;
}

/** The `COPY` into each table; the lines are in PostgreSQL's text format. */
export const copyInto: Record<CopiedTable, (tx: Queryable) => Statement> = {
  import_users: (tx) => tx`copy import_users (bucket, id, customer_id, attributes, removed) from stdin`,
  import_identifiers: (tx) => tx`copy import_identifiers from stdin`,
  import_devices: (tx) => tx`
    copy import_devices (
      line, customer_id, bucket, id, device_id, platform, push_provider, push_id, push_id_type, app_id, address_hash, state,
      provisional, model, app_version, os_version, gaid, idfv, locale, badge_count
    ) from stdin`,
  import_events: (tx) => tx`
    copy import_events (
      customer_id, bucket, user_id, id, name, attributes, occurred_at, platform, app_version, utc_offset_seconds,
      device_id
    ) from stdin`,
  new_identifiers: (tx) => tx`copy new_identifiers from stdin`,
};

/**
 * Waits until no other session imports into the workspace, and holds that until unlockImportsOf. Imports of one
 * workspace run one after the other, because set-based statements lock rows in no given order.
 */
export async function lockImportsOf(session: Session, workspaceId: string): Promise<void> {
  await session`select pg_advisory_lock(hashtextextended(${`import:${workspaceId}`}, 0))`;
}

export async function unlockImportsOf(session: Session, workspaceId: string): Promise<void> {
  await session`select pg_advisory_unlock(hashtextextended(${`import:${workspaceId}`}, 0))`;
}

/**
 * Stores one staged batch of `staged` users. The caller has an open transaction, holds lockImportsOf, and stores the
 * identifiers. Set-based. Indexes: both of users.
 *
 * @returns users that already existed: all of them, and those whose attributes changed
 */
export async function storeStagedUsers(
  session: Queryable,
  { workspaceId, staged, at }: { workspaceId: string; staged: number; at: Date },
): Promise<{ existing: Set<string>; changed: Set<string> }> {
  // Temporary tables have no statistics until analyzed; without them the joins below are nested loops.
  await session`analyze import_users`;
  const known = await noteExisting(session, workspaceId);
  const made = await session`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, bucket, id, customer_id, attributes, ${at}, ${at}
    from import_users where is_existing is null order by bucket, customer_id
    -- The API may insert the same user after the statement above has read.
    on conflict (workspace_id, bucket, customer_id) do nothing
    returning 1`;
  // Counts the rows that came back: a cluster reports the rows it was given as inserted.
  if (known + made.length < staged) await noteExisting(session, workspaceId);
  // Without this the planner expects no existing users, and chooses a nested loop for the join below.
  await session`analyze import_users (is_existing)`;
  // A row that equals the stored one costs no write.
  const changed = await session<{ customerId: string }[]>`
    with changed as (
      update users
      set attributes = (users.attributes - staged.removed) || staged.attributes, updated_at = ${at}
      from import_users staged
      where staged.is_existing and users.workspace_id = ${workspaceId} and users.bucket = staged.bucket
        and users.id = staged.id and users.attributes <> (users.attributes - staged.removed) || staged.attributes
      returning users.id
    )
    update import_users staged set is_changed = true from changed where changed.id = staged.id
    returning staged.customer_id as "customerId"`;
  const existing = await session<{ customerId: string }[]>`
    select customer_id as "customerId" from import_users where is_existing`;
  return {
    existing: new Set(existing.map(({ customerId }) => customerId)),
    changed: new Set(changed.map(({ customerId }) => customerId)),
  };
}

/**
 * Marks which staged users already exist, and sets their stored ids. A separate step finds them first: to update a
 * staging table from a table of shards, a cluster would fetch all of the latter. Index: users (workspace_id, bucket,
 * customer_id).
 *
 * @returns how many were found that had not been before
 */
async function noteExisting(session: Queryable, workspaceId: string): Promise<number> {
  const rows = await session`
    with found as materialized (
      select staged.id as staged_id, users.id
      from import_users as staged
      join users on users.workspace_id = ${workspaceId} and users.bucket = staged.bucket
        and users.customer_id = staged.customer_id and users.id <> staged.id
      where staged.is_existing is null
    )
    update import_users as staged set id = found.id, is_existing = true from found where found.staged_id = staged.id`;
  return rows.count;
}

/**
 * Stores the identifiers of existing users that changed: deletes the missing ones and inserts the new ones. Under the
 * locks of their users, which storeStagedUsers acquired.
 */
export async function storeStagedIdentifiers(session: Queryable, workspaceId: string): Promise<void> {
  await session`analyze import_identifiers`;
  await session`
    with named as (select customer_id, attribute, type, value from import_identifiers)
    delete from identifiers
    using import_users staged
    where staged.is_changed and identifiers.workspace_id = ${workspaceId} and identifiers.bucket = staged.bucket
      and identifiers.user_id = staged.id
      and (staged.attributes ? identifiers.attribute or identifiers.attribute = any(staged.removed))
      and not exists (
        select 1 from named as same
        where same.customer_id = staged.customer_id and same.attribute = identifiers.attribute
          and same.type = identifiers.type and same.value = identifiers.value
      )`;
  await session`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, users.bucket, users.id, staged.attribute, staged.type, staged.value
    from import_users users
    join import_identifiers staged on staged.customer_id = users.customer_id
    where users.is_changed
    order by users.bucket, users.id, staged.attribute
    on conflict do nothing`;
}

/**
 * Stores the identifiers of users that this transaction has inserted, in the order they were copied in: no other
 * transaction can have written theirs.
 */
export async function storeNewIdentifiers(session: Queryable, workspaceId: string): Promise<void> {
  await session`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, bucket, user_id, attribute, type, value from new_identifiers`;
}

/** Empties the staging tables of users for the next batch. */
export async function clearUserStaging(session: Queryable): Promise<void> {
  await session`truncate import_users, import_identifiers, new_identifiers`;
}

/** Updates the statistics: without them the planner reads the filled tables 25 to 40 times slower (finding 9). */
export async function analyzeUsers(session: Queryable): Promise<void> {
  await session`reset default_statistics_target`;
  for (const table of ['users', 'identifiers', 'devices', 'push_addresses']) await analyzeTable(session, table);
}

/** Also works for a login that does not own the table: PostgreSQL's own `analyze` would then warn, and do nothing. */
export async function analyzeTable(session: Queryable, table: string): Promise<void> {
  await session`select analyze_table(${table})`;
}

export type ImportKind = 'users' | 'devices' | 'events';

export type ImportKey = { workspaceId: string; kind: ImportKind; fileDigest: Buffer };

/** How much of a file was stored so far. */
export type ImportCounts = { lines: number; users: number; devices: number; events: number; rejected: number };

/**
 * Locks the import of a file for a session, until it is released: two at once would store its lines twice.
 *
 * @returns false when another session has it
 */
export async function lockImport(session: Session, key: ImportKey): Promise<boolean> {
  const [row] = await session<{ isOurs: boolean }[]>`
    select pg_try_advisory_lock(hashtextextended(${lockName(key)}, 0)) as "isOurs"`;
  return row!.isOurs;
}

export async function unlockImport(session: Session, key: ImportKey): Promise<void> {
  await session`select pg_advisory_unlock(hashtextextended(${lockName(key)}, 0))`;
}

function lockName({ workspaceId, kind, fileDigest }: ImportKey): string {
  return `import-file:${workspaceId}:${kind}:${fileDigest.toString('hex')}`;
}

/** Returns the progress of a file's import. Index: primary key. */
export async function findImport(
  tx: Queryable,
  key: ImportKey,
): Promise<(ImportCounts & { endedAt: Date | null }) | undefined> {
  const [row] = await (tx as Queryable)<(ImportCounts & { endedAt: Date | null })[]>`
    select lines, users, devices, events, rejected, ended_at as "endedAt"
    from imports
    where workspace_id = ${key.workspaceId} and kind = ${key.kind} and file_digest = ${key.fileDigest}`;
  return row;
}

/** Stores the progress of a file, in the transaction that stored its lines. The caller holds lockImport. Index: primary key. */
export async function noteImport(
  tx: Queryable,
  {
    workspaceId,
    kind,
    fileDigest,
    counts,
    at,
    endedAt,
  }: ImportKey & { counts: ImportCounts; at: Date; endedAt: Date | null },
): Promise<void> {
  await (tx as Queryable)`
    insert into imports (workspace_id, kind, file_digest, lines, users, devices, events, rejected, started_at, updated_at,
      ended_at)
    values (${workspaceId}, ${kind}, ${fileDigest}, ${counts.lines}, ${counts.users}, ${counts.devices},
      ${counts.events}, ${counts.rejected}, ${at}, ${at}, ${endedAt})
    on conflict (workspace_id, kind, file_digest) do update
    set lines = excluded.lines, users = excluded.users, devices = excluded.devices, events = excluded.events,
      rejected = excluded.rejected, updated_at = excluded.updated_at, ended_at = excluded.ended_at`;
}

/** Deletes the progress of a file that was loaded before, to start it again. Index: primary key. */
export async function deleteImport(tx: Queryable, key: ImportKey): Promise<void> {
  await (tx as Queryable)`
    delete from imports
    where workspace_id = ${key.workspaceId} and kind = ${key.kind} and file_digest = ${key.fileDigest}`;
}
