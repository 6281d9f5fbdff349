import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { mergeParts } from '../../domain/campaign-document/changes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxCampaignNameCharacters, maxCampaignTemplates } from '../../domain/limits/campaigns.ts';
import {
  deleteCampaignTemplate,
  findCampaignTemplate,
  insertCampaignTemplate,
  listCampaignTemplates,
  renameCampaignTemplate,
} from '../../storage/campaigns/campaign-templates.ts';
import type { CampaignTemplate } from '../../storage/campaigns/campaign-templates.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Queryable } from '../../storage/database.ts';
import { lockWorkspace } from '../../storage/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import type { AuthoringDependencies } from './authoring.ts';
import { authoredParts, createDraft } from './create-campaign.ts';

type Key = { workspaceId: string; id: string };
type Change = { workspaceId: string; actor: Actor };

/** Lists templates by name. @throws ServiceError NOT_FOUND */
export async function listTemplates(
  { database }: Pick<AuthoringDependencies, 'database'>,
  workspaceId: string,
): Promise<CampaignTemplate[]> {
  await requireWorkspace(database, workspaceId);
  return listCampaignTemplates(database, workspaceId);
}

/** Stores the parts of a campaign, `of`, as a template. @throws ServiceError PARAMETER_INVALID */
export async function createTemplate(
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  { actor, workspaceId, name: given, of, parts }: Change & { name: string; of: string; parts: CampaignParts },
): Promise<{ id: string }> {
  const at = clock.now();
  const id = makeId(at);
  const name = readName(given);
  await inTransaction(database, async (tx) => {
    const row = { id, workspaceId, name, parts: authoredParts(parts), createdBy: actor.name, at };
    const outcome = await insertCampaignTemplate(tx, { ...row, maxTemplates: maxCampaignTemplates });
    if (outcome === 'taken') throw nameTaken();
    if (outcome === 'full')
      throw new ServiceError('PARAMETER_INVALID', {
        field: 'name',
        reason: `is one more than the ${maxCampaignTemplates} templates that a workspace may have`,
      });
    const object = { id, name };
    await audit(tx, { actor, workspaceId, action: 'template.create', object, detail: { of }, at: clock.realNow() });
  });
  return { id };
}

/** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function renameTemplate(
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  { actor, name: given, workspaceId, id }: Change & Key & { name: string },
): Promise<void> {
  const at = clock.now();
  const name = readName(given);
  await inTransaction(database, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const { name: from } = await requireTemplate(tx, { workspaceId, id });
    if (!(await renameCampaignTemplate(tx, { workspaceId, id, name, at }))) throw nameTaken();
    const object = { id, name };
    await audit(tx, { actor, workspaceId, action: 'template.rename', object, detail: { from }, at: clock.realNow() });
  });
}

/** Campaigns created from it stay. @throws ServiceError NOT_FOUND */
export async function removeTemplate(
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  { actor, workspaceId, id }: Change & Key,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const { name } = await requireTemplate(tx, { workspaceId, id });
    await deleteCampaignTemplate(tx, { workspaceId, id });
    await audit(tx, { actor, workspaceId, action: 'template.delete', object: { id, name }, at: clock.realNow() });
  });
}

/** Creates a draft from a template, with its name. @throws ServiceError NOT_FOUND, CAMPAIGN_CREATION_LIMITED */
export async function createFromTemplate(
  { database, clock, limits }: AuthoringDependencies,
  { actor, workspaceId, id }: Change & Key,
): Promise<{ id: string }> {
  const at = clock.now();
  return inTransaction(database, async (tx) => {
    const { name, parts: kept } = await requireTemplate(tx, { workspaceId, id });
    const parts = mergeParts(kept, { basic_details: { name } });
    const draft = await createDraft(tx, { workspaceId, createdBy: actor.name, parts, limits, at });
    const object = { id: draft.id, name };
    const detail = { template: id };
    await audit(tx, { actor, workspaceId, action: 'campaign.create', object, detail, at: clock.realNow() });
    return draft;
  });
}

async function requireTemplate(tx: Queryable, key: Key): Promise<CampaignTemplate> {
  const template = await findCampaignTemplate(tx, key);
  if (!template) throw new ServiceError('NOT_FOUND', { detail: 'no such template' });
  return template;
}

function readName(given: string): string {
  const name = given.trim();
  const length = [...name].length;
  if (length === 0) throw new ServiceError('PARAMETER_INVALID', { field: 'name', reason: 'is required' });
  if (length > maxCampaignNameCharacters)
    throw new ServiceError('PARAMETER_INVALID', {
      field: 'name',
      reason: `must have at most ${maxCampaignNameCharacters} characters`,
    });
  return name;
}

function nameTaken(): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field: 'name', reason: 'is the name of another template' });
}
