import { topicCodes } from '../../domain/topics.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { AuthoringCaller, AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import type { CheckedCampaign } from '../../app/campaigns/check-campaign.ts';
import {
  changeComposed,
  checkComposed,
  countComposed,
  countComposedLocalTimes,
  countOpenHours,
  readComposerResources,
} from '../../app/campaigns/composer.ts';
import type { CountAnswer, LocalTimeAnswer, OpenHourAnswer } from '../../app/campaigns/composer.ts';
import { createDraftCampaign, publishDraftCampaign, recallCampaign } from '../../app/campaigns/create-campaign.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import type { DescribedOccurrence } from '../../domain/timing/occurrences.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { presentFrequencyCap } from '../../domain/workspace-controls.ts';
import { takeParts } from '../campaigns/authoring.ts';
import { parseTest, presentTestResults } from '../campaigns/test-and-preview.ts';
import { presentV5Error } from '../campaigns/v5-answers.ts';
import { presentDefaultError, toServiceError } from '../route/errors.ts';
import { readObject } from '../route/route.ts';
import { consoleApi as api } from './access.ts';
import { ChangedCampaign } from './campaign-answers.ts';
import { changeOf, id, Id, idOf, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

export const ComposerResources = described(
  Type.Object({
    attributes: described(Type.Array(Type.String()), "The names of the users' attributes."),
    businessEvents: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        attributes: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
      }),
    ),
    topics: described(
      Type.Array(Type.Object({ key: Type.String(), name: Type.String(), isInByDefault: Type.Boolean() })),
      'In the order in which users see them.',
    ),
    credentials: described(
      Type.Object({
        ANDROID: Type.Optional(oneOf(['real', 'simulated'])),
        IOS: Type.Optional(oneOf(['real', 'simulated'])),
        WEB: Type.Optional(oneOf(['real', 'simulated'])),
      }),
      "Absent: the workspace has no credential of that platform's provider.",
    ),
    controls: Type.Object({
      frequencyCaps: described(Type.Array(Type.String()), 'Caps as in `2/1d`: 2 messages in 1 day.'),
      quietHours: orNull(Type.Object({ from: Type.String(), to: Type.String(), mode: oneOf(['HOLD', 'DROP']) })),
      minimumDelayMinutes: orNull(Type.Number()),
      timeZone: Type.String(),
    }),
    now: Type.String(),
  }),
  'What a workspace has that a campaign may use.',
);

export const CampaignFault = described(
  Type.Object({ field: Type.String(), issue: Type.String() }),
  'A field of the body, such as `basic_details.name`, and the reason why it is invalid.',
);

export const CampaignOccurrence = Type.Object({
  at: Type.String(),
  local: described(
    Type.Object({ date: Type.String(), time: Type.String() }),
    'The date and time in `timeZone`, as YYYY-MM-DD and hh:mm.',
  ),
  timeZone: Type.String(),
  offset: Type.String({ description: 'The offset from UTC, as in `+05:30`.' }),
  clockChange: orNull(
    Type.Union([
      Type.Object({ kind: Type.Literal('skipped'), asked: Type.String() }),
      Type.Object({ kind: Type.Literal('twice') }),
      Type.Object({ kind: Type.Literal('shifted'), before: Type.String(), after: Type.String() }),
    ]),
  ),
  everyZone: described(
    orNull(
      Type.Object({
        first: Type.Object({ place: Type.String(), at: Type.String() }),
        last: Type.Object({ place: Type.String(), at: Type.String() }),
        usualAt: described(Type.String(), "The time of the campaign's zone, for users without a time zone."),
        ifPassed: oneOf(['SKIP', 'SEND']),
        hasPassed: described(Type.Boolean(), 'True if the first zones have already passed the local time.'),
      }),
    ),
    'For a send at the local time of each user: the instants of the first and the last inhabited zone.',
  ),
});

export const CampaignWarning = Type.Object({
  code: Type.String(),
  tone: oneOf(['warning', 'note']),
  part: oneOf(['audience', 'content', 'schedule']),
  message: Type.String(),
});

export const CampaignCheck = Type.Object({
  faults: Type.Array(CampaignFault),
  schedule: described(
    orNull(Type.Object({ kind: Type.String(), occurrences: Type.Array(CampaignOccurrence) })),
    'Null while the schedule is invalid, otherwise `soon`, `later`, `periodic`, `calendar` or `triggered`.',
  ),
  audienceText: described(orNull(Type.String()), 'A description of the filters.'),
  warnings: described(Type.Array(CampaignWarning), 'Empty while the campaign has errors.'),
});

export const Reach = described(
  oneOf(['REACHED', ...topicCodes, 'OTHER_PLATFORM', 'OPTED_OUT', 'BLOCKED', 'GONE', 'NO_DEVICE']),
  "The best result of a user's devices: reached, or the reason why not.",
);

