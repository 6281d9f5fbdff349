import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { campaignPartShapes } from './campaign-part-shapes.ts';
import { text } from './shape-members.ts';

/* Bodies and answers of campaign authoring (fact 6). They document the fields; the parsers hold the rules. */

const optionalParts = {
  ...campaignPartShapes,
  channel: Type.Optional(campaignPartShapes.channel),
  campaign_delivery_type: Type.Optional(campaignPartShapes.campaign_delivery_type),
};

export const v5CreateBody = Type.Object({
  request_id: text(),
  ...campaignPartShapes,
  created_by: Type.String(),
});
export const v5ChangeBody = Type.Object({ request_id: text(), ...optionalParts, updated_by: text() });
export const v5StatusBody = Type.Object({
  request_id: text(),
  action: Type.String({ description: 'STOP, PAUSE, RESUME, or PUBLISH for a draft' }),
});

const testMeta = Type.Object({
  identifier: Type.String({ description: 'USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute' }),
  identifier_values: Type.Array(Type.String(), { description: 'At most ten' }),
  platform: text(),
  locale_name: text('default'),
  variation: Type.Optional(Type.Unsafe<unknown>({ description: 'variation_1' })),
});
const refused = Type.Optional(Type.Unsafe<unknown>({ type: 'object', description: 'Refused' }));
const testBody = { ...optionalParts, test_campaign_meta: testMeta, personalization_details: refused };
export const v5TestBody = Type.Object({
  request_id: text(),
  draft_id: text('Instead of campaign_content'),
  ...testBody,
});
export const v5PreviewBody = Type.Object({
  draft_id: text('Instead of campaign_content'),
  channel: optionalParts.channel,
  basic_details: optionalParts.basic_details,
  campaign_content: optionalParts.campaign_content,
  platform: text('One of the campaign’s; every one when absent'),
  identifier: Type.String({ description: 'USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute' }),
  identifier_value: Type.String(),
  event_attributes: Type.Optional(
    Type.Unsafe<unknown>({ type: 'object', description: 'What a firing of the business event would say' }),
  ),
});
export const v1TestBody = Type.Object({ request_id: Type.String(), ...testBody });

export const v1CreateBody = Type.Object({
  request_id: Type.String(),
  ...campaignPartShapes,
  created_by: Type.String(),
});
export const v1ChangeBody = Type.Object({ request_id: Type.String(), ...optionalParts, updated_by: Type.String() });
export const v1StatusBody = Type.Object({
  request_id: Type.String(),
  action: Type.String({ description: 'STOP, PAUSE or RESUME' }),
  campaign_ids: Type.Array(Type.String(), { description: '1 to 10' }),
});

const v5Answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('campaign'), data: Type.Object(data) });
export const v5CreateAnswer = v5Answer({ id: Type.String(), status: Type.Literal('DRAFT') });
export const v5ChangeAnswer = v5Answer({ id: Type.String() });
export const v5ValidateAnswer = v5Answer({
  valid: Type.Boolean(),
  errors: Type.Array(Type.Object({ field: Type.String(), issue: Type.String() })),
});
export const v5PreviewAnswer = v5Answer({
  customer_id: Type.String(),
  platforms: Type.Record(
    Type.String(),
    Type.Object({
      outcome: Type.String({ description: 'RENDERED, FALLBACK or FAILED' }),
      content: Type.Optional(Type.Unsafe<unknown>({ type: 'object', description: 'As in campaign_content' })),
      failure: Type.Optional(Type.Object({ field: Type.String(), cause: Type.String(), reason: Type.String() })),
    }),
  ),
});
export const v5StatusAnswer = v5Answer({ id: Type.String(), action: Type.String() });

const testResults = Type.Record(
  Type.String(),
  Type.Object({ status: Type.String({ description: 'success or failed' }), failure_reason: text() }),
);
export const v1TestAnswer = Type.Object({ data: testResults, message: Type.String() });
export const v5TestAnswer = Type.Object({
  response_id: Type.String(),
  type: Type.Literal('campaign'),
  data: testResults,
});
export const v1CreateAnswer = Type.Object({ campaign_id: Type.String() });

const metaRow = {
  campaign_id: Type.String(),
  channel: Type.String(),
  platform: Type.Array(Type.String()),
  created_by: Type.String(),
  campaign_delivery_type: Type.String(),
  campaign_name: Type.String(),
  campaign_team: Type.String(),
  campaign_tags: Type.Array(Type.String()),
  campaign_status: Type.String(),
  campaign_start_time: Type.String(),
  parent_campaign_id: text(),
  total_child_campaigns: Type.Integer(),
  reachability_details: Type.Optional(Type.Object({ count: Type.Integer(), last_updated_time: Type.String() })),
};
export const v1MetaAnswer = Type.Array(Type.Object(metaRow));
export const v5MetaAnswer = v5Answer({
  campaigns: Type.Array(Type.Object({ ...metaRow, version_number: Type.Optional(Type.Integer()) })),
});
