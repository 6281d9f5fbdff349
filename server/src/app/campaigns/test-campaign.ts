import { mostSelectedUsers } from '../../domain/audience/user-selector.ts';
import { readCampaign } from '../../domain/campaign-parts/read-campaign.ts';
import type { CampaignDefinition, CampaignParts } from '../../domain/campaign-parts/read-campaign.ts';
import { sendUntil } from '../../domain/campaign/delivery-settings.ts';
import type { Platform } from '../../domain/campaign/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { lastIdAt, makeId } from '../../domain/ids.ts';
import { enqueueFanOut } from '../../engine/enqueue.ts';
import type { Transaction } from '../../storage/pool.ts';
import { findAuthoredCampaign, insertAuthoredCampaign } from '../../storage/sql/authored-campaigns.ts';
import { insertTargetedRuns } from '../../storage/sql/runs.ts';
import { findSelectedUsers } from '../../storage/sql/selected-users.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring-dependencies.ts';
import { invalidCampaign } from './prepare-campaign.ts';
import { takeRequestId } from './take-request-id.ts';

export type TestCommand = AuthoringCaller & {
  /** V1's, taken for an hour; undefined in V5, which has Idempotency-Key. */
  requestId: string | undefined;
  /** What is shown, or the draft that holds it. */
  source: { parts: CampaignParts } | { draftId: string };
  identifier: string;
  /** At most ten. */
  values: string[];
  /** One of the campaign's platforms; undefined: each. */
  platform: Platform | undefined;
};

export type TestResult = { value: string; outcome: 'found' | 'not found' };
export type TestAnswer = { campaignId: string | undefined; results: TestResult[] };

/**
 * Sends a campaign to named people, through the fan-out that sends every other one: a run of audience `User` that is
 * marked as a test, of a campaign of its own that no search finds.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_REQUEST_INVALID, IDEMPOTENCY_CONFLICT, CAMPAIGN_REQUEST_REPEATED
 */
export async function testCampaign(deps: AuthoringDependencies, command: TestCommand): Promise<TestAnswer> {
  const { workspaceId, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'campaign:test', key, rawBody, at }, async (tx) => {
    await takeRequestId(tx, { workspaceId, operation: 'test', requestId: command.requestId, at });
    const definition = await readTest(tx, command);
    const found = await findPeople(tx, command);
    const users = new Map(found.flatMap(({ users }) => users.map((user) => [`${user[0]}/${user[1]}`, user] as const)));
    const results = found.map(({ value, users: matched }): TestResult => ({
      value,
      outcome: matched.length > 0 ? 'found' : 'not found',
    }));
    if (users.size === 0) return { campaignId: undefined, results };
    return { campaignId: await sendTest(tx, { command, definition, users: [...users.values()], at }), results };
  });
}

/** The parts that a test shows; whom and when it is for, it says itself. */
async function readTest(tx: Transaction, command: TestCommand): Promise<CampaignDefinition> {
  const { source, workspaceId, platform } = command;
  const shown = 'parts' in source ? source.parts : await findDraftParts(tx, { workspaceId, id: source.draftId });
  const basics = (shown.basic_details ?? {}) as Record<string, unknown>;
  const { business_event: _event, ...details } = basics;
  const parts: CampaignParts = {
    ...shown,
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'Test', ...details },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };
  const { definition, faults } = readCampaign(parts);
  if (!definition) throw invalidCampaign(faults);
  if (platform === undefined) return definition;
  if (definition.platforms.includes(platform)) return { ...definition, platforms: [platform] };
  throw invalidCampaign([{ field: 'test_campaign_meta.platform', reason: 'is not among basic_details.platforms' }]);
}

async function findDraftParts(tx: Transaction, named: { workspaceId: string; id: string }): Promise<CampaignParts> {
  const draft = await findAuthoredCampaign(tx, named);
  if (!draft) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  if (draft.status === 'DRAFT' && draft.parts) return draft.parts;
  throw invalidCampaign([{ field: 'draft_id', reason: 'names a campaign that is not in DRAFT state' }]);
}

type FoundPeople = { value: string; users: [bucket: number, userId: string][] };

/** A standard name of the push API, or any attribute of the users. */
async function findPeople(tx: Transaction, { workspaceId, identifier, values }: TestCommand): Promise<FoundPeople[]> {
  const found: FoundPeople[] = [];
  for (const value of values) {
    const ask = (isCustom: boolean) =>
      findSelectedUsers(tx, {
        workspaceId,
        selector: { attribute: identifier, isCustom, values: [value] },
        limit: Math.floor(mostSelectedUsers / values.length),
      });
    const users = (await ask(false)) ?? (await ask(true)) ?? [];
    found.push({ value, users: users.map(({ bucket, userId }) => [bucket, userId]) });
  }
  return found;
}

type Send = { command: TestCommand; definition: CampaignDefinition; users: [number, string][]; at: Date };

async function sendTest(tx: Transaction, { command, definition, users, at }: Send): Promise<string> {
  const { workspaceId } = command;
  const id = makeId(at);
  await insertAuthoredCampaign(tx, {
    id,
    workspaceId,
    name: definition.name,
    deliveryType: 'ONE_TIME',
    audience: 'USER',
    segmentId: null,
    businessEventId: null,
    platforms: definition.platforms,
    content: definition.content,
    timing: { kind: 'soon' },
    tags: definition.tags,
    // A test is nobody's success.
    conversionGoals: [],
    settings: definition.settings,
    parts: {},
    status: 'SENDING',
    nextAt: null,
    isTest: true,
    createdBy: command.requestedBy,
    at,
  });
  const run = { id: makeId(at), workspaceId, campaignId: id, at, sendUntil: sendUntil(definition.settings, at) };
  const target = { targetUsers: users, content: undefined, audienceBound: lastIdAt(at), isTest: true };
  await insertTargetedRuns(tx, [{ ...run, ...target }]);
  await enqueueFanOut(tx);
  return id;
}
