import { acceptBulk, acceptDevice, acceptEvents, acceptUser } from '../../app/data.ts';
import type { ElementFault, DataUse, DataElement } from '../../app/data.ts';
import type { TrackEventsCommand, TrackedAction } from '../../app/users/events.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isOffset, readEventPlatform, readEventTime } from '../../domain/events/events.ts';
import {
  maxAppVersionCharacters,
  maxEventNameCharacters,
  maxOffsetSeconds,
  maxBatchBodyBytes,
} from '../../domain/limits/users.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import {
  anyOf,
  anything,
  choice,
  filledId,
  filledText,
  list,
  literal,
  number,
  readWith,
  required,
  requiredText,
  text,
  whole,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { Field } from '../../fields/field.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import type { Body, Route } from '../route/route.ts';
import { addWarnings } from '../route/warnings.ts';
import { describeElementFault, presentAccepted } from './answers.ts';
import { onceOf } from './call.ts';
import type { DataRouteDependencies, DeclareDataRoute } from './call.ts';
import {
  customerBody,
  customerId,
  deviceBody,
  invalid,
  invalidPlatform,
  parseCustomer,
  parseDevice,
  readData,
  refuseDataFaults,
  rejectAttributes,
  attributesMember,
} from './parse-data.ts';

// The maximum number of faults of a bulk request that the API log stores and the response warns about.
const maxFaultsKept = 20;

/** Routes that receive users, devices and events (fact 5). */
export function incomingRoutes(deps: DataRouteDependencies, dataRoute: DeclareDataRoute): Route[] {
  const { prefixes } = deps.vendorHeaders;
  return [
    dataRoute({
      operationId: 'upsertCustomer',
      url: '/v1/customer/:app_id',
      summary: 'Create or update a user',
      workspaceIn: { path: 'app_id' },
      body: customerBody,
      isRepeatable: true,
      operations: ['data-customer'],
      read: ({ body }) => parseCustomer(body, prefixes),
      async handle({ input, workspaceId, ...call }) {
        return presentAccepted(await acceptUser(deps, { command: { ...input, workspaceId }, once: onceOf(call) }));
      },
    }),
    dataRoute({
      operationId: 'upsertDevice',
      url: '/v1/device/:app_id',
      summary: 'Create or update a device of a user',
      workspaceIn: { path: 'app_id' },
      body: deviceBody(prefixes),
      isRepeatable: true,
      operations: ['data-device'],
      read: ({ body }) => parseDevice(body, prefixes),
      async handle({ input, workspaceId, ...call }) {
        return presentAccepted(await acceptDevice(deps, { command: { ...input, workspaceId }, once: onceOf(call) }));
      },
    }),
    dataRoute({
      operationId: 'trackEvents',
      url: '/v1/event/:workspace_id',
      summary: 'Track events of a user',
      workspaceIn: { path: 'workspace_id' },
      body: eventBody,
      isRepeatable: true,
      operations: ['data-event'],
      countUses: (body) => [{ operation: 'data-event', wanted: countActions(body) }],
      read: ({ body }) => parseEvents(body, prefixes),
      async handle({ input, workspaceId, ...call }) {
        return presentAccepted(await acceptEvents(deps, { command: { ...input, workspaceId }, once: onceOf(call) }));
      },
    }),
    dataRoute({
      operationId: 'importInBulk',
      url: '/v1/transition/:workspace_id',
      summary: 'Import users, devices and events in bulk',
      workspaceIn: { path: 'workspace_id' },
      body: transitionBody(prefixes),
      isRepeatable: true,
      maxBodyBytes: maxBatchBodyBytes,
      operations: ['data-bulk-users', 'data-bulk-events'],
      countUses: countElements,
      read: ({ body }) => parseTransition(body, prefixes),
      async handle({ input: { elements, faults }, request, workspaceId, ...call }) {
        const answer = await acceptBulk(deps, { command: { elements, workspaceId }, once: onceOf(call) });
        // Fact 5: the body does not report faults. The API log and the warning header do (decision D5).
        const all = [...faults, ...answer.faults].sort((a, b) => a.index - b.index);
        if (all.length > 0) request.facts.errorDetail = describeFaults(all, 'elements');
        const warnings = all.slice(0, maxFaultsKept).map((fault) => describeFault(fault, 'elements'));
        addWarnings(deps.vendorHeaders, { request, reply: call.reply }, warnings);
        return presentAccepted(answer);
      },
    }),
  ];
}

