import { acceptBulk, acceptDevice, acceptEvents, acceptUser } from '../../app/data.ts';
import type { ElementFault, DataUse, BulkElement } from '../../app/data.ts';
import type { TrackEventsCommand, TrackedAction } from '../../app/users/events.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isOffset, readEventPlatform, readEventTime } from '../../domain/events/events.ts';
import {
  maxAppVersionCharacters,
  maxEventNameCharacters,
  maxOffsetSeconds,
  maxBatchBodyBytes,
} from '../../domain/limits/users.ts';
import { attributesFault } from '../../domain/users/user-attributes.ts';
import { isAbsent } from '../route/json-body.ts';
import type { Body, Route } from '../route/route.ts';
import { describeElementFault, presentAccepted } from './answers.ts';
import { onceOf } from './call.ts';
import type { DataRouteDependencies, DeclareDataRoute } from './call.ts';
import {
  parseCustomer,
  parseDevice,
  emptyActions,
  invalid,
  missing,
  readRecord,
  requireCustomerId,
  requireText,
  requireType,
} from './parse-data.ts';
import { customerBody, deviceBody, eventBody, transitionBody } from './shapes.ts';

// The maximum number of faults of a bulk request that the log keeps; operators read its detail.
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
      summary: 'Track what a user did',
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
      summary: 'Users, devices and events in bulk',
      workspaceIn: { path: 'workspace_id' },
      body: transitionBody(prefixes),
      isRepeatable: true,
      maxBodyBytes: maxBatchBodyBytes,
      operations: ['data-bulk-users', 'data-bulk-events'],
      countUses: countElements,
      read: ({ body }) => parseTransition(body, prefixes),
      async handle({ input: { elements, faults }, request, workspaceId, ...call }) {
        const answer = await acceptBulk(deps, { command: { elements, workspaceId }, once: onceOf(call) });
        // Fact 5: the response does not report faults; the API log does.
        const all = [...faults, ...answer.faults].sort((a, b) => a.index - b.index);
        if (all.length > 0) request.facts.errorDetail = describeFaults(all);
        return presentAccepted(answer);
      },
    }),
  ];
}

function describeFaults(faults: ElementFault[]): string {
  const told = faults
    .slice(0, maxFaultsKept)
    .map(({ index, error }) => `elements[${index}]: ${describeElementFault(error)}`);
  const others = faults.length - told.length;
  return `${faults.length} elements refused. ${told.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

/** Returns the number of events that a request counts as; one without events, or a malformed one, counts as one. */
function countActions(body: unknown): number {
  const actions = (body as Body | null | undefined)?.actions;
  return Array.isArray(actions) ? Math.max(1, actions.length) : 1;
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_ACTIONS_EMPTY, DATA_VALUE_INVALID */
export function parseEvents(body: Body, prefixes: readonly string[]): Omit<TrackEventsCommand, 'at' | 'workspaceId'> {
  requireType(body, 'event');
  const customerId = requireCustomerId(body);
  const deviceId = isAbsent(body.device_id) ? null : requireText(body, 'device_id');
  if (isAbsent(body.actions)) throw missing('actions');
  if (!Array.isArray(body.actions)) throw invalid('actions', 'must be a list');
  if (body.actions.length === 0) throw emptyActions();
  const actions = body.actions.map((item, index) => parseAction(item, { at: `actions[${index}]`, prefixes }));
  return { customerId, deviceId, actions };
}

function parseAction(item: unknown, { at, prefixes }: { at: string; prefixes: readonly string[] }): TrackedAction {
  const action = readRecord(item ?? null, at);
  const name = requireText(action, 'action', { at, longest: maxEventNameCharacters });
  const attributes = readRecord(action.attributes ?? undefined, `${at}.attributes`);
  const fault = attributesFault(attributes, prefixes);
  if (fault) throw invalid(fault.attribute, fault.reason);
  const currentTime = readTime(action.current_time, `${at}.current_time`);
  return {
    name,
    attributes,
    platform: readPlatform(action.platform),
    appVersion: isAbsent(action.app_version)
      ? null
      : requireText(action, 'app_version', { at, longest: maxAppVersionCharacters }),
    // Without the event's own time, the sender's clock when it sent the request is the best approximation.
    occurredAt: readTime(action.user_time, `${at}.user_time`) ?? currentTime,
    utcOffsetSeconds: readOffset(action.user_timezone_offset, `${at}.user_timezone_offset`),
  };
}

function readPlatform(value: unknown): TrackedAction['platform'] {
  if (isAbsent(value)) return null;
  const platform = readEventPlatform(value);
  if (platform) return platform;
  throw invalid('platform', 'is not a valid platform.');
}

function readTime(value: unknown, field: string): Date | undefined {
  if (isAbsent(value)) return undefined;
  const time = readEventTime(value);
  if (time) return time;
  throw invalid(field, 'must be an ISO 8601 time or seconds since 1970');
}

function readOffset(value: unknown, field: string): number | null {
  if (isAbsent(value)) return null;
  if (isOffset(value)) return value;
  throw invalid(field, `must be a whole number of seconds from -${maxOffsetSeconds} to ${maxOffsetSeconds}`);
}

export type ParsedTransition = {
  elements: BulkElement[];
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

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID for faults of the request as a whole */
export function parseTransition(body: Body, prefixes: readonly string[]): ParsedTransition {
  requireType(body, 'transition');
  if (isAbsent(body.elements)) throw missing('elements');
  if (!Array.isArray(body.elements)) throw invalid('elements', 'must be a list');
  const parsed: ParsedTransition = { elements: [], faults: [] };
  body.elements.forEach((element: unknown, index) => {
    try {
      parsed.elements.push({ index, ...parseElement(element, prefixes) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      parsed.faults.push({ index, error });
    }
  });
  return parsed;
}

function parseElement(element: unknown, prefixes: readonly string[]) {
  if (element === null || typeof element !== 'object' || Array.isArray(element))
    throw invalid('elements', 'must be a list of objects');
  const object = element as Body;
  switch (object.type) {
    case 'customer':
      return { kind: 'customer' as const, command: parseCustomer(object, prefixes) };
    case 'device':
      return { kind: 'device' as const, command: parseDevice(object, prefixes) };
    case 'event':
      return { kind: 'event' as const, command: parseEvents(object, prefixes) };
    default:
      throw isAbsent(object.type) ? missing('type') : invalid('type', "must be 'customer', 'event' or 'device'");
  }
}
