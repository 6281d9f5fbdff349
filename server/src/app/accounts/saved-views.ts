import type { Clock } from '../../clock.ts';
import type { ViewedScreen } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxSavedViews } from '../../domain/limits/access.ts';
import { deleteSavedView, listSavedViews, saveView } from '../../storage/accounts/saved-views.ts';
import type { SavedView } from '../../storage/accounts/saved-views.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { requireWorkspace } from '../workspaces.ts';
import type { SignedIn } from './audit.ts';

type Owner = { actor: SignedIn; workspaceId: string; screen: ViewedScreen };

export type ViewDependencies = { database: Database; clock: Clock };

// Screen searches that console users saved. Each user has separate ones per workspace.

/** Lists views by name. @throws ServiceError NOT_FOUND */
export async function listViews({ database }: Pick<ViewDependencies, 'database'>, owner: Owner): Promise<SavedView[]> {
  await requireWorkspace(database, owner.workspaceId);
  return listSavedViews(database, ownerOf(owner));
}

/** Stores a view, replacing one with the same name. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function storeView(
  { database, clock }: ViewDependencies,
  { name, search, ...owner }: Owner & { name: string; search: string },
): Promise<SavedView> {
  await requireWorkspace(database, owner.workspaceId);
  const at = clock.now();
  const view = { ...ownerOf(owner), id: makeId(at), name: name.trim(), search, at, maxViews: maxSavedViews };
  if (view.name === '') throw new ServiceError('PARAMETER_INVALID', { field: 'name', reason: 'is required' });
  const saved = await inTransaction(database, (tx) => saveView(tx, view));
  if (saved) return saved;
  const reason = `is one more than the ${maxSavedViews} views that you may save`;
  throw new ServiceError('PARAMETER_INVALID', { field: 'name', reason });
}

/** @throws ServiceError NOT_FOUND */
export async function removeView(
  { database }: Pick<ViewDependencies, 'database'>,
  { id, ...owner }: Owner & { id: string },
): Promise<void> {
  const isRemoved = await deleteSavedView(database, { ...ownerOf(owner), id });
  if (!isRemoved) throw new ServiceError('NOT_FOUND', { detail: 'no such view' });
}

function ownerOf({ actor, workspaceId, screen }: Owner) {
  return { workspaceId, screen, accountId: actor.id };
}
