import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { bestTimeDays } from '../../domain/limits/campaigns.ts';
import { noSuchTopic } from '../../domain/topics.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { listBusinessEvents } from '../../storage/campaigns/business-events.ts';
import { findTopic, listTopics } from '../../storage/topics.ts';
import { withinTime } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { listAttributeNames } from '../../storage/users/identifiers.ts';
import { countOpensOfWeek } from '../../storage/users/user-messages.ts';
import type { OpenHour } from '../../storage/users/user-messages.ts';
import { findWorkspaceControls } from '../../storage/workspaces.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import {
  checkCampaign,
  findPlatformCredentials,
  readAudience,
  readPlatformsOf,
  readTopicKey,
  countAudience,
  countLocalTimes,
} from './check-campaign.ts';
import type { CheckedCampaign, AudienceCount, LocalTimeCount } from './check-campaign.ts';
import { changeDraftCampaign } from './create-campaign.ts';
import { editCampaign } from './edit-campaign.ts';
import { findCampaignSegment } from './prepare-campaign.ts';

type Composed = { workspaceId: string; parts: CampaignParts };
type ComposedChange = AuthoringCaller & Composed & { id: string };

/** The count, or why there is none. Counting has a time limit, because the size of an audience is unknown beforehand. */
export type CountAnswer =
  | { kind: 'counted'; count: AudienceCount }
  | { kind: 'too slow'; afterSeconds: number }
  | { kind: 'unreadable'; faults: RequestFault[] };

export type LocalTimeAnswer =
  | { kind: 'counted'; count: LocalTimeCount }
  | { kind: 'too slow'; afterSeconds: number }
  /** The campaign is not sent at the local time of each user, or its schedule or audience is invalid. */
  | { kind: 'not local' };

export type OpenHourAnswer =
  { kind: 'counted'; timeZone: string; days: number; hours: OpenHour[] } | { kind: 'too slow'; afterSeconds: number };

const maxCountSeconds = 10;
const maxAttributes = 500;
// 256 buckets: attributes of types other than text and number are sampled from about 500 users.
const sampledPerBucket = 2;
const maxEvents = 50;

// Use cases for the console's composer. It stores and sends through the use cases of V5 and V1.

/** Returns what a campaign may use in a workspace. @throws ServiceError NOT_FOUND */
export async function readComposerResources({ database, clock }: AuthoringDependencies, workspaceId: string) {
  const controls = await requireControls(database, workspaceId);
  const [attributes, events, credentials, found] = await Promise.all([
    listAttributeNames(database, { workspaceId, perBucket: sampledPerBucket, limit: maxAttributes }),
    listBusinessEvents(database, {
      workspaceId,
      ids: undefined,
      names: undefined,
      after: undefined,
      limit: maxEvents,
    }),
    findPlatformCredentials(database, workspaceId),
    listTopics(database, workspaceId),
  ]);
  const topics = found.map(({ key, name, isInByDefault }) => ({ key, name, isInByDefault }));
  const businessEvents = events.map(({ id, name, attributes: known }) => ({ id, name, attributes: known }));
  return { attributes, businessEvents, credentials, topics, controls, now: clock.now() };
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
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  { workspaceId, parts }: Composed,
): Promise<CountAnswer> {
  await requireControls(database, workspaceId);
  const audience = readAudience(parts);
  if (!audience) return { kind: 'unreadable', faults: [] };
  const found = await findCampaignSegment(database, { workspaceId, audience });
  if ('fault' in found) return { kind: 'unreadable', faults: [found.fault] };
  const key = readTopicKey(parts);
  const topic = key === undefined ? undefined : await findTopic(database, { workspaceId, key });
  if (key !== undefined && !topic)
    return { kind: 'unreadable', faults: [{ field: 'advanced.topic', reason: noSuchTopic(key) }] };
  const asked = { workspaceId, segment: found.segment, platforms: readPlatformsOf(parts), topic, at: clock.now() };
  const milliseconds = maxCountSeconds * 1000;
  const counted = await withinTime(database, { milliseconds, work: (tx) => countAudience(tx, asked) });
  if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
  return { kind: 'counted', count: counted.result };
}

/**
 * Counts the users for whom the local time of the next send is still to come, or has passed.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function countComposedLocalTimes(
  { database, clock }: AuthoringDependencies,
  { workspaceId, parts }: Composed,
): Promise<LocalTimeAnswer> {
  await requireControls(database, workspaceId);
  const audience = readAudience(parts);
  const found = audience && (await findCampaignSegment(database, { workspaceId, audience }));
  if (!found || 'fault' in found) return { kind: 'not local' };
  const asked = { workspaceId, parts, segment: found.segment, now: clock.now() };
  const milliseconds = maxCountSeconds * 1000;
  const counted = await withinTime(database, { milliseconds, work: (tx) => countLocalTimes(tx, asked) });
  if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
  return counted.result === undefined ? { kind: 'not local' } : { kind: 'counted', count: counted.result };
}

/**
 * Counts in which hours of the week users open messages, from the reports that decide the best hour of each user (decision 0049).
 *
 * @throws ServiceError NOT_FOUND
 */
export async function countOpenHours(
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  workspaceId: string,
): Promise<OpenHourAnswer> {
  const { timeZone } = await requireControls(database, workspaceId);
  const since = new Date(clock.now().getTime() - bestTimeDays * 86_400_000);
  const milliseconds = maxCountSeconds * 1000;
  const work = (tx: Transaction) => countOpensOfWeek(tx, { workspaceId, since, timeZone });
  const counted = await withinTime(database, { milliseconds, work });
  if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
  return { kind: 'counted', timeZone, days: bestTimeDays, hours: counted.result };
}

/**
 * Changes a campaign. A draft stays a draft; a scheduled or live campaign is changed immediately.
 *
 * @returns the id of the document that holds the change
 * @throws ServiceError as changeDraftCampaign, editCampaign
 */
export async function changeComposed(deps: AuthoringDependencies, request: ComposedChange): Promise<{ id: string }> {
  const { workspaceId, id, parts: change, ...caller } = request;
  const campaign = await findAuthoredCampaign(deps.database, { workspaceId, id });
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  const command = { ...caller, workspaceId, id, change, updatedBy: caller.actor.name };
  return campaign.status === 'DRAFT' ? changeDraftCampaign(deps, command) : editCampaign(deps, command);
}

async function requireControls(database: Database, workspaceId: string) {
  const controls = await findWorkspaceControls(database, workspaceId);
  if (!controls) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  return controls;
}
