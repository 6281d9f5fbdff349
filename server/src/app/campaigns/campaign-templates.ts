import { partNames } from '../../domain/campaign-document/campaign.ts';
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
import type { SignedIn } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import type { AuthoringDependencies } from './authoring.ts';
import { createDraft } from './create-campaign.ts';

type Key = { workspaceId: string; id: string };
type Change = { workspaceId: string; by: SignedIn };

/** Campaigns stored as templates; each change writes an audit log entry. */
export function makeConsoleTemplates(deps: AuthoringDependencies) {
  const { database, clock } = deps;
  return {
    /** By name. @throws ServiceError NOT_FOUND */
    async list(workspaceId: string): Promise<CampaignTemplate[]> {
      await requireWorkspace(database, workspaceId);
      return listCampaignTemplates(database, workspaceId);
    },

    /** Stores the parts of a campaign. @throws ServiceError PARAMETER_INVALID */
    async create({ by, workspaceId, name, of, parts }: Change & { name: string; of: string; parts: CampaignParts }) {
      const at = clock.now();
      const template = {
        ...{ id: makeId(at), workspaceId, at, createdBy: by.name },
        name: readName(name),
        parts: kept(parts),
      };
      await inTransaction(database, async (tx) => {
        const outcome = await insertCampaignTemplate(tx, { ...template, maxTemplates: maxCampaignTemplates });
        if (outcome === 'taken') throw nameTaken();
        if (outcome === 'full')
          throw new ServiceError('PARAMETER_INVALID', {
            field: 'name',
            reason: `is one more than the ${maxCampaignTemplates} templates that a workspace may have`,
          });
        const object = { id: template.id, name: template.name };
        await audit(tx, {
          actor: by,
          workspaceId,
          action: 'template.create',
          object,
          detail: { of },
          at: clock.realNow(),
        });
      });
      return { id: template.id };
    },

    /** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async rename({ by, name: given, ...key }: Change & Key & { name: string }): Promise<void> {
      const at = clock.now();
      const name = readName(given);
      await inTransaction(database, async (tx) => {
        await lockWorkspace(tx, key.workspaceId);
        const template = await requireTemplate(tx, key);
        if (!(await renameCampaignTemplate(tx, { ...key, name, at }))) throw nameTaken();
        const entry = { object: { id: key.id, name }, detail: { from: template.name }, at: clock.realNow() };
        await audit(tx, { actor: by, workspaceId: key.workspaceId, action: 'template.rename', ...entry });
      });
    },

    /** Campaigns made from it stay. @throws ServiceError NOT_FOUND */
    async remove({ by, ...key }: Change & Key): Promise<void> {
      await inTransaction(database, async (tx) => {
        await lockWorkspace(tx, key.workspaceId);
        const { name } = await requireTemplate(tx, key);
        await deleteCampaignTemplate(tx, key);
        const entry = { object: { id: key.id, name }, at: clock.realNow() };
        await audit(tx, { actor: by, workspaceId: key.workspaceId, action: 'template.delete', ...entry });
      });
    },

    /** Creates a draft from it, with its name. @throws ServiceError NOT_FOUND, CAMPAIGN_CREATION_LIMITED */
    async use({ by, ...key }: Change & Key): Promise<{ id: string }> {
      const { workspaceId } = key;
      const at = clock.now();
      return inTransaction(database, async (tx) => {
        const { name, parts } = await requireTemplate(tx, key);
        const named = mergeParts(parts, { basic_details: { name } });
        const draft = await createDraft(tx, { workspaceId, createdBy: by.name, parts: named, limits: deps.limits, at });
        const object = { id: draft.id, name };
        await audit(tx, {
          actor: by,
          workspaceId,
          action: 'campaign.create',
          object,
          detail: { template: key.id },
          at: clock.realNow(),
        });
        return draft;
      });
    },
  };
}

async function requireTemplate(tx: Queryable, key: Key): Promise<CampaignTemplate> {
  const template = await findCampaignTemplate(tx, key);
  if (!template) throw new ServiceError('NOT_FOUND', { detail: 'no such template' });
  return template;
}

/** Leaves out the requester, which is different for each use. */
function kept(parts: CampaignParts): CampaignParts {
  const names = [...partNames, 'channel', 'campaign_delivery_type'];
  return Object.fromEntries(Object.entries(parts).filter(([name]) => names.includes(name)));
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
