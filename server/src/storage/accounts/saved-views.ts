import type { ViewedScreen } from '../../domain/access/accounts.ts';
import type { Queryable, Transaction } from '../database.ts';
import { lockWorkspace } from '../workspaces.ts';

export type SavedView = { id: string; name: string; search: string };

/** The owner of the views; a null account: users without an account share them. */
type Owner = { workspaceId: string; accountId: string | null; screen: ViewedScreen };

const owned = (tx: Queryable, { workspaceId, accountId, screen }: Owner) => tx`
  workspace_id = ${workspaceId} and screen = ${screen} and coalesce(account_id, '') = ${accountId ?? ''}`;

/** Lists views by name. Index: saved_views_name. */
export async function listSavedViews(tx: Queryable, owner: Owner): Promise<SavedView[]> {
  return tx<SavedView[]>`select id, name, search from saved_views where ${owned(tx, owner)} order by name`;
}

/**
 * Saves a view, replacing one of the same name. Of two simultaneous calls the second waits for the first. Index:
 * saved_views_name.
 *
 * @returns undefined when the owner already has `maxViews`
 */
export async function saveView(
  tx: Transaction,
  { id, name, search, at, maxViews, ...owner }: Owner & SavedView & { at: Date; maxViews: number },
): Promise<SavedView | undefined> {
  await lockWorkspace(tx, owner.workspaceId);
  const [replaced] = await tx<SavedView[]>`
    update saved_views set search = ${search} where ${owned(tx, owner)} and name = ${name} returning id, name, search`;
  if (replaced) return replaced;
  const [saved] = await tx<SavedView[]>`
    insert into saved_views (id, workspace_id, account_id, screen, name, search, created_at)
    select ${id}, ${owner.workspaceId}, ${owner.accountId}, ${owner.screen}, ${name}, ${search}, ${at}::timestamptz
    where (select count(*) from saved_views where ${owned(tx, owner)}) < ${maxViews}
    returning id, name, search`;
  return saved;
}

/** Deletes a view. Index: primary key. @returns false when the owner has no such view */
export async function deleteSavedView(tx: Queryable, { id, ...owner }: Owner & { id: string }): Promise<boolean> {
  const rows = await tx`delete from saved_views where id = ${id} and ${owned(tx, owner)} returning 1`;
  return rows.length === 1;
}