export const AudienceCount = Type.Union([
  Type.Object({
    state: Type.Literal('COUNTED'),
    users: Type.Array(Type.Object({ reach: Reach, users: Type.Number() })),
    devices: Type.Array(
      Type.Object({
        platform: Platform,
        state: oneOf(['ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE']),
        devices: Type.Number(),
      }),
    ),
    pending: described(Type.Array(Type.String()), 'Segments that are still being filled, or that cannot be sent to.'),
  }),
  Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() }),
  Type.Object({ state: Type.Literal('UNREADABLE'), faults: Type.Array(CampaignFault) }),
]);

export const LocalTimeCount = described(
  Type.Union([
    Type.Object({
      state: Type.Literal('COUNTED'),
      waiting: Type.Number(),
      atOnce: described(Type.Number(), 'Their local time passed within the allowed lateness.'),
      passed: Type.Number(),
      unknownZone: described(Type.Number(), 'Their stored time zone is not one, so their messages fail.'),
    }),
    Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() }),
    Type.Object({ state: Type.Literal('NOT_LOCAL') }),
  ]),
  'The users whom a send at the local time of each user reaches, if it begins now.',
);

export const OpenHours = described(
  Type.Union([
    Type.Object({
      state: Type.Literal('COUNTED'),
      timeZone: Type.String(),
      days: described(Type.Number(), 'The days that were counted, up to now.'),
      hours: described(
        Type.Array(
          Type.Object({
            weekday: described(Type.Number(), '1 Monday to 7 Sunday.'),
            hour: Type.Number(),
            opens: Type.Number(),
          }),
        ),
        'Without the hours in which nothing was opened.',
      ),
    }),
    Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() }),
  ]),
  'The messages that were opened in each hour of the week.',
);

export const PlatformPreview = Type.Object({
  outcome: oneOf(['RENDERED', 'FALLBACK', 'FAILED']),
  content: Type.Optional(
    described(
      Type.Object(
        { basic_details: Type.Record(Type.String(), Type.Unknown()) },
        { additionalProperties: Type.Unknown() },
      ),
      'As in `campaign_content`.',
    ),
  ),
  failure: Type.Optional(Type.Object({ field: Type.String(), cause: Type.String(), reason: Type.String() })),
  payload: Type.Optional(
    described(
      Type.Object({ bytes: Type.Number(), most: Type.Number(), maxEverywhere: Type.Number() }),
      'The size as the provider counts it, the maximum of the provider, and the maximum that all browsers accept.',
    ),
  ),
});

export const CampaignPreview = Type.Object({
  customer_id: Type.String({ description: 'Empty if no user is named.' }),
  platforms: Type.Object({
    android: Type.Optional(PlatformPreview),
    ios: Type.Optional(PlatformPreview),
    web: Type.Optional(PlatformPreview),
  }),
});

export const TestResults = described(
  Type.Record(
    Type.String(),
    Type.Object({ status: oneOf(['success', 'failed']), failure_reason: Type.Optional(Type.String()) }),
  ),
  'By the value that was asked for.',
);

export const PreviewAnswer = described(
  Type.Object({ response_id: Type.String(), type: Type.Literal('campaign'), data: CampaignPreview }),
  'The response of V5.',
);

export type ConsoleComposerRouteDependencies = { composer: AuthoringDependencies };

const Checked = Type.Object({ workspaceId, id: Type.Optional(id) });
/** How long a campaign that is sent as soon as possible can be recalled, and the last change by an agent that the user has seen. */
const Publishing = Type.Object({
  workspaceId,
  delaySeconds: Type.Optional(Type.String({ pattern: '^([0-5]?[0-9]|60)$' })),
  seenChange: Type.Optional(id),
});

/**
 * Routes for composing campaigns on the console. Bodies are those of V5 without `created_by` and `updated_by`, which come
 * from the signed-in user; errors have the shape of V5.
 */
