import { listBusinessEvents } from '../../storage/campaigns/business-events.ts';
import type { BusinessEvent, BusinessEventPage } from '../../storage/campaigns/business-events.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import type { Queryable } from '../../storage/database.ts';

export type { BusinessEvent };

/** Newest first. */
export function listEvents({ database }: { database: Queryable }, page: BusinessEventPage): Promise<BusinessEvent[]> {
  return listBusinessEvents(database, page);
}

/** The same with the workspace's database name, which V1 says beside each event. */
export async function listEventsWithDbName(
  { database }: { database: Queryable },
  page: BusinessEventPage,
): Promise<{ events: BusinessEvent[]; dbName: string }> {
  const events = await listBusinessEvents(database, page);
  return { events, dbName: (await findWorkspace(database, page.workspaceId))!.dbName };
}
