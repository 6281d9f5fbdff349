import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { Queryable, Transaction } from '../database.ts';
import { lockWorkspace } from '../workspaces.ts';

export type CampaignTemplate = {
  id: string;
  name: string;
  parts: CampaignParts;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
};

type Identified = { workspaceId: string; id: string };

const columns = (tx: Queryable) => tx`
  id, name, parts, created_by as "createdBy", created_at as "createdAt", updated_at as "updatedAt"`;

/** Lists templates by name. A workspace has a bounded number. Index: campaign_templates_name. */
export async function listCampaignTemplates(tx: Queryable, workspaceId: string): Promise<CampaignTemplate[]> {
  return tx<CampaignTemplate[]>`
    select ${columns(tx)} from campaign_templates where workspace_id = ${workspaceId} order by name`;
}

/** Index: primary key. */
export async function findCampaignTemplate(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<CampaignTemplate | undefined> {
  const [template] = await tx<CampaignTemplate[]>`
    select ${columns(tx)} from campaign_templates where id = ${id} and workspace_id = ${workspaceId}`;
  return template;
}

export type NewCampaignTemplate = Identified & Pick<CampaignTemplate, 'name' | 'parts' | 'createdBy'> & { at: Date };

/**
 * Stores a template. Of two concurrent calls, the second waits for the first. Index: campaign_templates_name.
 *
 * @returns `full` if the workspace has `maxTemplates` already, `taken` if the name is in use
 */
export async function insertCampaignTemplate(
  tx: Transaction,
  { maxTemplates, ...template }: NewCampaignTemplate & { maxTemplates: number },
): Promise<'stored' | 'full' | 'taken'> {
  await lockWorkspace(tx, template.workspaceId);
  const [counted] = await tx<{ templates: number }[]>`
    select count(*) as templates from campaign_templates where workspace_id = ${template.workspaceId}`;
  if (counted!.templates >= maxTemplates) return 'full';
  const rows = await tx`
    insert into campaign_templates (id, workspace_id, name, parts, created_by, created_at, updated_at)
    values (${template.id}, ${template.workspaceId}, ${template.name}, ${tx.json(template.parts)}, ${template.createdBy},
      ${template.at}, ${template.at})
    on conflict (workspace_id, name) do nothing
    returning 1`;
  return rows.length === 1 ? 'stored' : 'taken';
}

/**
 * Renames a template. The caller's transaction has locked the workspace. Index: primary key, campaign_templates_name.
 *
 * @returns true if the name was free
 */
export async function renameCampaignTemplate(
  tx: Queryable,
  { workspaceId, id, name, at }: Identified & { name: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update campaign_templates set name = ${name}, updated_at = ${at}
    where id = ${id} and workspace_id = ${workspaceId} and not exists (
      select 1 from campaign_templates as other
      where other.workspace_id = ${workspaceId} and other.name = ${name} and other.id <> ${id}
    )
    returning 1`;
  return rows.length === 1;
}

/** Index: primary key. */
export async function deleteCampaignTemplate(tx: Queryable, { workspaceId, id }: Identified): Promise<void> {
  await tx`delete from campaign_templates where id = ${id} and workspace_id = ${workspaceId}`;
}
