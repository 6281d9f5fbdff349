import { picturePattern } from '../domain/pictures.ts';
import type { PictureType } from '../domain/pictures.ts';
import type { Database, Queryable, Transaction } from './database.ts';
import { lockWorkspace } from './workspaces.ts';

export type StoredPicture = {
  id: string;
  name: string;
  mediaType: PictureType;
  width: number;
  height: number;
  bytes: number;
  createdBy: string;
  createdAt: Date;
};

type OfWorkspace = { workspaceId: string };
type Key = OfWorkspace & { id: string };

const columns = (tx: Queryable) => tx`
  pictures.id, pictures.name, pictures.media_type as "mediaType", pictures.width, pictures.height, pictures.bytes,
  pictures.created_by as "createdBy", pictures.created_at as "createdAt"`;

export type NewPicture = StoredPicture &
  OfWorkspace & { digest: Buffer; isExternal: boolean; storedAt: Date | null; maxBytes: number };

/**
 * Stores the record of a picture unless the workspace has no space for it, or the same picture already. Of two concurrent calls,
 * the second waits for the first. Indexes: pictures_newest, pictures_digest.
 *
 * @returns the picture that the workspace has already, if it is complete
 */
export async function insertPicture(
  tx: Transaction,
  { maxBytes, ...picture }: NewPicture,
): Promise<{ outcome: 'stored' | 'full' } | { outcome: 'known'; picture: StoredPicture }> {
  const { workspaceId, createdAt: at } = picture;
  await lockWorkspace(tx, workspaceId);
  const [known] = await tx<StoredPicture[]>`
    update pictures set used_at = greatest(used_at, ${at})
    where workspace_id = ${workspaceId} and digest = ${picture.digest} and removed_at is null and stored_at is not null
    returning ${columns(tx)}`;
  if (known) return { outcome: 'known', picture: known };
  const used = await sumPictureBytes(tx, workspaceId);
  if (used + picture.bytes > maxBytes) return { outcome: 'full' };
  await tx`
    insert into pictures (id, workspace_id, name, media_type, width, height, bytes, digest, is_external, created_by, created_at,
      stored_at, used_at, looked_up_at)
    values (${picture.id}, ${workspaceId}, ${picture.name}, ${picture.mediaType}, ${picture.width}, ${picture.height},
      ${picture.bytes}, ${picture.digest}, ${picture.isExternal}, ${picture.createdBy}, ${at}, ${picture.storedAt}, ${at}, ${at})`;
  return { outcome: 'stored' };
}

/** Stores the file of a picture in the database. */
export async function insertPictureFile(
  tx: Queryable,
  { id, workspaceId, bytes }: Key & { bytes: Buffer },
): Promise<void> {
  await tx`insert into picture_files (picture_id, workspace_id, bytes) values (${id}, ${workspaceId}, ${bytes})`;
}

/**
 * Notes that the object store has the file of a picture. Index: primary key.
 *
 * @returns false if the record was removed meanwhile
 */
export async function notePictureStored(tx: Queryable, { id, workspaceId, at }: Key & { at: Date }): Promise<boolean> {
  const rows = await tx`
    update pictures set stored_at = ${at}
    where id = ${id} and workspace_id = ${workspaceId} and removed_at is null
    returning 1`;
  return rows.length === 1;
}

/** Index: pictures_newest. */
export async function sumPictureBytes(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from pictures
    where workspace_id = ${workspaceId} and removed_at is null`;
  return Number(row!.bytes);
}

/** Lists pictures, newest first, or those older than the picture `before`, which may be removed meanwhile. Index: pictures_newest. */
export async function listPictures(
  tx: Queryable,
  { workspaceId, before, limit }: OfWorkspace & { before: string | undefined; limit: number },
): Promise<StoredPicture[]> {
  return tx<StoredPicture[]>`
    select ${columns(tx)} from pictures
    where workspace_id = ${workspaceId} and removed_at is null and stored_at is not null
      and (${before ?? null}::text is null or id < ${before ?? null})
    order by created_at desc, id desc limit ${limit}`;
}

/** Finds a picture and locks it. Index: primary key. */
export async function lockPicture(tx: Transaction, { workspaceId, id }: Key): Promise<StoredPicture | undefined> {
  const [row] = await tx<StoredPicture[]>`
    select ${columns(tx)} from pictures
    where id = ${id} and workspace_id = ${workspaceId} and removed_at is null
    for update`;
  return row;
}

export type ServedPicture = OfWorkspace & { mediaType: PictureType; isExternal: boolean; bytes: Buffer | null };

/** Finds a picture by the name in its public address, with its file if the database has it. Indexes: pictures_name, primary key. */
export async function findServedPicture(tx: Queryable, name: string): Promise<ServedPicture | undefined> {
  const [row] = await tx<ServedPicture[]>`
    select pictures.workspace_id as "workspaceId", pictures.media_type as "mediaType", pictures.is_external as "isExternal",
      picture_files.bytes
    from pictures left join picture_files on picture_files.picture_id = pictures.id
    where pictures.name = ${name} and pictures.removed_at is null and pictures.stored_at is not null`;
  return row;
}

/**
 * Returns the names of pictures whose addresses are in a template, or in what can still be sent: unfinished campaigns, open runs
 * with a content of their own, and the campaigns of open runs. A campaign that a new version replaced is RETIRED while its runs
 * still send. Of runs to named users the index has those of all workspaces, which are short. Indexes: campaign_templates_name,
 * campaigns_rare_status, runs_sending, runs_paused, runs_open, primary key of campaigns.
 */
export async function listUsedPictureNames(tx: Queryable, workspaceId: string): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    with open_runs as materialized (
      select campaign_id, content from runs
      where workspace_id = ${workspaceId} and lane = 1 and status in ('QUEUED', 'SENDING')
      union all
      select campaign_id, content from runs
      where workspace_id = ${workspaceId} and lane = 0 and status in ('QUEUED', 'SENDING')
      union all
      select campaign_id, content from runs where workspace_id = ${workspaceId} and status = 'PAUSED'
    ), documents as (
      select content::text as document from open_runs where content is not null
      union all
      select concat(content, variants, parts) from campaigns where id in (select campaign_id from open_runs)
      union all
      select concat(content, variants, parts) from campaigns
      where workspace_id = ${workspaceId} and status in ('DRAFT', 'SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED')
        and (not is_test or journey_id is not null)
      union all
      select parts::text from campaign_templates where workspace_id = ${workspaceId}
    )
    select distinct found[1] as name
    from documents, regexp_matches(document, ${picturePattern}, 'g') as found
    where document like '%/pictures/%'`;
  return rows.map(({ name }) => name);
}

