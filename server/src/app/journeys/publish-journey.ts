import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../domain/errors.ts';
import { edgesOf } from '../../domain/journeys/check-shape.ts';
import type { JourneyGraph } from '../../domain/journeys/graph.ts';
import { eventNamesOf, readGraph, sendsOf, userFiltersOf } from '../../domain/journeys/read-graph.ts';
import { campaignPartsOf, stepFaults } from '../../domain/journeys/step-campaigns.ts';
import { parseSegmentFilter } from '../../domain/segments/filter-reader.ts';
import { makeId } from '../../domain/ids.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { insertAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { countUsersBySteps } from '../../storage/journeys/journey-figures.ts';
import { findJourneyVersion, publishJourneyVersion } from '../../storage/journeys/journeys.ts';
import type { Journey, JourneyVersion } from '../../storage/journeys/journeys.ts';
import { endUsersAtStep, moveUsersAtStep } from '../../storage/journeys/moved-users.ts';
import { storeTriggerCondition } from '../../storage/triggers.ts';
import { audit } from '../accounts/audit.ts';
import { invalidCampaign, prepareCampaign } from '../campaigns/prepare-campaign.ts';
import type { PreparedCampaign } from '../campaigns/prepare-campaign.ts';
import { liveColumns, statusOf } from '../campaigns/go-live.ts';
import { retryChanges } from '../campaigns/change-campaign-state.ts';
import { answerOnce } from '../idempotency.ts';
import { prepareFilters } from '../segments/filter-segments.ts';
import { getJourney, notAllowed, requireJourney } from './journeys.ts';
import type { JourneyCaller, JourneyDependencies, SentGraph } from './journeys.ts';

/** Of each removed step: the step to which its users move, or null where they leave the journey. */
export type StepRules = Record<string, string | null>;

/** Event names have at least one character, so that no event starts the campaign of a step. */
const noEvent = '';

/** Returns what keeps the draft from being published now. @throws ServiceError JOURNEY_NOT_FOUND */
export async function validateJourney(
  { database, clock, prefixes }: Pick<JourneyDependencies, 'database' | 'clock' | 'prefixes'>,
  named: { workspaceId: string; id: string },
): Promise<RequestFault[]> {
  const journey = await getJourney(database, named);
  if (journey.draft === null) return [];
  const prepared = await prepareGraph(database, { journey, document: journey.draft, prefixes, now: clock.now() });
  return 'faults' in prepared ? prepared.faults : [];
}

/**
 * Publishes the draft as the next version, which users enter from now on. Users who are inside finish on the version that they
 * entered, except those at steps that the draft does not have.
 *
 * @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_ACTION_INVALID, JOURNEY_USERS_AT_STEP, CAMPAIGN_REQUEST_INVALID
 */
export function publishJourney(
  deps: JourneyDependencies,
  { workspaceId, actor, once, id, users }: JourneyCaller & { id: string; users: StepRules },
): Promise<{ version: number }> {
  const at = deps.clock.now();
  const asked = { workspaceId, operation: `journey:publish:${id}`, ...once, at };
  const publish = async (tx: Transaction): Promise<{ version: number }> => {
    const journey = await requireJourney(tx, { workspaceId, id });
    const document = journey.draft;
    if (journey.status === 'STOPPED' || document === null) throw notAllowed('PUBLISH', journey);
    const prepared = await prepareGraph(tx, { journey, document, prefixes: deps.prefixes, now: at });
    if ('faults' in prepared) throw invalidCampaign(prepared.faults);
    const version = (journey.version ?? 0) + 1;
    const owner = { journey, by: actor.name, at };
    const campaigns = await storeCampaigns(tx, { document, prepared, ...owner });
    const { entry: entryEvents, watched: watchedEvents } = eventNamesOf(prepared.graph);
    const published = { publishedAt: at, publishedBy: actor.name };
    const status = journey.status === 'DRAFT' ? 'ACTIVE' : journey.status;
    const stored = { workspaceId, journeyId: id, version, graph: document, campaigns, entryEvents, watchedEvents };
    await publishJourneyVersion(tx, { ...stored, ...published, status });
    await moveFromRemovedSteps(tx, { journey, graph: prepared.graph, users, version, at });
    const object = { id, name: journey.name };
    const detail = { version };
    await audit(tx, { actor, workspaceId, action: 'journey.publish', object, detail, at: deps.clock.realNow() });
    return { version };
  };
  return retryChanges(() => answerOnce(deps, asked, publish));
}

type PreparedGraph = { graph: JourneyGraph; messages: Map<string, PreparedCampaign> };
type Preparing = { journey: Journey; document: SentGraph; prefixes: readonly string[]; now: Date };

/** Reads a graph and checks everything that it refers to. Reports all faults at once. */
async function prepareGraph(
  tx: Queryable,
  { journey, document, prefixes, now }: Preparing,
): Promise<PreparedGraph | { faults: RequestFault[] }> {
  const { workspaceId, name } = journey;
  const { graph, faults: ofGraph } = readGraph(document, { prefixes, name });
  if (!graph) return { faults: inGraph(ofGraph) };
  const faults: RequestFault[] = [];
  const messages = new Map<string, PreparedCampaign>();
  for (const { message, ...step } of sendsOf(document)) {
    const parts = campaignPartsOf({ journey: name, step, message });
    const prepared = await prepareCampaign(tx, { workspaceId, parts, now, start: 'to come' });
    if ('faults' in prepared) faults.push(...stepFaults(prepared.faults, `steps.${step.id}.message`));
    else messages.set(step.id, prepared);
  }
  for (const { field, sent } of userFiltersOf(document))
    faults.push(...(await filterFaults(tx, { workspaceId, field, sent })));
  return faults.length > 0 ? { faults: inGraph(faults) } : { graph, messages };
}

