import { Type } from 'typebox';
import type { TObject, TString } from 'typebox';
import type {
  InboxMessage,
  InboxRequest,
  InstallationInbox,
  MarkCommand,
} from '../../app/installations/installation-inbox.ts';
import { maxAppBodyBytes } from '../../domain/limits/installations.ts';
import { readEventTime } from '../../domain/events/events.ts';
import { isId } from '../../domain/ids.ts';
import { readInboxCursor, writeInboxCursor } from '../../domain/inbox.ts';
import type { InboxPosition } from '../../domain/inbox.ts';
import { inboxPage, maxInboxMarks, maxInboxPage, maxInboxTagCharacters } from '../../domain/limits/inbox.ts';
import { enumeration, flag, list, readWith, text } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import { named } from '../openapi/shapes.ts';
import { makeOwnReader, readOwnParameters, refuseOwnFaults } from '../route/own-dialect.ts';
import { route } from '../route/route.ts';
import type { Body, Route, RouteDialect } from '../route/route.ts';
import { nameInstallation } from './dialect.ts';
import type { InstallationCaller } from './dialect.ts';

const instant = (description: string) => Type.String({ description: `${description}, ISO 8601` });
const orNull = (description: string) => Type.Union([instant(description), Type.Null()]);

export const inboxMessage = named(
  'InboxMessage',
  Type.Object({
    id: Type.String({ description: 'The id of the message, the same on all devices of the user' }),
    title: Type.String({ description: 'In the language of the user' }),
    message: Type.String({ description: 'In the language of the user' }),
    link: Type.Union([Type.String(), Type.Null()], {
      description: 'A web address or a deep link of the app; null: none',
    }),
    image_url: Type.Union([Type.String(), Type.Null()], { description: 'An https picture; null: none' }),
    data: Type.Record(Type.String(), Type.String(), { description: 'Key-value pairs for the app' }),
    tags: Type.Array(Type.String(), { description: 'The tags of the campaign’s inbox' }),
    campaign_id: Type.String({ description: 'The campaign that sent it' }),
    sent_at: instant('When it was put into the inbox'),
    expires_at: instant('When it leaves the inbox'),
    read_at: orNull('When the user read it on any device; null: unread'),
    archived_at: orNull('When the user archived it; null: it is not archived'),
  }),
);

const unreadCount = Type.Integer({ description: 'Unread messages that are not archived, at most 1,000' });

const inboxAnswer = named(
  'Inbox',
  Type.Object({
    messages: Type.Array(inboxMessage, { description: 'Newest first' }),
    unread_count: unreadCount,
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'For the next page; null: this is the last one',
    }),
  }),
);

const unreadAnswer = named('InboxUnread', Type.Object({ unread_count: unreadCount }));

const queryMembers = {
  // In a query every value is a text.
  limit: readWith<number>(
    text({ max: 3, description: `Messages in the page, 1 to ${maxInboxPage}; default ${inboxPage}` }),
    (part, name) => {
      const value = part.get(name);
      if (value === undefined) return undefined;
      const number = /^\d{1,3}$/.test(String(value)) ? Number(value) : 0;
      if (number < 1 || number > maxInboxPage) part.invalid(name, `must be 1 to ${maxInboxPage}`);
      return number;
    },
  ),
  cursor: readWith<InboxPosition>(text({ max: 64, description: 'next_cursor of the page before' }), (part, name) => {
    const value = part.get(name);
    const read = value === undefined ? undefined : readInboxCursor(String(value));
    if (value !== undefined && !read) part.invalid(name, 'must be next_cursor of a page');
    return read;
  }),
  tag: text({ max: maxInboxTagCharacters, description: 'Only messages with this tag' }),
  archived: enumeration(['true', 'false'], 'true: the archived messages instead of the others'),
};

const markMembers = {
  ids: list(text({ max: 24 }), {
    maxItems: maxInboxMarks,
    minItems: 1,
    description: 'Ids of messages; those that have expired are skipped',
  }),
  all: flag('true: all messages that are not archived, instead of ids'),
  until: readWith<Date>(
    text({ description: 'With all: only messages with sent_at up to this time, ISO 8601; default now' }),
    (part, name) => {
      const value = part.get(name);
      if (value === undefined) return undefined;
      const read = readEventTime(value);
      if (!read) part.invalid(name, 'must be an ISO 8601 time');
      return read;
    },
  ),
  read: flag('true: read, false: unread, absent: as it is'),
  archived: flag('true: archived, false: not archived, absent: as it is'),
};
const markBody = schemaOf(markMembers, { title: 'InboxMarkRequest' });

