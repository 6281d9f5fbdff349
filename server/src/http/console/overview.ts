import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readConsoleInbox } from '../../app/system/overview.ts';
import type { ConsoleOverview, InstallationDependencies } from '../../app/system/overview.ts';
import { providerNames } from '../../domain/delivery/providers.ts';
import { consoleApi as api, serviceOrigin } from './access.ts';
import { ConsoleWorkspace } from './accounts.ts';
import { id, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

export const InboxMessage = Type.Object({
  id: Type.String(),
  workspaceId: Type.String(),
  collapseId: orNull(Type.String()),
  messageId: Type.String(),
  platform: Platform,
  deviceToken: Type.String(),
  title: Type.String(),
  body: Type.String(),
  campaignId: orNull(Type.String()),
  receivedAt: Type.String(),
  transport: described(
    Type.Record(Type.String(), Type.String()),
    'Parameters of the request other than the message, such as its priority and time to live.',
  ),
  headers: described(
    Type.Record(Type.String(), Type.String()),
    'All headers of the request, with only the scheme of credentials. Empty for messages of older versions.',
  ),
  payload: Type.Unknown(),
  screen: described(
    Type.Partial(
      Type.Object({
        shownBy: oneOf(['app', 'system', 'extension', 'worker', 'nobody']),
        title: Type.String(),
        body: Type.String(),
        image: Type.String(),
        buttons: Type.Array(Type.String()),
        reports: Type.Array(oneOf(['impression', 'click', 'close'])),
      }),
    ),
    'The visible part while the app is in the background; empty for messages of older versions.',
  ),
});

export const CredentialCheck = described(
  Type.Object({ verdict: oneOf(['ACCEPTED', 'REFUSED', 'UNKNOWN']), words: Type.String(), at: Type.String() }),
  'The result of the last check of a credential with its provider.',
);

export const ProviderName = oneOf(providerNames);

export const FindingPlace = described(
  Type.Union([
    Type.Object({ screen: oneOf(['system', 'providers', 'segments', 'log', 'keys']) }),
    Type.Object({ screen: Type.Literal('campaign'), campaignId: Type.String() }),
    Type.Object({
      screen: Type.Literal('deliveries'),
      platform: Platform,
      outcome: Type.String(),
      code: Type.String(),
    }),
  ]),
  'The screen where a problem can be examined or fixed.',
);

export const Finding = Type.Object({
  level: oneOf(['trouble', 'attention']),
  what: Type.String(),
  todo: Type.String(),
  place: FindingPlace,
});

export const ProviderHealth = Type.Object({
  platform: Platform,
  provider: ProviderName,
  name: Type.String(),
  isConnected: Type.Boolean(),
  isSimulated: Type.Boolean(),
  account: orNull(Type.String()),
  updatedAt: orNull(Type.String()),
  check: orNull(CredentialCheck),
  silent: described(
    orNull(Type.Object({ until: Type.String(), reason: Type.String() })),
    'The provider asked for a pause, or cannot be reached.',
  ),
  noisyUntil: orNull(Type.String()),
});

export const LimitUse = Type.Object({
  id: Type.String(),
  name: Type.String(),
  used: Type.Number(),
  most: Type.Number(),
  windowSeconds: described(orNull(Type.Number()), 'Null if the limit applies at any one time.'),
  setting: described(orNull(Type.String()), 'The setting that sets the limit; null if the interface sets it.'),
});

export const RunningSend = Type.Object({
  runId: Type.String(),
  campaignId: Type.String(),
  campaignName: Type.String(),
  status: oneOf(['QUEUED', 'SENDING']),
  createdAt: Type.String(),
  startedAt: orNull(Type.String()),
  audienceDevices: orNull(Type.Number()),
  accepted: Type.Number(),
  notDelivered: Type.Number(),
  waiting: Type.Number(),
});

export const RecentFailure = Type.Object({
  platform: Platform,
  outcome: Type.String(),
  code: Type.String(),
  devices: Type.Number(),
  lastAt: Type.String(),
  advice: Type.String(),
});

export const OverviewCampaign = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.String(),
  statusReason: orNull(Type.String()),
  createdAt: Type.String(),
  createdBy: Type.String(),
  counts: Type.Array(Type.Object({ platform: Platform, outcome: Type.String(), devices: Type.Number() })),
});

