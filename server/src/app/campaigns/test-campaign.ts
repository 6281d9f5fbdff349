import { maxSelectedUsers } from '../../domain/limits/push.ts';
import type { CampaignDefinition } from '../../domain/campaign-document/campaign.ts';
import { sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { ShownVariant } from '../../domain/experiments/variants.ts';
import { lastIdAt, makeId } from '../../domain/ids.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { insertTargetedRuns } from '../../storage/runs/runs.ts';
import { noteRunLocales } from '../../storage/runs/run-states.ts';
import { audit } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';
import { refuseAgents } from './agent-work.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import { findNamedUsers, readShownCampaign } from './preview-campaign.ts';
import type { ShownCampaign } from './preview-campaign.ts';
import { takeRequestId } from './authoring.ts';

export type TestCommand = AuthoringCaller &
  Tested & {
    /** V1's id, reserved for an hour; undefined in V5, which has Idempotency-Key. */
    requestId: string | undefined;
  };

type Tested = Pick<AuthoringCaller, 'workspaceId' | 'actor'> & {
  source: ShownCampaign['source'];
  identifier: string;
  /** At most ten. */
  values: string[];
  /** One of the campaign's platforms; undefined means all of them. */
  platform: Platform | undefined;
  shown: ShownVariant;
};

export type TestResult = { value: string; outcome: 'found' | 'not found' };
export type TestAnswer = {
  campaignId: string | undefined;
  results: TestResult[];
  /** The topic that the campaign names; a test reaches its users whatever they chose. */
  ignoredTopic?: string | undefined;
  /** True if the campaign has an inbox; a test is a push only. */
  isInboxIgnored: boolean;
};

/**
 * Sends a campaign to named users through the normal fan-out: a run of audience `User`, marked as a test, of a separate
 * campaign that no search finds.
 *
 * @throws ServiceError NOT_FOUND, CAMPAIGN_NOT_FOUND, CAMPAIGN_REQUEST_INVALID, IDEMPOTENCY_CONFLICT, CAMPAIGN_REQUEST_REPEATED
 */
export async function testCampaign(deps: AuthoringDependencies, command: TestCommand): Promise<TestAnswer> {
  const { workspaceId, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'campaign:test', key, rawBody, at }, async (tx) => {
    await requireWorkspace(tx, workspaceId);
    await takeRequestId(tx, { workspaceId, operation: 'test', requestId: command.requestId, at });
    return testInTransaction(tx, { ...command, at, realAt: deps.clock.realNow() });
  });
}

/** Sends a test in the caller's transaction. @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_REQUEST_INVALID */
export async function testInTransaction(
  tx: Transaction,
  { at, realAt, ...command }: Tested & { at: Date; realAt: Date },
): Promise<TestAnswer> {
  const { actor, workspaceId } = command;
  refuseAgents(actor);
  const definition = await readShownCampaign(tx, { ...command, namedIn: 'test_campaign_meta.' });
  const found = await findUsers(tx, command);
  const users = new Map(found.flatMap(({ users }) => users.map((user) => [`${user[0]}/${user[1]}`, user] as const)));
  const results = found.map(({ value, users: matched }): TestResult => ({
    value,
    outcome: matched.length > 0 ? 'found' : 'not found',
  }));
  const ignored = { ignoredTopic: definition.topicKey, isInboxIgnored: definition.settings.inbox !== undefined };
  if (users.size === 0) return { campaignId: undefined, results, ...ignored };
  const campaignId = await sendTest(tx, { command, definition, users: [...users.values()], at });
  // Without the users: the log outlives them.
  const detail = { asked: command.values.length };
  const object = { id: campaignId };
  await audit(tx, { actor, workspaceId, action: 'campaign.test', object, detail, at: realAt });
  return { campaignId, results, ...ignored };
}

type FoundUsers = { value: string; users: [bucket: number, userId: string][] };

async function findUsers(tx: Transaction, { workspaceId, identifier, values }: Tested): Promise<FoundUsers[]> {
  const found: FoundUsers[] = [];
  for (const value of values) {
    const limit = Math.floor(maxSelectedUsers / values.length);
    const users = await findNamedUsers(tx, { workspaceId, identifier, value, limit });
    found.push({ value, users: users.map(({ bucket, userId }) => [bucket, userId]) });
  }
  return found;
}

type Send = { command: Tested; definition: CampaignDefinition; users: [number, string][]; at: Date };

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
    variants: definition.variants,
    timing: { kind: 'soon' },
    tags: definition.tags,
    // A test counts no conversions.
    conversionGoals: [],
    settings: definition.settings,
    parts: {},
    status: 'SENDING',
    nextAt: null,
    isTest: true,
    createdBy: command.actor.name,
    at,
  });
  const run = { id: makeId(at), workspaceId, campaignId: id, at, sendUntil: sendUntil(definition.settings, at) };
  const target = { targetUsers: users, content: undefined, audienceBound: lastIdAt(at), isTest: true };
  await insertTargetedRuns(tx, [{ ...run, ...target }]);
  if (definition.variants) await noteRunLocales(tx, { runId: run.id, locales: definition.variants.locales });
  ringAfterCommit(tx, 'fan-out');
  return id;
}