export function consoleComposerRoutes(server: FastifyInstance, { composer }: ConsoleComposerRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const answering = (shape: TSchema) => ({ schema: { ...schema, response: { 200: shape } }, config });
  const one = { schema: { ...schema, params: Id, response: { 200: ChangedCampaign } }, config };

  void server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown, request);
      // The form shows every fault at its field.
      if (error.code === 'CAMPAIGN_REQUEST_INVALID') return presentV5Error(error, { request, reply });
      return presentDefaultError(error, reply);
    });

    scope.get(`${api}/composer`, answering(ComposerResources), async (request) =>
      presentResources(await readComposerResources(composer, workspaceOf(request))),
    );
    const checking = { schema: { hide: true, querystring: Checked, response: { 200: CampaignCheck } }, config };
    scope.post(`${api}/composer/check`, checking, async (request) => {
      const asked = request.query as Static<typeof Checked>;
      return presentCheck(await checkComposed(composer, { id: undefined, ...asked, parts: partsOf(request) }));
    });
    scope.post(`${api}/composer/audience`, answering(AudienceCount), async (request) =>
      presentCount(await countComposed(composer, { workspaceId: workspaceOf(request), parts: partsOf(request) })),
    );
    scope.post(`${api}/composer/local-times`, answering(LocalTimeCount), async (request) => {
      const asked = { workspaceId: workspaceOf(request), parts: partsOf(request) };
      return presentLocalTimes(await countComposedLocalTimes(composer, asked));
    });
    scope.get(`${api}/composer/open-hours`, answering(OpenHours), async (request) =>
      presentOpenHours(await countOpenHours(composer, workspaceOf(request))),
    );
    scope.post(`${api}/composer/test`, answering(Type.Object({ results: TestResults })), async (request) => {
      const asked = parseTest(readObject(request), { version: 'V5' });
      const { results } = await testCampaign(composer, { ...callerOf(request), ...asked, requestId: undefined });
      return { results: presentTestResults(results) };
    });
    const creating = { schema: { ...schema, response: { 201: ChangedCampaign } }, config };
    scope.post(`${api}/campaigns`, creating, async (request, reply) => {
      const draft = { parts: partsOf(request), createdBy: request.signedIn.name };
      return reply.code(201).send(await createDraftCampaign(composer, { ...callerOf(request), ...draft }));
    });
    scope.patch(`${api}/campaigns/:id`, one, (request) =>
      changeComposed(composer, { ...callerOf(request), id: idOf(request), parts: partsOf(request) }),
    );
    const publishing = { ...one, schema: { ...one.schema, querystring: Publishing } };
    scope.post(`${api}/campaigns/:id/publish`, publishing, (request) => {
      const { delaySeconds = '0', seenChange } = request.query as Static<typeof Publishing>;
      return publishDraftCampaign(composer, {
        ...callerOf(request),
        id: idOf(request),
        seenChange,
        delaySeconds: Number(delaySeconds),
      });
    });
    scope.post(`${api}/campaigns/:id/recall`, one, (request) =>
      recallCampaign(composer, { ...callerOf(request), id: idOf(request) }),
    );
  });
}

function partsOf(request: FastifyRequest) {
  return takeParts(readObject(request));
}

/** The console sends no Idempotency-Key. */
function callerOf(request: FastifyRequest): AuthoringCaller {
  return { ...changeOf(request), idempotencyKey: undefined, rawBody: '' };
}

type Resources = Awaited<ReturnType<typeof readComposerResources>>;

function presentResources({ controls, now, ...resources }: Resources) {
  const { caps, quietHours, minimumDelayMinutes, timeZone } = controls;
  return {
    ...resources,
    controls: { frequencyCaps: caps.map(presentFrequencyCap), quietHours, minimumDelayMinutes, timeZone },
    now: now.toISOString(),
  };
}

function presentCheck({ faults, timing, occurrences, audienceText, warnings }: CheckedCampaign) {
  return {
    faults: faults.map(presentFault),
    schedule: timing === undefined ? null : { kind: timing.kind, occurrences: occurrences.map(presentTimelineEntry) },
    audienceText: audienceText ?? null,
    warnings,
  };
}

function presentCount(answer: CountAnswer) {
  switch (answer.kind) {
    case 'counted':
      return { state: 'COUNTED', ...answer.count };
    case 'too slow':
      return { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    case 'unreadable':
      return { state: 'UNREADABLE', faults: answer.faults.map(presentFault) };
    default:
      return unknownCase(answer);
  }
}

/** Presents a fault as V5's validate reports it. */
function presentFault({ field, reason }: RequestFault) {
  return { field, issue: reason === 'missing' ? 'is required' : reason };
}

function presentTimelineEntry({ at, clockChange, everyZone, ...occurrence }: DescribedOccurrence) {
  const zones = everyZone && {
    ...everyZone,
    first: { ...everyZone.first, at: everyZone.first.at.toISOString() },
    last: { ...everyZone.last, at: everyZone.last.at.toISOString() },
    usualAt: everyZone.usualAt.toISOString(),
  };
  return { ...occurrence, at: at.toISOString(), clockChange: clockChange ?? null, everyZone: zones ?? null };
}

function presentOpenHours(answer: OpenHourAnswer) {
  const { kind, ...found } = answer;
  return { state: kind === 'counted' ? 'COUNTED' : 'TOO_SLOW', ...found };
}

function presentLocalTimes(answer: LocalTimeAnswer) {
  switch (answer.kind) {
    case 'counted': {
      const { 'at once': atOnce, 'unknown zone': unknownZone, ...rest } = answer.count;
      return { state: 'COUNTED', ...rest, atOnce, unknownZone };
    }
    case 'too slow':
      return { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    case 'not local':
      return { state: 'NOT_LOCAL' };
    default:
      return unknownCase(answer);
  }
}
