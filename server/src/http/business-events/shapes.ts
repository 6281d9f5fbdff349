import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { businessAttributeTypes } from '../../domain/business-events/business-event.ts';
import { text } from '../campaigns/shape-members.ts';

/* Bodies and answers of business events (fact 6.3). They document the fields; the parser holds the rules. */
const attribute = Type.Object({
  attribute_name: Type.String(),
  attribute_data_type: Type.String({ description: businessAttributeTypes.join(', ') }),
});
const values = Type.Optional(
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Values of the event’s attributes' }),
);

export const eventBody = Type.Object({
  event_name: Type.String(),
  event_attributes: Type.Optional(Type.Array(attribute)),
  created_by: Type.String(),
});
export const v1TriggerBody = Type.Object({
  event_name: Type.String(),
  event_attributes: values,
  triggered_by: text(),
});
export const v5TriggerBody = Type.Object({
  request_id: text(),
  event_name: Type.String({ description: 'Name or id' }),
  event_attributes: values,
  triggered_by: Type.String(),
});
const named = {
  event_ids: Type.Optional(Type.Array(Type.String())),
  event_names: Type.Optional(Type.Array(Type.String())),
};
export const v1EventSearchBody = Type.Object(named, { description: 'At least one of the two' });
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  cursor: text('next_cursor of the page before'),
};
export const v5EventSearchBody = Type.Object({ request_id: text(), ...named, ...page });
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
export const v1EventAnswer = Type.Object({ message: Type.String(), event_id: Type.String() });
export const v1TriggerAnswer = Type.Object({ message: Type.String() });
export const v1EventsAnswer = Type.Object({ data: Type.Array(Type.Object({ db_name: Type.String(), ...event })) });

const v5Answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('business_event'), data: Type.Object(data) });
export const v5EventsAnswer = v5Answer({
  business_events: Type.Array(Type.Object({ id: Type.String(), ...event })),
  next_cursor: text('There may be another page'),
});
const ids = Type.Array(Type.String());
export const v5TriggerAnswer = v5Answer({
  triggered_status: Type.String({ description: 'SUCCESS, PARTIAL_SUCCESS or FAILURE' }),
  message: Type.String(),
  summary: Type.Object({ total: Type.Integer(), triggered: Type.Integer(), failed: Type.Integer() }),
  triggered_campaign_ids: ids,
  failed_campaign_ids: ids,
  triggered_flow_ids: ids,
  failed_flow_ids: ids,
});
