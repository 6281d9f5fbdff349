import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { businessAttributeTypes } from '../../domain/business-events/business-event.ts';
import { text } from '../campaigns/shape-members.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';

/* Bodies and answers of business events (fact 6.3). They document the fields; the parser holds the rules. */
const attribute = named(
  'BusinessEventAttribute',
  Type.Object({
    attribute_name: Type.String(),
    attribute_data_type: Type.String({ description: businessAttributeTypes.join(', ') }),
  }),
);
const values = Type.Optional(
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Values of the event’s attributes' }),
);

export const eventBody = named(
  'BusinessEventRequest',
  Type.Object({
    event_name: Type.String(),
    event_attributes: Type.Optional(Type.Array(attribute)),
    created_by: Type.String(),
  }),
);
export const v1TriggerBody = named(
  'BusinessEventTriggerV1',
  Type.Object({
    event_name: Type.String(),
    event_attributes: values,
    triggered_by: text(),
  }),
);
export const v5TriggerBody = named(
  'BusinessEventTriggerV5',
  Type.Object({
    request_id: text(),
    event_name: Type.String({ description: 'Name or id' }),
    event_attributes: values,
    triggered_by: Type.String(),
  }),
);
const idsAndNames = {
  event_ids: Type.Optional(Type.Array(Type.String())),
  event_names: Type.Optional(Type.Array(Type.String())),
};
export const v1EventSearchBody = named(
  'BusinessEventSearchV1',
  Type.Object(idsAndNames, { description: 'At least one of the two' }),
);
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  cursor: text('next_cursor of the page before'),
};
export const v5EventSearchBody = named(
  'BusinessEventSearchV5',
  Type.Object({ request_id: text(), ...idsAndNames, ...page }),
);
export const v5EventQuery = Type.Object(page);

const event = {
  event_id: Type.String(),
  event_name: Type.String(),
  event_attributes: Type.Array(attribute),
  created_by: Type.String(),
  created_at: Type.String(),
  total_trigger: Type.Integer(),
  usage_count: Type.Integer({ description: 'Campaigns that were published with it' }),
  last_received_time: text(),
};
export const v1EventAnswer = named(
  'BusinessEventCreated',
  Type.Object({ message: Type.String(), event_id: Type.String() }),
);
export const v1TriggerAnswer = named('BusinessEventTriggeredV1', Type.Object({ message: Type.String() }));
export const v1EventsAnswer = named(
  'BusinessEventsV1',
  Type.Object({ data: Type.Array(Type.Object({ db_name: Type.String(), ...event })) }),
);

const v5Answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('business_event'), data: Type.Object(data) });
export const v5EventsAnswer = named(
  'BusinessEventsV5',
  v5Answer({
    business_events: Type.Array(Type.Object({ id: Type.String(), ...event })),
    next_cursor: text('There may be another page'),
  }),
);
const ids = Type.Array(Type.String());
export const v5TriggerAnswer = named(
  'BusinessEventTriggeredV5',
  v5Answer({
    triggered_status: codeShape(['SUCCESS', 'PARTIAL_SUCCESS', 'FAILURE'], 'Whether all campaigns were started'),
    message: Type.String(),
    summary: Type.Object({ total: Type.Integer(), triggered: Type.Integer(), failed: Type.Integer() }),
    triggered_campaign_ids: ids,
    failed_campaign_ids: ids,
    triggered_flow_ids: ids,
    failed_flow_ids: ids,
  }),
);
