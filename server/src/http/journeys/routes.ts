import { Type } from 'typebox';
import { changeJourneyState } from '../../app/journeys/change-journey-state.ts';
import type { JourneyAction } from '../../app/journeys/change-journey-state.ts';
import {
  changeJourney,
  createJourney,
  readJourney,
  removeJourney,
  searchJourneys,
} from '../../app/journeys/journeys.ts';
import type { JourneyDependencies } from '../../app/journeys/journeys.ts';
import { enterUsers } from '../../app/journeys/enter-journey.ts';
import { readHistoryOfUser, readJourneyFigures, readUsersAtStep } from '../../app/journeys/journey-users.ts';
import { publishJourney, validateJourney } from '../../app/journeys/publish-journey.ts';
import { makeV5Dialect } from '../campaigns/dialects.ts';
import type { CampaignAccessDependencies } from '../campaigns/dialects.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  changeBody,
  createBody,
  entryBody,
  cursorAfter,
  figuresQuery,
  historyQuery,
  parseEntries,
  parseFigures,
  parseHistory,
  parseJourney,
  parseJourneyChange,
  parseUserPage,
  parsePublish,
  parseSearch,
  userPageQuery,
  publishBody,
  searchQuery,
  toCursor,
} from './requests.ts';
import {
  enteredAnswer,
  figuresAnswer,
  historyAnswer,
  journeyAnswer,
  journeysAnswer,
  usersAnswer,
  presentAnswer,
  presentEntry,
  presentFigures,
  presentJourney,
  presentUser,
  presentSummary,
  removedAnswer,
  validAnswer,
} from './shapes.ts';

export type JourneyRouteDependencies = JourneyDependencies & CampaignAccessDependencies;

const base = '/v1/journeys';
const maxBodyBytes = 2 * 1024 * 1024;

/** Routes for journeys: an addition, with the limits and errors of V5. They require the campaigns key. */
export function journeyRoutes(deps: JourneyRouteDependencies): RouteFamily {
  return async (server) => {
    const v5 = makeV5Dialect(deps, { tag: 'Journeys' });
    await addRoutes(server, [
      ...listRoutes(deps, v5),
      ...oneRoutes(deps, v5),
      ...liveRoutes(deps, v5),
      ...userRoutes(deps, v5),
    ]);
  };
}

type V5 = RouteDialect<KeyCaller>;

function listRoutes(deps: JourneyRouteDependencies, v5: V5): Route[] {
  return [
    route(v5, {
      method: 'GET',
      url: base,
      operationId: 'listJourneys',
      summary: 'List journeys, newest first',
      querystring: searchQuery,
      answers: { 200: journeysAnswer },
      read: ({ query }) => parseSearch(query),
      async handle({ input, workspaceId }) {
        const journeys = await searchJourneys(deps, { workspaceId, ...input });
        const page = cursorAfter(journeys, { limit: input.limit, of: toCursor });
        return presentAnswer({ journeys: journeys.map(presentSummary), ...page });
      },
    }),
    route(v5, {
      method: 'POST',
      url: base,
      operationId: 'createJourney',
      summary: 'Create the draft of a journey',
      body: createBody,
      maxBodyBytes,
      isRepeatable: true,
      answers: { 201: journeyAnswer },
      refuses: [409],
      read: ({ body }) => parseJourney(body),
      async handle({ input, actor, workspaceId, once }) {
        const { id } = await createJourney(deps, { ...input, actor, workspaceId, once });
        return presentAnswer({ journey: presentJourney(await readJourney(deps, { workspaceId, id })) });
      },
    }),
  ];
}

const params = Type.Object({ id: Type.String({ description: 'The id of the journey' }) });
const one = { url: `${base}/:id`, params };

function oneRoutes(deps: JourneyRouteDependencies, v5: V5): Route[] {
  return [
    route(v5, {
      method: 'GET',
      ...one,
      operationId: 'getJourney',
      summary: 'Get a journey with its draft and its live graph',
      answers: { 200: journeyAnswer },
      refuses: [404],
      handle: async ({ workspaceId, params: { id } }) =>
        presentAnswer({ journey: presentJourney(await readJourney(deps, { workspaceId, id })) }),
    }),
    route(v5, {
      method: 'PATCH',
      ...one,
      operationId: 'changeJourney',
      summary: 'Change the name or the draft of a journey',
      body: changeBody,
      maxBodyBytes,
      answers: { 200: journeyAnswer },
      refuses: [404, 409],
      read: ({ body }) => parseJourneyChange(body),
      async handle({ input, actor, workspaceId, params: { id } }) {
        await changeJourney(deps, { ...input, actor, workspaceId, id });
        return presentAnswer({ journey: presentJourney(await readJourney(deps, { workspaceId, id })) });
      },
    }),
    route(v5, {
      method: 'DELETE',
      ...one,
      operationId: 'removeJourney',
      summary: 'Remove a journey that was never published',
      answers: { 200: removedAnswer },
      refuses: [404, 409, 413, 415],
      async handle({ actor, workspaceId, params: { id } }) {
        await removeJourney(deps, { actor, workspaceId, id });
        return presentAnswer({ removed: true });
      },
    }),
    route(v5, {
      method: 'GET',
      url: `${base}/:id/validation`,
      params,
      operationId: 'validateJourney',
      summary: 'List what keeps the draft of a journey from being published',
      answers: { 200: validAnswer },
      refuses: [404],
      async handle({ workspaceId, params: { id } }) {
        const found = await validateJourney(deps, { workspaceId, id });
        const faults = found.map(({ field, reason }) => ({ field, reason }));
        return presentAnswer({ valid: faults.length === 0, faults });
      },
    }),
  ];
}