export const inboxPaths = (ofOne: string) => [`${ofOne}/inbox`, `${ofOne}/inbox/unread`, `${ofOne}/inbox/events`];

type Inboxes = { inbox: InstallationInbox };

/** Routes on which an app reads the inbox of its signed-in user. */
export function inboxRoutes({ inbox }: Inboxes, { dialect, ofOne, params }: InboxRouteContext): Route[] {
  return [
    route(dialect, {
      method: 'GET',
      url: `${ofOne}/inbox`,
      operationId: 'readInstallationInbox',
      summary: 'Read the inbox of the signed-in user',
      description: 'The messages of one user are the same on all installations on which the user is signed in.',
      params,
      querystring: schemaOf(queryMembers, { title: 'InboxQuery' }),
      answers: { 200: inboxAnswer },
      refuses: [409],
      config: { isAnswerSecret: true },
      read: ({ query }) => parseQuery(query),
      async handle({ input, params: { id }, ...caller }) {
        const { messages, unread, next } = await inbox.read({ ...nameInstallation(caller, id), ...input });
        return {
          messages: messages.map(presentMessage),
          unread_count: unread,
          next_cursor: next ? writeInboxCursor(next) : null,
        };
      },
    }),
    route(dialect, {
      method: 'GET',
      url: `${ofOne}/inbox/unread`,
      operationId: 'countInstallationInbox',
      summary: 'Count the unread messages of the signed-in user',
      params,
      answers: { 200: unreadAnswer },
      refuses: [409],
      handle: async ({ params: { id }, ...caller }) => ({
        unread_count: await inbox.unread(nameInstallation(caller, id)),
      }),
    }),
    route(dialect, {
      method: 'PATCH',
      url: `${ofOne}/inbox`,
      operationId: 'markInstallationInbox',
      summary: 'Mark messages as read, unread, archived or not archived',
      description: 'A repeat changes nothing. The other devices of the user show the same.',
      params,
      body: markBody,
      maxBodyBytes: maxAppBodyBytes,
      answers: { 200: unreadAnswer },
      refuses: [409],
      read: ({ body }) => parseMark(body),
      handle: async ({ input, params: { id }, ...caller }) => ({
        unread_count: await inbox.mark({ ...nameInstallation(caller, id), ...input }),
      }),
    }),
  ];
}

type InboxRouteContext = {
  dialect: RouteDialect<InstallationCaller>;
  ofOne: string;
  params: TObject<{ id: TString }>;
};

/** @throws ServiceError PARAMETER_INVALID */
function parseQuery(query: Record<string, unknown>): InboxRequest {
  const { limit = inboxPage, cursor: after, tag, archived } = readOwnParameters(query, queryMembers);
  return { limit, after, tag, archived: archived === 'true' ? 'only' : 'none' };
}

/** @throws ServiceError PARAMETER_INVALID */
function parseMark(body: Body): MarkCommand {
  const reader = makeOwnReader(body);
  const read = reading(reader, markMembers);
  const ids = read('ids')?.filter((id) => id !== undefined) ?? [];
  const all = read('all') ?? false;
  const until = read('until');
  const mark = { isRead: read('read'), isArchived: read('archived') };
  if (all === ids.length > 0) reader.invalid('ids', 'must name messages, unless all is true');
  if (ids.some((id) => !isId(id))) reader.invalid('ids', 'must be ids of messages');
  if (until && !all) reader.invalid('until', 'needs all');
  if (mark.isRead === undefined && mark.isArchived === undefined)
    reader.invalid('read', 'must be true or false, unless archived is');
  refuseOwnFaults(reader);
  return { runIds: all ? { allUntil: until } : [...new Set(ids)], mark };
}

/** Presents a message as the user's apps read it. */
export function presentMessage(message: InboxMessage) {
  const { title, message: body, link, imageUrl, data } = message.content;
  return {
    ...{ id: message.runId, title, message: body, link, image_url: imageUrl, data, tags: message.tags },
    campaign_id: message.campaignId,
    sent_at: message.keptAt.toISOString(),
    expires_at: message.expiresAt.toISOString(),
    read_at: message.readAt?.toISOString() ?? null,
    archived_at: message.archivedAt?.toISOString() ?? null,
  };
}