/** Describes the rejected elements of a list for the API log. */
export function describeFaults(faults: ElementFault[], list: 'elements' | 'batch'): string {
  const described = faults.slice(0, maxFaultsKept).map((fault) => describeFault(fault, list));
  const others = faults.length - described.length;
  return `${faults.length} ${list === 'batch' ? 'messages' : list} rejected. ${described.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

function describeFault({ index, error }: ElementFault, list: 'elements' | 'batch'): string {
  return `${list}[${index}]: ${describeElementFault(error)}`;
}

/** Returns the number of events that a request counts as. A malformed request or one without events counts as one. */
function countActions(body: unknown): number {
  const actions = (body as Body | null | undefined)?.actions;
  return Array.isArray(actions) ? Math.max(1, actions.length) : 1;
}

/** A time in one of the two forms of this family. */
function time(description: string): Field<Date> {
  return readWith(anyOf([text(), number], description), (part, name) => {
    const value = part.get(name);
    if (value === undefined) return undefined;
    const read = readEventTime(value);
    if (!read) part.invalid(name, 'must be an ISO 8601 time or seconds since 1970');
    return read;
  });
}

const actionMembers = {
  action: requiredText({ max: maxEventNameCharacters, description: 'Name of the event' }),
  attributes: attributesMember,
  platform: readWith(text({ description: 'ANDROID, iOS, web, TV or unknown' }), readPlatform),
  app_version: filledText({ max: maxAppVersionCharacters }),
  user_time: time('The time of the event: ISO 8601 (UTC unless it has an offset) or seconds since 1970'),
  current_time: time("The sender's clock; used if user_time is absent"),
  user_timezone_offset: readWith(whole(-maxOffsetSeconds, maxOffsetSeconds, 'Seconds'), readOffset),
};

function readPlatform(action: RequestReader, name: string): TrackedAction['platform'] | undefined {
  const value = action.get(name);
  const platform = value === undefined ? undefined : readEventPlatform(value);
  if (value !== undefined && platform === undefined) action.reject(invalidPlatform());
  return platform;
}

function readOffset(action: RequestReader, name: string): number | undefined {
  const value = action.get(name);
  if (value === undefined || isOffset(value)) return value;
  action.invalid(name, `must be a whole number of seconds from -${maxOffsetSeconds} to ${maxOffsetSeconds}`);
  return undefined;
}

const eventMembers = {
  type: required(literal('event')),
  customer_id: customerId(),
  device_id: filledId(),
  actions: required(list({ ...anything, schema: schemaOf(actionMembers) }, { max: Infinity, minItems: 1 })),
};

/** The body of events of a user (fact 5). */
const eventBody = schemaOf(eventMembers, { title: 'EventRequest' });

type Events = Omit<TrackEventsCommand, 'at' | 'workspaceId'>;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_ACTIONS_EMPTY, DATA_VALUE_INVALID */
function parseEvents(body: Body, prefixes: readonly string[]): Events {
  return readData(body, (event) => {
    const read = reading(event, eventMembers);
    read('type');
    const identity = { customerId: read('customer_id'), deviceId: read('device_id') ?? null };
    const sent = read('actions');
    if (sent?.length === 0) event.reject(new ServiceError('DATA_ACTIONS_EMPTY', { field: 'actions' }));
    refuseDataFaults(event);
    const items = event.items('actions', Infinity);
    return { ...identity, actions: items.names().map((index) => readAction(items.part(index), prefixes)) };
  });
}

function readAction(action: RequestReader, prefixes: readonly string[]): TrackedAction {
  const read = reading(action, actionMembers);
  const name = read('action');
  const attributes = read('attributes') ?? {};
  rejectAttributes(action, attributes, prefixes);
  const [userTime, currentTime] = [read('user_time'), read('current_time')];
  return {
    name,
    attributes,
    platform: read('platform') ?? null,
    appVersion: read('app_version') ?? null,
    // Without the event's own time, the sender's clock when it sent the request is the best approximation.
    time: timeOf('user_time', userTime) ?? timeOf('current_time', currentTime),
    utcOffsetSeconds: read('user_timezone_offset') ?? null,
  };
}

function timeOf<Name extends string>(member: Name, sent: Date | undefined): { sent: Date; member: Name } | undefined {
  return sent && { sent, member };
}

type ParsedTransition = {
  elements: DataElement[];
  /** Faults of elements that cannot be parsed; the other elements are accepted. */
  faults: ElementFault[];
};

/** Returns the uses that a bulk request counts as: users and devices together, events by their actions. */
function countElements(body: unknown): DataUse[] {
  const elements: unknown = (body as Body | null | undefined)?.elements;
  const given = Array.isArray(elements) ? (elements as (Body | null)[]) : [];
  const events = given.filter((element) => element?.type === 'event');
  return [
    { operation: 'data-bulk-users', wanted: given.length - events.length },
    { operation: 'data-bulk-events', wanted: events.reduce((sum, element) => sum + countActions(element), 0) },
  ];
}

/** Members of a bulk request. Elements are parsed later, each by its type. */
const transitionMembers = {
  type: required(literal('transition')),
  elements: required(list(anything, { max: Infinity })),
};

/** Returns the body of a bulk request. @param prefixes spellings of the vendor's abbreviation, lower-case */
function transitionBody(prefixes: readonly string[]) {
  const shapes = [customerBody, eventBody, deviceBody(prefixes)].map((schema) => ({ schema }));
  const elements = required(list(anyOf(shapes), { max: Infinity }));
  return schemaOf({ ...transitionMembers, elements }, { title: 'TransitionRequest' });
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID for faults of the request as a whole */
function parseTransition(body: Body, prefixes: readonly string[]): ParsedTransition {
  const sent = readData(body, (transition) => {
    const read = reading(transition, transitionMembers);
    read('type');
    return read('elements') ?? [];
  });
  const parsed: ParsedTransition = { elements: [], faults: [] };
  sent.forEach((element, index) => {
    try {
      parsed.elements.push({ index, ...parseElement(element, prefixes) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      parsed.faults.push({ index, error });
    }
  });
  return parsed;
}

const kinds = ['customer', 'event', 'device'] as const;
const kindOfElement = required(choice(kinds));

function parseElement(element: unknown, prefixes: readonly string[]) {
  if (!isObject(element)) throw invalid('elements', 'must be a list of objects');
  const kind = readData(element, (reader) => kindOfElement.read(reader, 'type'))!;
  switch (kind) {
    case 'customer':
      return { kind, command: parseCustomer(element, prefixes) };
    case 'device':
      return { kind, command: parseDevice(element, prefixes) };
    case 'event':
      return { kind, command: parseEvents(element, prefixes) };
    default:
      return unknownCase(kind);
  }
}