const actions: Record<JourneyAction, string> = {
  pause: 'Pause a journey: users neither enter nor go on',
  resume: 'Resume a paused journey',
  stop: 'Stop a journey for good: everyone leaves',
};

function liveRoutes(deps: JourneyRouteDependencies, v5: V5): Route[] {
  const publish = route(v5, {
    method: 'POST',
    url: `${base}/:id/publish`,
    params,
    operationId: 'publishJourney',
    summary: 'Publish the draft of a journey as its next version',
    body: publishBody,
    isRepeatable: true,
    answers: { 200: journeyAnswer },
    refuses: [404, 409],
    read: ({ body }) => parsePublish(body),
    async handle({ input, actor, workspaceId, once, params: { id } }) {
      await publishJourney(deps, { ...input, actor, workspaceId, once, id });
      return presentAnswer({ journey: presentJourney(await readJourney(deps, { workspaceId, id })) });
    },
  });
  const others = (Object.keys(actions) as JourneyAction[]).map((action) =>
    route(v5, {
      method: 'POST',
      url: `${base}/:id/${action}`,
      params,
      operationId: `${action}Journey`,
      summary: actions[action],
      isBodyIgnored: true,
      answers: { 200: journeyAnswer },
      refuses: [404, 409, 413, 415],
      async handle({ actor, workspaceId, params: { id } }) {
        await changeJourneyState(deps, { actor, workspaceId, id, action });
        return presentAnswer({ journey: presentJourney(await readJourney(deps, { workspaceId, id })) });
      },
    }),
  );
  return [publish, ...others];
}

function userRoutes(deps: JourneyRouteDependencies, v5: V5): Route[] {
  return [
    route(v5, {
      method: 'POST',
      url: `${base}/:id/entries`,
      params,
      operationId: 'enterJourney',
      summary: 'Let users enter a journey',
      body: entryBody,
      maxBodyBytes,
      isRepeatable: true,
      answers: { 200: enteredAnswer },
      refuses: [404, 409],
      read: ({ body }) => parseEntries(body),
      handle: async ({ input, actor, workspaceId, once, params: { id } }) =>
        presentAnswer(await enterUsers(deps, { ...input, actor, workspaceId, once, id })),
    }),
    route(v5, {
      method: 'GET',
      url: `${base}/:id/figures`,
      params,
      operationId: 'readJourneyFigures',
      summary: 'Count the users at each step, and those who left it by each edge',
      querystring: figuresQuery,
      answers: { 200: figuresAnswer },
      refuses: [404],
      read: ({ query }) => parseFigures(query),
      handle: async ({ input, workspaceId, params: { id } }) =>
        presentAnswer(presentFigures(await readJourneyFigures(deps, { workspaceId, id, ...input }))),
    }),
    route(v5, {
      method: 'GET',
      url: `${base}/:id/steps/:step/users`,
      params: Type.Object({ ...params.properties, step: Type.String({ description: 'The id of the step' }) }),
      operationId: 'listUsersAtStep',
      summary: 'List the users who are at a step',
      querystring: userPageQuery,
      answers: { 200: usersAnswer },
      refuses: [404],
      read: ({ query }) => parseUserPage(query),
      async handle({ input, workspaceId, params: { id, step } }) {
        const users = await readUsersAtStep(deps, { workspaceId, id, step, ...input });
        const page = cursorAfter(users, { limit: input.limit, of: ({ entryId }) => entryId });
        return presentAnswer({ users: users.map(presentUser), ...page });
      },
    }),
    route(v5, {
      method: 'GET',
      url: `${base}/:id/history`,
      params,
      operationId: 'readJourneyHistory',
      summary: 'List the entries of a user with the steps that they passed',
      querystring: historyQuery,
      answers: { 200: historyAnswer },
      refuses: [404],
      read: ({ query }) => parseHistory(query),
      async handle({ input, workspaceId, params: { id } }) {
        const entries = await readHistoryOfUser(deps, { workspaceId, id, ...input });
        return presentAnswer({ entries: entries.map(presentEntry) });
      },
    }),
  ];
}