/** A place among the runs of a workspace, in the order of their start. The time is a text, because a Date has no microseconds. */
export type StartedRun = { startedAt: string; id: string };

/**
 * Returns the names of pictures that were sent: those in a page of the runs that started after `after`, and in their campaigns
 * whatever their status. Most contain no picture, which LIKE finds faster than the pattern. Indexes: runs_started, primary key of
 * campaigns.
 *
 * @returns with the last run of the page; undefined if no run follows
 */
export async function listSentPictureNames(
  tx: Queryable,
  { workspaceId, after, limit }: OfWorkspace & { after: StartedRun; limit: number },
): Promise<{ names: string[]; last: StartedRun | undefined }> {
  const [row] = await tx<{ names: string[]; runs: number; startedAt: string; id: string }[]>`
    with page as materialized (
      select id, started_at, campaign_id, content from runs
      where workspace_id = ${workspaceId} and started_at >= ${after.startedAt}::timestamptz
        and (started_at, id) > (${after.startedAt}::timestamptz, ${after.id})
      order by started_at, id limit ${limit}
    ), documents as (
      select content::text as document from page where content is not null
      union all
      select concat(content, variants, parts) from campaigns where id = any(array(select distinct campaign_id from page))
    ), sent as (
      select distinct found[1] as name
      from documents, regexp_matches(document, ${picturePattern}, 'g') as found
      where document like '%/pictures/%'
    )
    select array(select name from sent) as names, (select count(*)::integer from page) as runs,
      started_at::text as "startedAt", id
    from page order by started_at desc, id desc limit 1`;
  if (!row) return { names: [], last: undefined };
  const { names, runs, ...last } = row;
  return { names, last: runs < limit ? undefined : last };
}

/** Marks a picture as removed: it is not served any more. Index: primary key. */
export async function markPictureRemoved(tx: Queryable, { workspaceId, id, at }: Key & { at: Date }): Promise<void> {
  await tx`update pictures set removed_at = ${at} where id = ${id} and workspace_id = ${workspaceId}`;
}

export type WorkspaceToLookUp = OfWorkspace & { lookedUpAt: Date };

/**
 * Finds a workspace whose pictures were not looked up since `before`, the longest first, with the time since which not all of them
 * were looked up. Index: pictures_looked_up.
 */
export async function findWorkspaceToLookUp(
  tx: Queryable,
  { before, except }: { before: Date; except: readonly string[] },
): Promise<WorkspaceToLookUp | undefined> {
  const [row] = await tx<WorkspaceToLookUp[]>`
    select workspace_id as "workspaceId", looked_up_at as "lookedUpAt" from pictures
    where removed_at is null and looked_up_at < ${before} and workspace_id <> all(${[...except]})
    order by looked_up_at limit 1`;
  return row;
}

/** Notes which pictures of a workspace were used until now. Index: pictures_newest. */
export async function notePictureUses(
  tx: Queryable,
  { workspaceId, names, at }: OfWorkspace & { names: readonly string[]; at: Date },
): Promise<void> {
  await tx`
    update pictures set looked_up_at = ${at},
      used_at = case when name = any(${[...names]}) then greatest(used_at, ${at}) else used_at end
    where workspace_id = ${workspaceId} and removed_at is null`;
}

/** Marks the pictures of a workspace that were last used before `before` as removed. Index: pictures_newest. */
export async function removeUnusedPictures(
  tx: Queryable,
  { workspaceId, before, at }: OfWorkspace & { before: Date; at: Date },
): Promise<number> {
  const rows = await tx`
    update pictures set removed_at = ${at}
    where workspace_id = ${workspaceId} and removed_at is null and used_at < ${before}`;
  return rows.count;
}

export type LeftoverPicture = Key & { name: string; isExternal: boolean };

/**
 * Lists removed pictures, and uploads that the object store did not confirm before `storingBefore`, after the id `after`. Index:
 * pictures_leftover.
 */
export async function listLeftoverPictures(
  tx: Queryable,
  { storingBefore, after, limit }: { storingBefore: Date; after: string; limit: number },
): Promise<LeftoverPicture[]> {
  return tx<LeftoverPicture[]>`
    select id, workspace_id as "workspaceId", name, is_external as "isExternal" from pictures
    where (removed_at is not null or stored_at is null) and (removed_at is not null or created_at < ${storingBefore})
      and id > ${after}
    order by id limit ${limit}`;
}

/** Deletes the record of a picture with its file. Index: primary key. */
export async function deletePicture(database: Database, id: string): Promise<void> {
  await database`delete from pictures where id = ${id}`;
}