export const Overview = Type.Object({
  workspace: ConsoleWorkspace,
  url: Type.String(),
  isSandbox: Type.Boolean(),
  now: Type.String(),
  verdict: Type.Object({
    level: oneOf(['well', 'attention', 'trouble']),
    headline: Type.String(),
    findings: Type.Array(Finding),
  }),
  running: Type.Array(RunningSend),
  paused: Type.Array(
    Type.Object({
      platform: orNull(Platform),
      provider: described(
        orNull(ProviderName),
        'The provider that refused the credential; null if a user paused the campaign.',
      ),
      waits: described(
        Type.Union([Type.Literal('all'), Type.Literal('some')]),
        '`all` if all devices wait; `some` if only the devices of the refused credential wait.',
      ),
      reason: Type.String(),
      runs: Type.Number(),
      campaignId: Type.String(),
      campaignName: Type.String(),
    }),
  ),
  scheduled: Type.Array(
    Type.Object({
      campaignId: Type.String(),
      campaignName: Type.String(),
      nextAt: Type.String(),
      deliveryType: Type.String(),
    }),
  ),
  failedRuns: Type.Array(
    Type.Object({
      campaignId: Type.String(),
      campaignName: Type.String(),
      status: Type.String(),
      reason: Type.String(),
      endedAt: Type.String(),
    }),
  ),
  lastHour: Type.Object({
    since: Type.String(),
    maxCounted: Type.Number({ description: 'A count of this value means "this many or more".' }),
    counts: Type.Array(Type.Object({ platform: Platform, outcome: Type.String(), devices: Type.Number() })),
    failures: Type.Array(RecentFailure),
    waiting: described(Type.Number(), 'Messages that wait for another attempt or for their time.'),
  }),
  providers: Type.Array(ProviderHealth),
  limits: Type.Array(LimitUse),
  work: described(
    orNull(
      Type.Object({
        waiting: Type.Number(),
        oldestAt: orNull(Type.String()),
        running: Type.Number(),
        later: Type.Number(),
        nodes: Type.Number(),
        sendingNodes: Type.Number(),
        seenAt: orNull(Type.String()),
      }),
    ),
    'The work of all nodes for all workspaces; null for users whose roles are in single workspaces.',
  ),
  campaigns: Type.Array(OverviewCampaign),
  curl: Type.Optional(Type.String()),
});

export const UserCounts = Type.Object({
  users: Type.Number(),
  newUsers: described(Type.Number(), 'Users that were added in the last seven days.'),
  devices: Type.Array(Type.Object({ platform: Platform, state: Type.String(), devices: Type.Number() })),
});

const sentFigures = {
  tried: described(Type.Number(), 'Messages with a final outcome other than withheld.'),
  accepted: Type.Number(),
  clicked: Type.Number(),
};

export const Week = described(
  Type.Object({
    days: Type.Array(Type.Object({ date: Type.String(), ...sentFigures })),
    before: described(Type.Object(sentFigures), 'The seven days before, up to the same time of day.'),
    isPartial: described(Type.Boolean(), 'True if only the newest sends are counted, because there were too many.'),
  }),
  'What the sends of the last seven days achieved, in the zone of the workspace; the newest day is last.',
);

export const FirstSteps = described(
  Type.Object({
    hasPushed: Type.Boolean(),
    hasProvider: Type.Boolean({ description: 'True if a real provider is connected; simulators do not count.' }),
    hasUsers: Type.Boolean({ description: 'True if there are users in addition to those of the sandbox.' }),
    hasInvited: Type.Boolean(),
  }),
  'The first steps that are done.',
);

const OverviewQuery = Type.Object({ workspaceId: Type.Optional(Type.String({ maxLength: 64 })) });
const InboxQuery = Type.Object({
  workspaceId,
  after: Type.Optional(id),
});

const config = { permission: 'overview.read' as const };

export type OverviewRouteDependencies = InstallationDependencies & {
  overview: ConsoleOverview;
  publicUrl: string | undefined;
};

export function overviewRoutes(server: FastifyInstance, deps: OverviewRouteDependencies): void {
  const { overview } = deps;
  const schema = { hide: true, querystring: OverviewQuery, response: { 200: Overview } };
  server.get(`${api}/overview`, { schema, config }, (request) => {
    const { workspaceId } = request.query as Static<typeof OverviewQuery>;
    const url = serviceOrigin(request, deps.publicUrl);
    return overview.read({ workspaceId, url, actor: request.signedIn });
  });
  const counting = { schema: { hide: true, querystring: Workspace, response: { 200: UserCounts } }, config };
  server.get(`${api}/overview/people`, counting, (request) => overview.countUsers(workspaceOf(request)));
  const ofWeek = { schema: { hide: true, querystring: Workspace, response: { 200: Week } }, config };
  server.get(`${api}/overview/week`, ofWeek, (request) => overview.readWeek(workspaceOf(request)));
  const stepping = { schema: { hide: true, querystring: Workspace, response: { 200: FirstSteps } }, config };
  server.get(`${api}/overview/first-steps`, stepping, (request) => overview.readFirstSteps(workspaceOf(request)));
  const reading = {
    schema: {
      hide: true,
      querystring: InboxQuery,
      response: { 200: Type.Object({ messages: Type.Array(InboxMessage) }) },
    },
    config,
  };
  server.get(`${api}/inbox`, reading, async (request) => {
    const { workspaceId, after } = request.query as Static<typeof InboxQuery>;
    return { messages: await readConsoleInbox(deps, { workspaceId, after: after ?? '' }) };
  });
}