/** Filters of users may name segments, which must exist. */
async function filterFaults(
  tx: Queryable,
  { workspaceId, field, sent }: { workspaceId: string; field: string; sent: unknown },
): Promise<RequestFault[]> {
  const parsed = parseSegmentFilter(sent);
  if ('fault' in parsed) return [{ field, reason: parsed.fault.reason }];
  const command = { included: { sent, filter: parsed.filter }, excluded: undefined };
  try {
    await prepareFilters(tx, { workspaceId, command, ownId: undefined });
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return [{ field, reason: error.context.detail ?? error.message }];
    throw error;
  }
}

function inGraph(faults: readonly RequestFault[]): RequestFault[] {
  return faults.map(({ field, reason }) => ({ field: field === 'graph' ? field : `graph.${field}`, reason }));
}

type Storing = { journey: Journey; document: SentGraph; prepared: PreparedGraph; by: string; at: Date };

/**
 * Stores a hidden campaign for each message. A message that did not change keeps its campaign, so that frequency, control groups
 * and figures continue. Campaigns of former messages stay for the users who are inside.
 */
async function storeCampaigns(tx: Transaction, storing: Storing): Promise<Record<string, string>> {
  const { journey, document, prepared } = storing;
  const former = await findFormer(tx, journey);
  const campaigns: Record<string, string> = {};
  for (const { id: step, ...send } of sendsOf(document)) {
    const same = former && sendsOf(former.graph).find(({ id }) => id === step);
    const kept = same && isDeepStrictEqual({ name: same.name, message: same.message }, send);
    campaigns[step] = kept
      ? former.campaigns[step]!
      : await storeCampaign(tx, { ...storing, message: prepared.messages.get(step)! });
  }
  return campaigns;
}

async function findFormer(tx: Transaction, { workspaceId, id, version }: Journey): Promise<JourneyVersion | undefined> {
  return version === null ? undefined : await findJourneyVersion(tx, { workspaceId, journeyId: id, version });
}

async function storeCampaign(
  tx: Transaction,
  { journey, message, by, at }: Pick<Storing, 'journey' | 'by' | 'at'> & { message: PreparedCampaign },
): Promise<string> {
  const id = makeId(at);
  const { workspaceId } = journey;
  const { nextAt, status: active } = statusOf(message.timing, at);
  // A paused journey may be edited; its new messages wait with it.
  const status = journey.status === 'PAUSED' ? 'PAUSED' : active;
  const columns = liveColumns(message, { status, nextAt, segmentId: null });
  await insertAuthoredCampaign(tx, { ...columns, id, workspaceId, journeyId: journey.id, createdBy: by, at });
  const condition = message.parts.trigger_condition;
  await storeTriggerCondition(tx, {
    ...{ campaignId: id, workspaceId, versionId: id, eventNames: [noEvent] },
    ...{ condition, liveSince: at },
  });
  return id;
}

type Moving = { journey: Journey; graph: JourneyGraph; users: StepRules; version: number; at: Date };

/** Applies the rules for users at steps that the new version does not have. @throws ServiceError JOURNEY_USERS_AT_STEP */
async function moveFromRemovedSteps(tx: Transaction, { journey, graph, users, version, at }: Moving): Promise<void> {
  const { workspaceId, id: journeyId } = journey;
  const faults: RequestFault[] = [];
  for (const [step, to] of Object.entries(users)) {
    const field = `users.${step.slice(0, 64)}`;
    if (graph.steps.has(step)) faults.push({ field, reason: 'names a step that the draft has' });
    if (to !== null && !graph.steps.has(to)) faults.push({ field, reason: 'must move users to a step of the draft' });
  }
  if (faults.length > 0) throw invalidCampaign(faults);
  if (journey.version === null) return;
  for (const { step } of await countUsersBySteps(tx, { workspaceId, journeyId })) {
    if (graph.steps.has(step)) continue;
    if (!Object.hasOwn(users, step)) throw new ServiceError('JOURNEY_USERS_AT_STEP', { field: step });
    await applyRule(tx, { workspaceId, journeyId, step, to: users[step]!, graph, version, at });
  }
}

type Rule = { workspaceId: string; journeyId: string; step: string; to: string | null } & Pick<
  Moving,
  'graph' | 'version' | 'at'
>;

async function applyRule(tx: Transaction, { graph, to, ...rule }: Rule): Promise<void> {
  if (to !== null) {
    await moveUsersAtStep(tx, { ...rule, to, ahead: stepsAhead(graph, to) });
  }
  // Those who were not moved.
  await endUsersAtStep(tx, rule);
}

function stepsAhead(graph: JourneyGraph, from: string): string[] {
  const ahead = new Set([from]);
  for (const id of ahead)
    for (const { target } of edgesOf(graph.steps.get(id)!)) if (target !== null) ahead.add(target);
  return [...ahead];
}
