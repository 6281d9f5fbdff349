import { Type } from 'typebox';
import { maxExpiryDays, minExpiryDays } from '../../domain/segments/limits.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import { filterSegmentErrors } from './present-filter-segment.ts';
import { segmentErrors } from './present.ts';

/**
 * Bodies of the segment families (fact 2). They document the fields and tell unknown ones; the parsers hold the rules.
 */
const file = {
  name: Type.String({ description: 'Segment name, unique in the workspace' }),
  attribute_name: Type.String({ description: 'User attribute that the file holds; `uid` is the customer id' }),
  attribute_type: Type.Union([Type.Literal('string'), Type.Literal('double')]),
  file_url: Type.String({ format: 'uri', description: 'Public address of a single-column CSV file of at most 150 MB' }),
  callback_url: Type.Optional(Type.String({ format: 'uri', description: 'Receives the result (interface 2.7)' })),
  emails: Type.Optional(Type.Array(Type.String({ format: 'email' }), { maxItems: 20 })),
};

export const createBody = named(
  'FileSegmentRequest',
  Type.Object({
    ...file,
    expiry_time: Type.Integer({
      minimum: minExpiryDays,
      maximum: maxExpiryDays,
      description: 'Days until the segment is archived',
    }),
  }),
);

export const changeBody = named(
  'FileSegmentChange',
  Type.Object({
    ...file,
    cs_id: Type.Optional(Type.String({ description: 'Wins over the name' })),
  }),
);

export const nameBody = named(
  'SegmentName',
  Type.Object({
    name: Type.String(),
    cs_id: Type.Optional(Type.String({ description: 'Wins over the name' })),
  }),
);

export const segmentAccepted = named(
  'SegmentAccepted',
  Type.Object({
    message: Type.String(),
    success: Type.Boolean(),
    cs_name: Type.String(),
    cs_id: Type.String(),
  }),
);

export const segmentError = named(
  'FileSegmentError',
  Type.Object({
    title: codeShape(
      [...Object.values(segmentErrors).map(({ title }) => title), 'Internal Server Error'],
      'What kind of refusal it is',
    ),
    description: Type.Optional(Type.String({ description: 'Absent of a fault of ours' })),
  }),
);

/** Filters are read by their own parser, which also names unknown members; here they are opaque. */
const Filters = named(
  'Filters',
  Type.Unsafe<unknown>({
    type: 'object',
    description:
      '{"filter_operator": "and" | "or", "filters": [...]}: filters of user attributes and of other segments, nested up to 10 levels',
  }),
);

export const filterBody = named(
  'FilterSegmentRequest',
  Type.Object({
    name: Type.String(),
    included_filters: Filters,
    excluded_filters: Type.Optional(Filters),
  }),
);

export const filterChangeBody = named(
  'FilterSegmentChange',
  Type.Object({
    name: Type.Optional(Type.String()),
    included_filters: Type.Optional(Filters),
    excluded_filters: Type.Optional(Filters),
    updated_by: Type.Optional(Type.String({ format: 'email' })),
  }),
);

const listed = {
  name: Type.String(),
  id: Type.String(),
  created_time: Type.String({ description: 'UTC, without a zone' }),
  type: codeShape(['FILE', 'ELASTIC_SEARCH', 'COHORT'], 'ELASTIC_SEARCH: of filters'),
  source: codeShape(['API', 'DASHBOARD', 'PARTNER'], 'Where it was made'),
};

const shown = {
  ...listed,
  updated_time: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  included_filters: Type.Unknown(),
  excluded_filters: Type.Unknown(),
  status: codeShape(['FILLING', 'READY', 'FAILED', 'ARCHIVED'], 'FILLING: no members, or part of them, yet'),
  user_count: Type.Union([Type.Integer(), Type.Null()]),
};

const envelope = { response_id: Type.String(), type: Type.Literal('custom_segment') };
export const segmentAnswer = named('SegmentAnswer', Type.Object({ data: Type.Object(shown), ...envelope }));
export const segmentList = named('SegmentList', Type.Object({ data: Type.Array(Type.Object(listed)), ...envelope }));
export const filterSegmentError = named(
  'FilterSegmentError',
  Type.Object({
    ...envelope,
    error: Type.Object({
      code: codeShape(
        [...Object.values(filterSegmentErrors).map(({ code }) => code), 'Internal Server Error'],
        'What kind of refusal it is',
      ),
      message: Type.String(),
      details: Type.Optional(Type.String({ description: 'The exact fault' })),
    }),
  }),
);

export const cohortBody = named(
  'CohortRequest',
  Type.Object({
    action: Type.Union([Type.Literal('add_members'), Type.Literal('remove_members')]),
    partner: Type.String(),
    parameters: Type.Object({
      cohort_name: Type.String(),
      cohort_id: Type.String(),
      cohort_description: Type.Optional(Type.String()),
      members: Type.Array(Type.Object({ uid: Type.String() })),
    }),
  }),
);
