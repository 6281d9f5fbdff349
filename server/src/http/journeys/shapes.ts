import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import type { EntryHistory, JourneyFigures, UserAtStep } from '../../app/journeys/journey-users.ts';
import type { Journey, ReadJourney } from '../../app/journeys/journeys.ts';
import { journeyEndReasons, journeyStates } from '../../domain/journeys/graph.ts';
import { graphSchema } from '../../domain/journeys/read-graph.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { makeRequestId } from '../route/route.ts';

const time = (description: string) => Type.String({ description });
const timeOrNull = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const graph = named('JourneyGraph', graphSchema);

const summary = {
  id: Type.String(),
  name: Type.String(),
  status: codeShape(journeyStates, 'DRAFT: never published; STOPPED is final'),
  version: Type.Union([
    Type.Integer({ description: 'The version that users enter; null: never published' }),
    Type.Null(),
  ]),
  has_draft: Type.Boolean({ description: 'There are changes that were not published' }),
  created_by: Type.String(),
  created_at: time('ISO 8601'),
  updated_by: Type.String(),
  updated_at: time('ISO 8601'),
};
const summaryShape = named('JourneySummary', Type.Object(summary));
const journeyShape = named(
  'Journey',
  Type.Object({
    ...summary,
    draft: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
      description: 'The graph that is being edited, as it was sent, which may be unfinished',
    }),
    live: Type.Union([graph, Type.Null()], { description: 'The graph that users enter' }),
    campaigns: Type.Record(Type.String(), Type.String(), {
      description: 'Of each send step of the live version, the id of its campaign, for explain',
    }),
  }),
);

const answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('journey'), data: Type.Object(data) });

const nextCursor = Type.Optional(Type.String({ description: 'There may be another page' }));
export const journeyAnswer = named('JourneyAnswer', answer({ journey: journeyShape }));
export const journeysAnswer = named(
  'Journeys',
  answer({ journeys: Type.Array(summaryShape), next_cursor: nextCursor }),
);
export const removedAnswer = named('JourneyRemoved', answer({ removed: Type.Boolean() }));
export const validAnswer = named(
  'JourneyValidation',
  answer({
    valid: Type.Boolean(),
    faults: Type.Array(
      Type.Object({
        field: Type.String({ description: 'The path of the member; of a step: graph.steps.<id>.<member>' }),
        reason: Type.String(),
      }),
    ),
  }),
);
export const usersAnswer = named(
  'JourneyUsers',
  answer({
    users: Type.Array(
      Type.Object({
        customer_id: Type.Union([Type.String(), Type.Null()], { description: 'Null: a user without an id' }),
        entry_id: Type.String(),
        version: Type.Integer(),
        entered_at: time('ISO 8601'),
        arrived_at: time('When the user came to the step'),
        due_at: time('When the user goes on, unless an event comes first'),
      }),
    ),
    next_cursor: nextCursor,
  }),
);
const customerIds = (description: string) => Type.Array(Type.String(), { description });
export const enteredAnswer = named(
  'JourneyEntered',
  answer({
    entered: customerIds('Who entered'),
    refused: customerIds('Who may not enter again now'),
    unknown: customerIds('Who is not a user of the workspace'),
  }),
);
export const historyAnswer = named(
  'JourneyHistory',
  answer({
    entries: Type.Array(
      Type.Object({
        entry_id: Type.String(),
        version: Type.Integer(),
        step: Type.String({ description: 'Where the user is, or was at the end' }),
        entered_at: time('ISO 8601'),
        due_at: timeOrNull('When the user goes on; null: the entry is over'),
        ended_at: timeOrNull('Null: the user is inside'),
        end_reason: Type.Union([codeShape(journeyEndReasons, 'Why the entry ended'), Type.Null()]),
        passages: Type.Array(
          Type.Object({
            step: Type.String(),
            version: Type.Integer(),
            arrived_at: time('ISO 8601'),
            left_at: time('ISO 8601'),
            edge: Type.String({ description: 'next, event, timeout, yes, no, late, end, or way and its number' }),
          }),
        ),
      }),
      { description: 'The newest 20, newest first' },
    ),
  }),
);
export const figuresAnswer = named(
  'JourneyFigures',
  answer({
    inside: Type.Array(Type.Object({ step: Type.String(), users: Type.Integer() }), {
      description: 'Users who are at each step now',
    }),
    edges: Type.Array(
      Type.Object({
        version: Type.Integer(),
        step: Type.String({ description: 'Empty: entries and ends' }),
        edge: Type.String({ description: 'How users left the step; entered, or the reason of the end' }),
        users: Type.Integer(),
      }),
      { description: 'By UTC days of the range' },
    ),
  }),
);

export function presentAnswer<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'journey' as const, data };
}

export function presentSummary(journey: Journey) {
  return {
    id: journey.id,
    name: journey.name,
    status: journey.status,
    version: journey.version,
    has_draft: journey.draft !== null,
    created_by: journey.createdBy,
    created_at: journey.createdAt.toISOString(),
    updated_by: journey.updatedBy,
    updated_at: journey.updatedAt.toISOString(),
  };
}

export function presentJourney({ journey, live }: ReadJourney) {
  return {
    ...presentSummary(journey),
    draft: journey.draft,
    live: live?.graph ?? null,
    campaigns: live?.campaigns ?? {},
  };
}

export function presentUser(user: UserAtStep) {
  return {
    customer_id: user.customerId,
    entry_id: user.entryId,
    version: user.version,
    entered_at: user.enteredAt.toISOString(),
    arrived_at: user.arrivedAt.toISOString(),
    due_at: user.dueAt.toISOString(),
  };
}

export function presentEntry(entry: EntryHistory) {
  return {
    entry_id: entry.entryId,
    version: entry.version,
    step: entry.step,
    entered_at: entry.enteredAt.toISOString(),
    due_at: entry.dueAt?.toISOString() ?? null,
    ended_at: entry.endedAt?.toISOString() ?? null,
    end_reason: entry.endReason,
    passages: entry.passages.map(({ step, version, arrivedAt, leftAt, edge }) => ({
      ...{ step, version, edge },
      ...{ arrived_at: arrivedAt.toISOString(), left_at: leftAt.toISOString() },
    })),
  };
}

export function presentFigures({ inside, edges }: JourneyFigures) {
  return { inside, edges };
}
