import { Type } from 'typebox';
import type { ElementFault } from '../../app/data.ts';
import type { SourceBatch, SourceMessage } from '../../app/source.ts';
import { canonicalTag } from '../../domain/content/locales.ts';
import { readEventPlatform, readEventTime } from '../../domain/events/events.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxSourceMessageBytes, maxSourceMessages } from '../../domain/limits/source.ts';
import { maxAppVersionCharacters, maxDeviceTextCharacters, maxEventNameCharacters } from '../../domain/limits/users.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import {
  anonymousCustomerId,
  attributesOfGroup,
  attributesOfTraits,
  hostileMember,
} from '../../domain/users/source-traits.ts';
import { underStoredNames } from '../../domain/users/standard-attributes.ts';
import { attributesFault, customerIdFault, textFault } from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { anything, choice, filledId, list, required, text, withDescription } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { ReadMember } from '../../fields/field.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { attributesMember, checkAttributes, invalid, parseDeviceRecord, readData } from '../data/parse-data.ts';
import type { Body } from '../route/route.ts';

/** The kinds of messages in Segment's specification. */
export const sourceKinds = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const;
export type SourceKind = (typeof sourceKinds)[number];

const id = (description: string) => withDescription(filledId(), description);

/** The members of each message. Libraries send others, which are not read. */
const common = {
  messageId: text({ description: 'Made by the library, new for each message: a repeat counts once' }),
  userId: id('The customer id of the user'),
  anonymousId: id('Names a user who has not signed in; a later identify with both merges this user'),
  timestamp: withDescription(anything, 'When it happened, ISO 8601, by the clock of the sender; absent: now'),
  originalTimestamp: withDescription(anything, 'Read if there is no timestamp'),
  context: withDescription(
    attributesMember,
    'Read: device.id, device.token, device.type, device.model, app.version, os.version, locale',
  ),
};

const properties = withDescription(attributesMember, 'Attributes of the event');
const traits = withDescription(attributesMember, 'Attributes; null removes one');

const members = {
  identify: { ...common, traits },
  track: { ...common, event: text({ max: maxEventNameCharacters, description: 'Name of the event' }), properties },
  page: { ...common, name: text(), category: text(), properties },
  screen: { ...common, name: text(), category: text(), properties },
  group: { ...common, groupId: id('Stored as the attribute group_id of the user'), traits },
  alias: { ...common, previousId: id('The earlier userId or anonymousId of the user') },
};

const everyMember = { ...members.identify, ...members.track, ...members.page, ...members.group, ...members.alias };

const clock = withDescription(anything, 'The clock of the sender when it sent the request: times are corrected by it');
const ofRequest = {
  sentAt: clock,
  writeKey: text({ description: 'The write key, if it is not sent with Basic authentication' }),
};

/** @returns the body of a request with one message of a kind */
export function messageBody(kind: SourceKind) {
  const title = `Source${kind[0]!.toUpperCase()}${kind.slice(1)}`;
  return schemaOf({ ...members[kind], ...ofRequest }, { title });
}

const kindOfMessage = required(choice(sourceKinds, 'What the message is'));
const batchMessage = schemaOf({ type: kindOfMessage, ...everyMember }, { title: 'SourceMessage' });

export const batchBody = schemaOf(
  {
    batch: required(
      list({ ...anything, schema: batchMessage }, { max: Infinity, description: 'The messages, oldest first' }),
    ),
    ...ofRequest,
  },
  { title: 'SourceBatch' },
);

export const acceptedAnswer = Type.Object({
  success: Type.Literal(true, { description: 'Also if messages were rejected: the API log names them' }),
});

export type ParsedBatch = Omit<SourceBatch, 'workspaceId'> & { faults: ElementFault[] };

/** Parses the body of a route for one kind of message. */
export function parseMessage(body: Body, { kind, prefixes }: { kind: SourceKind; prefixes: Prefixes }): ParsedBatch {
  return parseAll([{ ...body, type: kind }], { sentAt: body.sentAt, prefixes });
}

/**
 * Parses the body of a batch. A message that cannot be read does not stop the others.
 *
 * @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID for a body without a list of messages
 */
