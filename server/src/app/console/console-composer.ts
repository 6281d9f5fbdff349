import type { CampaignParts } from '../../domain/campaign-parts/read-campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../domain/errors.ts';
import { listAttributeNames } from '../../storage/sql/attribute-names.ts';
import { findAuthoredCampaign } from '../../storage/sql/authored-campaigns.ts';
import type { AuthoredCampaign } from '../../storage/sql/authored-campaigns.ts';
import { listBusinessEvents } from '../../storage/sql/business-events.ts';
import { findWorkspaceControls } from '../../storage/sql/workspaces.ts';
import { withinTime } from '../../storage/within-time.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import type { AuthoringCaller, AuthoringDependencies } from '../campaigns/authoring-dependencies.ts';
import { checkCampaign, findPlatformCredentials, readAudience, readPlatformsOf } from '../campaigns/check-campaign.ts';
import type { CheckedCampaign } from '../campaigns/check-campaign.ts';
import { countAudience } from '../campaigns/count-audience.ts';
import type { AudienceCount } from '../campaigns/count-audience.ts';
import { makeDraftCampaigns } from '../campaigns/draft-campaigns.ts';
import { editCampaign } from '../campaigns/edit-campaign.ts';
import { findCampaignSegment } from '../campaigns/prepare-campaign.ts';
import { testCampaign } from '../campaigns/test-campaign.ts';
import type { TestCommand, TestResult } from '../campaigns/test-campaign.ts';

type By = { by: SignedIn };
type Key = { workspaceId: string; id: string };
type Written = By & { workspaceId: string; parts: CampaignParts };
type TestRequest = By & Omit<TestCommand, keyof AuthoringCaller | 'requestId'> & { workspaceId: string };

/** Counted within the time, or why not: nobody knows beforehand how large an audience is. */
export type CountAnswer =
  | { kind: 'counted'; count: AudienceCount }
  | { kind: 'too slow'; afterSeconds: number }
  | { kind: 'unreadable'; faults: RequestFault[] };

const mostCountSeconds = 10;
const mostAttributes = 500;
// 256 buckets: some 500 people whose attributes of other types than text and number are looked at.
const sampledPerBucket = 2;
const mostEvents = 50;

export type ConsoleComposer = ReturnType<typeof makeConsoleComposer>;

/**
 * What somebody needs who writes a campaign in the console. What is stored and sent goes through the use cases of V5 (and
 * V1's change of what is live), in the name of the person, with a line in the audit log.
 */
