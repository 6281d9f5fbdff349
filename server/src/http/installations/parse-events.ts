import { Type } from 'typebox';
import type { AppEvent, AppEventsCommand } from '../../app/installations/app-events.ts';
import type { Receipt } from '../../app/installations/receipts.ts';
import { readEventTime } from '../../domain/events/events.ts';
import { maxAppEvents, maxReceipts } from '../../domain/limits/installations.ts';
import { maxEventNameCharacters } from '../../domain/limits/users.ts';
import { textFault } from '../../domain/users/user-attributes.ts';
import {
  checked,
  enumeration,
  list,
  membersOf,
  partAs,
  readWith,
  required,
  text,
  withDescription,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { Field } from '../../fields/field.ts';
import { named } from '../openapi/shapes.ts';
import { makeOwnReader, refuseOwnFaults } from '../route/own-dialect.ts';
import type { Body } from '../route/route.ts';
import { installationId } from './parse-installation.ts';

const clientId = required(
  checked(text({ description: 'Made by the app, new for each: 8 to 64 letters, digits, - and _' }), {
    is: (id) => /^[A-Za-z0-9_-]{8,64}$/.test(id),
    reason: 'must be 8 to 64 letters, digits, - and _',
  }),
);

const time = (description: string): Field<Date> =>
  readWith(text({ description }), (part, name) => {
    const value = part.get(name);
    if (value === undefined) return undefined;
    const read = readEventTime(value);
    if (!read) part.invalid(name, 'must be an ISO 8601 time');
    return read;
  });

const eventMembers = {
  id: clientId,
  type: required(enumeration(['event', 'set'], 'event, or set for a change of attributes')),
  name: checked(text({ max: maxEventNameCharacters, description: 'Of an event' }), {
    is: (name) => textFault(name) === undefined,
    reason: 'must be a text that can be stored',
  }),
  attributes: withDescription(membersOf, 'Of the event; or those to set, where null removes one'),
  time: time("By the device's clock; absent: now"),
};

const event = partAs(eventMembers, {
  title: 'AppEvent',
  read(part, read): AppEvent | undefined {
    const id = read('id');
    const kind = read('type');
    const attributes = read('attributes') ?? {};
    const happened = read('time');
    if (kind === 'event') part.requires('name');
    const name = read('name');
    if (id === undefined || kind === undefined) return undefined;
    return kind === 'event' ? { id, kind, name: name ?? '', attributes, time: happened } : { id, kind, attributes };
  },
});

const eventsMembers = {
  installation_id: installationId,
  sent_at: time("The device's clock when it sends the request: times are corrected by its difference"),
  events: required(list(event, { maxItems: maxAppEvents, minItems: 1 })),
};

export const eventsBody = schemaOf(eventsMembers, { title: 'AppEventsRequest' });

/** @throws ServiceError PARAMETER_INVALID */
export function parseAppEvents(body: Body): Pick<AppEventsCommand, 'id' | 'events' | 'sentAt'> {
  const reader = makeOwnReader(body);
  const read = reading(reader, eventsMembers);
  const id = read('installation_id');
  const sentAt = read('sent_at');
  const events = read('events') ?? [];
  if (events.length === 0) reader.missing('events');
  refuseOwnFaults(reader);
  return { id: id!, sentAt, events: events.filter((one) => one !== undefined) };
}

const refused = (of: string) =>
  Type.Array(Type.Object({ id: Type.String(), reason: Type.String() }), {
    description: `${of} that are never stored: do not send them again`,
  });

export const eventsAnswer = named(
  'AppEvents',
  Type.Object({
    accepted: Type.Integer({ description: 'Stored now' }),
    repeated: Type.Integer({ description: 'Stored by an earlier request' }),
    refused: refused('Events'),
  }),
);

const receiptMembers = {
  id: clientId,
  token: required(text({ max: 200, description: 'The report token of the message' })),
  type: required(enumeration(['shown', 'clicked', 'dismissed'])),
  action: text({ max: 64, description: 'The button that was clicked' }),
};

const receipt = partAs(receiptMembers, {
  title: 'AppReceipt',
  read(_part, read): Receipt | undefined {
    const [id, token, type, action] = [read('id'), read('token'), read('type'), read('action')];
    if (id === undefined || token === undefined || type === undefined) return undefined;
    return { id, token, type, ...(action === undefined ? {} : { action }) };
  },
});

const receiptsMembers = {
  installation_id: installationId,
  receipts: required(
    list(receipt, {
      maxItems: maxReceipts,
      minItems: 1,
      description: 'What users did with messages, each once by its id',
    }),
  ),
};

export const receiptsBody = schemaOf(receiptsMembers, { title: 'AppReceiptsRequest' });

/** @throws ServiceError PARAMETER_INVALID */
export function parseReceipts(body: Body): { id: string; receipts: Receipt[] } {
  const reader = makeOwnReader(body);
  const read = reading(reader, receiptsMembers);
  const id = read('installation_id');
  const receipts = read('receipts') ?? [];
  if (receipts.length === 0) reader.missing('receipts');
  refuseOwnFaults(reader);
  return { id: id!, receipts: receipts.filter((one) => one !== undefined) };
}

export const receiptsAnswer = named(
  'AppReceipts',
  Type.Object({ accepted: Type.Integer(), refused: refused('Reports') }),
);
