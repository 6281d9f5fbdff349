import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import type { AuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { listBusinessEvents } from '../../storage/campaigns/business-events.ts';
import { withinTime } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { listAttributeNames } from '../../storage/users/identifiers.ts';
import { findWorkspaceControls } from '../../storage/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn } from '../accounts/audit.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import {
  checkCampaign,
  findPlatformCredentials,
  readAudience,
  readPlatformsOf,
  countAudience,
} from './check-campaign.ts';
import type { CheckedCampaign, AudienceCount } from './check-campaign.ts';
import { changeDraftCampaign, createDraftCampaign, publishDraftCampaign } from './create-campaign.ts';
import { editCampaign } from './edit-campaign.ts';
import { findCampaignSegment } from './prepare-campaign.ts';
import { testCampaign } from './test-campaign.ts';
import type { TestCommand, TestResult } from './test-campaign.ts';

type By = { by: SignedIn };
type Key = { workspaceId: string; id: string };
type Noted = By & {
  workspaceId: string;
  action: `campaign.${string}`;
  name?: string;
  detail?: Record<string, unknown>;
};
type Composed = { workspaceId: string; parts: CampaignParts };
type Written = By & Composed;
type TestRequest = By & Omit<TestCommand, keyof AuthoringCaller | 'requestId'> & { workspaceId: string };

/** The count, or why there is none. Counting has a time limit, because the size of an audience is unknown beforehand. */
export type CountAnswer =
  | { kind: 'counted'; count: AudienceCount }
  | { kind: 'too slow'; afterSeconds: number }
  | { kind: 'unreadable'; faults: RequestFault[] };

const maxCountSeconds = 10;
const maxAttributes = 500;
// 256 buckets: attributes of types other than text and number are sampled from about 500 users.
const sampledPerBucket = 2;
const maxEvents = 50;

// Use cases for the console's composer. Storing and sending go through the use cases of V5 (and V1's change of live campaigns),
// on behalf of the signed-in user, with an audit log entry.

/** Returns what a campaign may use in a workspace. @throws ServiceError NOT_FOUND */
export async function readComposerResources({ database, clock }: AuthoringDependencies, workspaceId: string) {
  const controls = await requireControls(database, workspaceId);
  const [attributes, events, credentials] = await Promise.all([
    listAttributeNames(database, { workspaceId, perBucket: sampledPerBucket, limit: maxAttributes }),
    listBusinessEvents(database, {
      workspaceId,
      ids: undefined,
      names: undefined,
      after: undefined,
      limit: maxEvents,
    }),
    findPlatformCredentials(database, workspaceId),
  ]);
  const businessEvents = events.map(({ id, name, attributes: known }) => ({ id, name, attributes: known }));
  return { attributes, businessEvents, credentials, controls, now: clock.now() };
}

/** @throws ServiceError NOT_FOUND, CAMPAIGN_NOT_FOUND */
export async function checkComposed(
  { database, clock }: AuthoringDependencies,
  { workspaceId, id, parts }: Composed & { id: string | undefined },
): Promise<CheckedCampaign> {
  await requireControls(database, workspaceId);
  return checkCampaign(database, { workspaceId, id, parts, now: clock.now() });
}

/** @throws ServiceError NOT_FOUND */
export async function countComposed(
  { database, clock }: AuthoringDependencies,
  { workspaceId, parts }: Composed,
): Promise<CountAnswer> {
  await requireControls(database, workspaceId);
  const audience = readAudience(parts);
  if (!audience) return { kind: 'unreadable', faults: [] };
  const found = await findCampaignSegment(database, { workspaceId, audience });
  if ('fault' in found) return { kind: 'unreadable', faults: [found.fault] };
  const asked = { workspaceId, segment: found.segment, platforms: readPlatformsOf(parts), at: clock.now() };
  const milliseconds = maxCountSeconds * 1000;
  const counted = await withinTime(database, { milliseconds, work: (tx) => countAudience(tx, asked) });
  if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
  return { kind: 'counted', count: counted.result };
}

/** @throws ServiceError as createDraftCampaign */
export async function createComposed(deps: AuthoringDependencies, request: Written): Promise<{ id: string }> {
  const { by, workspaceId, parts } = request;
  await requireControls(deps.database, workspaceId);
  const caller = callerOf(deps, { workspaceId, by, action: 'campaign.create', ...nameOf(parts) });
  return createDraftCampaign(deps, { ...caller, parts, createdBy: by.name });
}

/**
 * A draft stays a draft; a scheduled or live campaign is changed immediately.
 *
 * @returns the id of the document that holds the change
 * @throws ServiceError as changeDraftCampaign, editCampaign
 */
export async function changeComposed(deps: AuthoringDependencies, request: Written & Key): Promise<{ id: string }> {
  const { by, workspaceId, id, parts: change } = request;
  const { status } = await requireCampaign(deps, { workspaceId, id });
  const caller = callerOf(deps, { workspaceId, by, action: 'campaign.change', ...nameOf(change), detail: { status } });
  const command = { ...caller, id, change, updatedBy: by.name };
  return status === 'DRAFT' ? changeDraftCampaign(deps, command) : editCampaign(deps, command);
}

/** Sends or schedules a draft. @throws ServiceError as publishDraftCampaign */
export async function publishComposed(deps: AuthoringDependencies, request: Key & By): Promise<{ id: string }> {
  const { by, workspaceId, id } = request;
  const { parts } = await requireCampaign(deps, { workspaceId, id });
  return publishDraftCampaign(deps, {
    ...callerOf(deps, { workspaceId, by, action: 'campaign.publish', ...nameOf(parts ?? {}) }),
    id,
  });
}

/** Sends to named users, marked as a test. @throws ServiceError as testCampaign */
export async function testComposed(deps: AuthoringDependencies, request: TestRequest): Promise<TestResult[]> {
  const { by, workspaceId, ...asked } = request;
  await requireControls(deps.database, workspaceId);
  // Without the users: the log outlives them.
  const detail = { asked: asked.values.length };
  const caller = callerOf(deps, { workspaceId, by, action: 'campaign.test', detail });
  return (await testCampaign(deps, { ...caller, ...asked, requestId: undefined })).results;
}

/** The change and its audit log entry are one transaction. */
function callerOf(
  { clock }: AuthoringDependencies,
  { workspaceId, by, action, name, detail = {} }: Noted,
): AuthoringCaller {
  return {
    workspaceId,
    requestedBy: by.name,
    idempotencyKey: undefined,
    rawBody: '',
    note: (tx, id) => {
      const object = { id, ...(name === undefined ? {} : { name }) };
      return audit(tx, { actor: by, workspaceId, action, object, detail, at: clock.realNow() });
    },
  };
}

async function requireControls(database: Database, workspaceId: string) {
  const controls = await findWorkspaceControls(database, workspaceId);
  if (!controls) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  return controls;
}

async function requireCampaign({ database }: AuthoringDependencies, key: Key): Promise<AuthoredCampaign> {
  const campaign = await findAuthoredCampaign(database, key);
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  return campaign;
}

function nameOf(parts: CampaignParts): { name?: string } {
  const { name } = (parts.basic_details ?? {}) as { name?: unknown };
  return typeof name === 'string' ? { name } : {};
}