export function parseBatch(body: Body, { prefixes }: { prefixes: Prefixes }): ParsedBatch {
  const messages = readData(body, (reader) => {
    reader.requires('batch');
    return body.batch;
  });
  if (!Array.isArray(messages)) throw invalid('batch', 'must be a list of messages');
  return parseAll(messages, { sentAt: body.sentAt, prefixes });
}

type Prefixes = readonly string[];

function parseAll(sent: readonly unknown[], { sentAt, prefixes }: { sentAt: unknown; prefixes: Prefixes }) {
  const parsed: ParsedBatch = { messages: [], sentAt: readEventTime(sentAt), faults: [] };
  const messages: SourceMessage[] = [];
  sent.forEach((message, index) => {
    const note = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        parsed.faults.push({ index, error });
      }
    };
    note(() => {
      if (index >= maxSourceMessages) throw invalid('batch', `must have at most ${maxSourceMessages} messages`);
      const { elements, ...read } = parseOne(message, prefixes);
      // A device that cannot be registered does not hold back what the message says about its user.
      note(() => elements.push(...devicesOf(message as Body, { elements, prefixes })));
      messages.push({ index, ...read, elements });
    });
  });
  return { ...parsed, messages };
}

type Parsed = { messageId: string | undefined; elements: Element[] };
type Element = SourceMessage['elements'][number];

function parseOne(message: unknown, prefixes: Prefixes): Parsed {
  if (!isObject(message)) throw invalid('batch', 'must be a list of objects');
  if (Buffer.byteLength(JSON.stringify(message)) > maxSourceMessageBytes)
    throw invalid('message', `must have at most ${maxSourceMessageBytes / 1024} KB`);
  const hostile = hostileMember(message);
  if (hostile !== undefined) throw invalid(hostile, 'is a reserved name');
  return readData(message, (reader) => {
    const kind = kindOfMessage.read(reader, 'type');
    if (kind === undefined) return { messageId: undefined, elements: [] };
    const read = reading(reader, everyMember);
    return { messageId: read('messageId'), elements: elementsOf(kind, { reader, read, prefixes }) };
  });
}

type Reading = { reader: RequestReader; read: ReadMember<typeof everyMember>; prefixes: Prefixes };

function elementsOf(kind: SourceKind, reading: Reading): Element[] {
  const { reader, read, prefixes } = reading;
  const { customerId, userId, anonymous } = readUser(reading);
  const customer = (attributes: Attributes): Element => {
    checkAttributes(attributes, prefixes);
    return { kind: 'customer', command: { customerId, attributes: underStoredNames(attributes) } };
  };
  switch (kind) {
    case 'identify': {
      const earlierIds = userId !== undefined && anonymous !== undefined ? [anonymous] : [];
      const stored = customer(attributesOfTraits(read('traits') ?? {}));
      return earlierIds.length === 0 ? [stored] : [{ kind: 'link', command: { customerId, earlierIds } }, stored];
    }
    case 'group': {
      const groupId = read('groupId');
      if (groupId === undefined) reader.missing('groupId');
      return [customer(attributesOfGroup(groupId ?? '', read('traits') ?? {}))];
    }
    case 'alias': {
      const alias = read('previousId');
      if (alias === undefined) reader.missing('previousId');
      const fault = alias === undefined ? undefined : customerIdFault(alias);
      if (fault !== undefined) reader.invalid('previousId', fault);
      if (userId === undefined) reader.missing('userId');
      return [
        { kind: 'link', command: { customerId, earlierIds: [alias!, anonymousCustomerId(alias!)], alias: alias! } },
      ];
    }
    case 'track': {
      const name = read('event');
      if (name === undefined) reader.missing('event');
      return [eventOf(reading, { customerId, name: name ?? '', more: {} })];
    }
    case 'page':
    case 'screen': {
      const [name, category] = [read('name'), read('category')];
      const more = { ...(name === undefined ? {} : { name }), ...(category === undefined ? {} : { category }) };
      return [eventOf(reading, { customerId, name: kind === 'page' ? 'Page Viewed' : 'Screen Viewed', more })];
    }
    default:
      return unknownCase(kind);
  }
}

