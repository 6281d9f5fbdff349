import type { EnteringUser } from '../../app/journeys/enter-journey.ts';
import type { JourneySearch } from '../../app/journeys/journeys.ts';
import type { StepRules } from '../../app/journeys/publish-journey.ts';
import { journeyStates } from '../../domain/journeys/graph.ts';
import { graphSchema } from '../../domain/journeys/read-graph.ts';
import { maxJourneyEntries, maxJourneyNameCharacters } from '../../domain/limits/journeys.ts';
import { findUnstorable, unstorable } from '../../domain/storable-text.ts';
import {
  checked,
  membersOf,
  part,
  parts,
  required,
  requiredText,
  sentObject,
  text,
  unlessEmpty,
  whole,
  withDescription,
  word,
} from '../../fields/combinators.ts';
import { optionalSchemaOf, readMembers, schemaOf } from '../../fields/field.ts';
import { makeCampaignQueryReader, makeCampaignReader, refuseFaults } from '../campaigns/campaign-reader.ts';
import type { Body } from '../campaigns/campaign-reader.ts';

const maxPage = 100;

const sentGraph = sentObject(graphSchema);
const journeyMembers = {
  name: requiredText({ max: maxJourneyNameCharacters, description: 'Unique in the workspace' }),
  graph: required(sentGraph),
};
const changeMembers = {
  name: text({ max: maxJourneyNameCharacters, description: 'Unique in the workspace' }),
  graph: sentGraph,
};
const publishMembers = {
  users: withDescription(
    membersOf,
    'Of each removed step where users are: the step to which they move, or null where they leave the journey',
  ),
};
const userMembers = {
  customer_id: requiredText({ description: 'The id that the app identifies the user with' }),
  attributes: withDescription(membersOf, 'Values that texts use as EventAttribute'),
};
const entryMembers = {
  users: required(
    parts(part(userMembers, { title: 'JourneyUser' }), {
      maxItems: maxJourneyEntries,
      description: 'Different users; who is unknown is reported',
    }),
  ),
};
export const entryBody = schemaOf(entryMembers, { title: 'JourneyEntries' });
export const createBody = schemaOf(journeyMembers, {
  title: 'JourneyCreate',
  description: 'A draft, which may be unfinished; also the form of an exported journey',
});
export const changeBody = optionalSchemaOf(changeMembers, { title: 'JourneyChange' });
export const publishBody = schemaOf(publishMembers, { title: 'JourneyPublish' });

const isTime = (sent: string): boolean => sentTime(sent) !== undefined;
const timeMember = (description: string) =>
  unlessEmpty(checked(text({ description }), { is: isTime, reason: 'must be a time such as 2026-03-01T00:00:00Z' }));
const dayMember = (description: string) =>
  unlessEmpty(
    checked(text({ max: 10, description }), {
      is: (sent) => /^\d{4}-\d{2}-\d{2}$/.test(sent) && isTime(`${sent}T00:00:00Z`),
      reason: 'must be a day such as 2026-03-01',
    }),
  );
const cursor = unlessEmpty(text({ description: 'next_cursor of the previous page' }));
const limit = whole(1, maxPage, `Default ${maxPage}`);