export function makeConsoleComposer(deps: AuthoringDependencies) {
  const { database, clock } = deps;
  const drafts = makeDraftCampaigns(deps);
  const callerOf = (workspaceId: string, by: SignedIn): AuthoringCaller => ({
    workspaceId,
    requestedBy: by.name,
    idempotencyKey: undefined,
    rawBody: '',
  });
  const note = (
    entry: By & Key & { action: `campaign.${string}`; name?: string; detail?: Record<string, unknown> },
  ) => {
    const { by, workspaceId, id, action, name, detail = {} } = entry;
    const object = { id, ...(name === undefined ? {} : { name }) };
    return audit(database, { actor: by, workspaceId, action, object, detail, at: clock.now() });
  };

  async function requireControls(workspaceId: string) {
    const controls = await findWorkspaceControls(database, workspaceId);
    if (!controls) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
    return controls;
  }

  async function requireCampaign(key: Key): Promise<AuthoredCampaign> {
    const campaign = await findAuthoredCampaign(database, key);
    if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    return campaign;
  }

  return {
    /** What a workspace has that a campaign may use. @throws ServiceError NOT_FOUND */
    async readResources(workspaceId: string) {
      const controls = await requireControls(workspaceId);
      const [attributes, events, credentials] = await Promise.all([
        listAttributeNames(database, { workspaceId, perBucket: sampledPerBucket, limit: mostAttributes }),
        listBusinessEvents(database, {
          workspaceId,
          ids: undefined,
          names: undefined,
          after: undefined,
          limit: mostEvents,
        }),
        findPlatformCredentials(database, workspaceId),
      ]);
      const businessEvents = events.map(({ id, name, attributes: known }) => ({ id, name, attributes: known }));
      return { attributes, businessEvents, credentials, controls, now: clock.now() };
    },

    /** @throws ServiceError NOT_FOUND, CAMPAIGN_NOT_FOUND */
    async check({ workspaceId, id, parts }: Omit<Key, 'id'> & { id: string | undefined; parts: CampaignParts }) {
      await requireControls(workspaceId);
      return checkCampaign(database, { workspaceId, id, parts, now: clock.now() }) satisfies Promise<CheckedCampaign>;
    },

    /** @throws ServiceError NOT_FOUND */
    async count({ workspaceId, parts }: { workspaceId: string; parts: CampaignParts }): Promise<CountAnswer> {
      await requireControls(workspaceId);
      const audience = readAudience(parts);
      if (!audience) return { kind: 'unreadable', faults: [] };
      const found = await findCampaignSegment(database, { workspaceId, audience });
      if ('fault' in found) return { kind: 'unreadable', faults: [found.fault] };
      const asked = { workspaceId, segment: found.segment, platforms: readPlatformsOf(parts), at: clock.now() };
      const milliseconds = mostCountSeconds * 1000;
      const counted = await withinTime(database, { milliseconds, work: (tx) => countAudience(tx, asked) });
      if (counted === 'too slow') return { kind: 'too slow', afterSeconds: mostCountSeconds };
      return { kind: 'counted', count: counted.result };
    },

    /** @throws ServiceError as makeDraftCampaigns */
    async create({ by, workspaceId, parts }: Written): Promise<{ id: string }> {
      await requireControls(workspaceId);
      const draft = await drafts.create({ ...callerOf(workspaceId, by), parts, createdBy: by.name });
      await note({ by, workspaceId, id: draft.id, action: 'campaign.create', ...nameOf(parts) });
      return draft;
    },

    /**
     * A draft stays one; a campaign that waits or is live is changed at once.
     *
     * @returns the id of the document that holds the change
     * @throws ServiceError as makeDraftCampaigns, editCampaign
     */
    async change({ by, workspaceId, id, parts: change }: Written & Key): Promise<{ id: string }> {
      const { status } = await requireCampaign({ workspaceId, id });
      const command = { ...callerOf(workspaceId, by), id, change, updatedBy: by.name };
      const changed = status === 'DRAFT' ? await drafts.change(command) : await editCampaign(deps, command);
      await note({ by, workspaceId, id: changed.id, action: 'campaign.change', ...nameOf(change), detail: { status } });
      return changed;
    },

    /** Sends a draft, or lets it wait for its moment. @throws ServiceError as makeDraftCampaigns */
    async publish({ by, workspaceId, id }: Key & By): Promise<{ id: string }> {
      const { parts } = await requireCampaign({ workspaceId, id });
      const published = await drafts.publish({ ...callerOf(workspaceId, by), id });
      await note({ by, workspaceId, id, action: 'campaign.publish', ...nameOf(parts ?? {}) });
      return published;
    },

    /** To named people, marked as a test. @throws ServiceError as testCampaign */
    async test({ by, workspaceId, ...asked }: TestRequest): Promise<TestResult[]> {
      await requireControls(workspaceId);
      const command = { ...callerOf(workspaceId, by), ...asked, requestId: undefined };
      const { campaignId, results } = await testCampaign(deps, command);
      // Without the people: the log outlives them.
      const detail = { people: results.filter(({ outcome }) => outcome === 'found').length };
      if (campaignId !== undefined) await note({ by, workspaceId, id: campaignId, action: 'campaign.test', detail });
      return results;
    },
  };
}

function nameOf(parts: CampaignParts): { name?: string } {
  const { name } = (parts.basic_details ?? {}) as { name?: unknown };
  return typeof name === 'string' ? { name } : {};
}