/** Placeholders such as `unknown` would make unrelated visitors one user, so they count as missing next to a `userId`. */
function readUser({ reader, read }: Reading) {
  const [userId, anonymousId] = [read('userId'), read('anonymousId')];
  const named = anonymousId === undefined ? undefined : anonymousCustomerId(anonymousId);
  const fault = anonymousId === undefined ? undefined : (customerIdFault(anonymousId) ?? customerIdFault(named!));
  const anonymous = fault === undefined ? named : undefined;
  const userFault = userId === undefined ? undefined : customerIdFault(userId);
  if (userFault !== undefined) reader.invalid('userId', userFault);
  if (userId === undefined && fault !== undefined) reader.invalid('anonymousId', fault);
  if (userId === undefined && anonymousId === undefined) reader.missing('userId');
  return { customerId: userId ?? anonymous ?? '', userId, anonymous };
}

type Event = { customerId: string; name: string; more: Attributes };

function eventOf({ reader, read, prefixes }: Reading, { customerId, name, more }: Event): Element {
  const fault = textFault(name);
  if (fault !== undefined) reader.invalid('event', fault);
  const attributes = { ...read('properties'), ...more };
  const attributeFault = attributesFault(attributes, prefixes);
  if (attributeFault) reader.invalid(attributeFault.attribute, attributeFault.reason);
  const context = read('context');
  const time = timeOf(reader, read('timestamp') ?? read('originalTimestamp'));
  const action = {
    ...{ name, attributes, utcOffsetSeconds: null },
    platform: readEventPlatform(textAt(context, 'device', 'type')) ?? null,
    appVersion: textAt(context, 'app', 'version')?.slice(0, maxAppVersionCharacters) ?? null,
    time: time && { sent: time, member: 'user_time' as const },
  };
  return {
    kind: 'event',
    command: { customerId, deviceId: textAt(context, 'device', 'id') ?? null, actions: [action] },
  };
}

function timeOf(reader: RequestReader, sent: unknown): Date | undefined {
  if (sent === undefined) return undefined;
  const time = readEventTime(sent);
  if (!time) reader.invalid('timestamp', 'must be an ISO 8601 time');
  return time;
}

/** Returns a text of the context. Libraries of many versions fill it, so a member that cannot be stored counts as missing. */
function textAt(context: Attributes | undefined, part: string, name: string): string | undefined {
  const holder = context?.[part];
  const value = isObject(holder) ? holder[name] : undefined;
  const isText = typeof value === 'string' && value !== '' && value.length <= maxDeviceTextCharacters;
  return isText && textFault(value) === undefined ? value : undefined;
}

/** Libraries of phones repeat the token with every message; these tell that the app was started or has a user. */
const startOfApp: ReadonlySet<unknown> = new Set([
  'Application Installed',
  'Application Opened',
  'Application Updated',
]);

/**
 * Returns the device that a message registers, if it has the token of one.
 *
 * @throws ServiceError DATA_VALUE_INVALID for a token that cannot be one
 */
function devicesOf(
  message: Body,
  { elements, prefixes }: { elements: readonly Element[]; prefixes: Prefixes },
): Element[] {
  if (message.type !== 'identify' && !(message.type === 'track' && startOfApp.has(message.event))) return [];
  const context = isObject(message.context) ? message.context : undefined;
  const device = isObject(context?.device) ? context.device : {};
  const deviceId = textAt(context, 'device', 'id');
  const platform = { android: 'ANDROID', ios: 'iOS' }[textAt(context, 'device', 'type')?.toLowerCase() ?? ''];
  if (typeof device.token !== 'string' || deviceId === undefined || platform === undefined) return [];
  const locale = typeof context?.locale === 'string' ? canonicalTag(context.locale) : undefined;
  const record = parseDeviceRecord(
    {
      ...{ platform, push_id: device.token, model: textAt(context, 'device', 'model') },
      ...{ app_version: textAt(context, 'app', 'version'), os_version: textAt(context, 'os', 'version'), locale },
    },
    prefixes,
  );
  const { customerId } = elements[0]!.command;
  return [{ kind: 'device', command: { customerId, deviceId, ...record } }];
}
