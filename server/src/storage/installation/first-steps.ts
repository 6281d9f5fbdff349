import type { Queryable } from '../database.ts';

export type FirstSteps = { hasPushed: boolean; hasProvider: boolean; hasUsers: boolean; hasInvited: boolean };

/**
 * What was done of what one does first, from what is there: each look ends at the first row. Users of a sandbox's seed are
 * made with the workspace, and do not count. Indexes: campaigns_newest, primary keys; accounts are tens of rows.
 */
export async function readFirstSteps(tx: Queryable, workspaceId: string): Promise<FirstSteps> {
  const [row] = await tx<FirstSteps[]>`
    select
      exists(select 1 from campaigns where workspace_id = ${workspaceId} and not is_test and status <> 'DRAFT')
        as "hasPushed",
      exists(select 1 from provider_credentials where workspace_id = ${workspaceId} and not simulated) as "hasProvider",
      exists(select 1 from users where workspace_id = ${workspaceId} and created_at > (
        select created_at + interval '1 minute' from workspaces where id = ${workspaceId}
      )) as "hasUsers",
      (select count(*) from accounts) > 1 or exists(
        select 1 from account_links where purpose = 'INVITATION' and ended_as is distinct from 'WITHDRAWN'
      )
        as "hasInvited"`;
  return row!;
}