const searchMembers = {
  status: unlessEmpty(word(journeyStates, 'Only journeys with this status')),
  name: unlessEmpty(text({ max: maxJourneyNameCharacters, description: 'A part of the name, in any case' })),
  created_from: timeMember('ISO 8601; only journeys that were created then or later'),
  created_before: timeMember('ISO 8601; only journeys that were created earlier'),
  ...{ limit, cursor },
};
const userPageMembers = { limit, cursor };
const figuresMembers = {
  from: dayMember('First UTC day; default: since the journey began'),
  to: dayMember('Last UTC day; default: today'),
};
const historyMembers = {
  customer_id: required(text({ description: 'The id that the app identifies the user with' })),
};
export const searchQuery = schemaOf(searchMembers);
export const userPageQuery = schemaOf(userPageMembers);
export const figuresQuery = schemaOf(figuresMembers);
export const historyQuery = schemaOf(historyMembers);

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseJourney(body: Body): { name: string; graph: Record<string, unknown> } {
  const reader = makeCampaignReader(body);
  const { name = '', graph = {} } = readMembers(reader, journeyMembers);
  refuseFaults(reader);
  return { name: name.trim(), graph };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseJourneyChange(body: Body) {
  const reader = makeCampaignReader(body);
  const { name, graph } = readMembers(reader, changeMembers);
  refuseFaults(reader);
  return { name: name?.trim(), graph };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parsePublish(body: Body): { users: StepRules } {
  const reader = makeCampaignReader(body);
  const { users = {} } = readMembers(reader, publishMembers);
  for (const [step, to] of Object.entries(users))
    if (to !== null && typeof to !== 'string')
      reader.part('users').invalid(step.slice(0, 64), 'must be the id of a step, or null');
  refuseFaults(reader);
  return { users: users as StepRules };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseEntries(body: Body): { users: EnteringUser[] } {
  const reader = makeCampaignReader(body);
  const { users = [] } = readMembers(reader, entryMembers);
  const found = users.map(({ customer_id: customerId = '', attributes = {} }) => ({ customerId, attributes }));
  if (new Set(found.map(({ customerId }) => customerId)).size < found.length)
    reader.invalid('users', 'must name each user once');
  const place = findUnstorable(body);
  if (place !== undefined) reader.invalid('users', unstorable);
  refuseFaults(reader);
  return { users: found };
}

type Query = Record<string, unknown>;

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseSearch(query: Query): Omit<JourneySearch, 'workspaceId'> {
  const reader = makeCampaignQueryReader(query);
  const read = readMembers(reader, searchMembers);
  const after = read.cursor === undefined ? undefined : parseCursor(read.cursor);
  if (read.cursor !== undefined && !after) reader.invalid('cursor', 'must be the next_cursor of a page');
  refuseFaults(reader);
  return {
    statuses: read.status && [read.status],
    name: read.name,
    createdFrom: sentTime(read.created_from),
    createdBefore: sentTime(read.created_before),
    after,
    limit: read.limit ?? maxPage,
  };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseUserPage(query: Query): { limit: number; after: string | undefined } {
  const reader = makeCampaignQueryReader(query);
  const { limit: most = maxPage, cursor: after } = readMembers(reader, userPageMembers);
  refuseFaults(reader);
  return { limit: most, after };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseFigures(query: Query): { from: string | undefined; to: string | undefined } {
  const reader = makeCampaignQueryReader(query);
  const { from, to } = readMembers(reader, figuresMembers);
  refuseFaults(reader);
  return { from, to };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseHistory(query: Query): { customerId: string } {
  const reader = makeCampaignQueryReader(query);
  const { customer_id: customerId = '' } = readMembers(reader, historyMembers);
  refuseFaults(reader);
  return { customerId };
}

type Placed = { createdAt: Date; id: string };

/** Returns the cursor after which the next page begins; undefined if this page was not full. */
export function cursorAfter<Row>(
  rows: readonly Row[],
  { limit: most, of }: { limit: number; of: (row: Row) => string },
) {
  const last = rows.at(-1);
  return rows.length === most && last !== undefined ? { next_cursor: of(last) } : {};
}

/** Ids are ordered like their times; both are in the cursor, as a moved sandbox clock may reorder them. */
export function toCursor({ createdAt, id }: Placed): string {
  return `${createdAt.getTime()}-${id}`;
}

function parseCursor(sent: string): Placed | undefined {
  const match = /^(\d{1,15})-([0-9a-f]{1,40})$/.exec(sent);
  return match ? { createdAt: new Date(Number(match[1])), id: match[2]! } : undefined;
}

function sentTime(sent: string | undefined): Date | undefined {
  if (sent === undefined || !/^\d{4}-\d{2}-\d{2}/.test(sent)) return undefined;
  const time = new Date(sent);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
