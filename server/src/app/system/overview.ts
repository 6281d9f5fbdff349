import type { Clock } from '../../clock.ts';
import { isPermitted, permissionsIn, rolesIn } from '../../domain/access/accounts.ts';
import { platforms } from '../../domain/content/content.ts';
import { adviseOnFailure } from '../../domain/delivery/failures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { findIssues, verdictOf } from '../../domain/operations/conditions.ts';
import { pausedBy } from '../../domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../domain/operations/provider-issues.ts';
import type { Database } from '../../storage/database.ts';
import {
  readFirstSteps,
  countDevices,
  countRecentDeliveries,
  countUsers,
  countUsersSince,
  groupPausedSends,
  groupRecentFailures,
  listFailedRuns,
  listRecentCampaigns,
  listRunningSends,
  listScheduledSends,
  listWorkspacesAfter,
  listWorkspaces,
} from '../../storage/installation/overview.ts';
import { hasPageChecksums } from '../../storage/installation/installation.ts';
import { listSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { SandboxMessage } from '../../storage/installation/sandbox.ts';
import { listEndingKeys } from '../../storage/keys/api-keys.ts';
import { findWorkspace, findWorkspaceNumber } from '../../storage/workspaces.ts';
import { listUncountedRuns } from '../../storage/runs/audience-passes.ts';
import type { SignedIn } from '../accounts/audit.ts';
import type { ReadyCurl } from '../keys/key-curl.ts';
import { readLimits } from '../limits.ts';
import type { ReadLimitsDependencies } from '../limits.ts';
import { isAlive, showReport, readConnectionBudget, readInstallationFacts } from './nodes.ts';
import { listRecentDays, maxCounted, readProviderAnswers, readProviderHealth } from './provider-health.ts';
import { makeReadWeek } from './week.ts';

export type OverviewDependencies = {
  database: Database;
  clock: Clock;
  readyCurl: ReadyCurl;
  findTroubles: () => Promise<string[]>;
  isSandbox: boolean;
  isEmbedded: boolean;
  limits: Omit<ReadLimitsDependencies, 'database'>;
};

type OverviewQuery = { workspaceId: string | undefined; url: string; actor: SignedIn };

const hourMilliseconds = 3_600_000;
const newUserMilliseconds = 7 * 24 * hourMilliseconds;
const maxShown = 20;
// Counting an hour's failures reads up to 120,000 rows; pages poll every two seconds.
const recentMilliseconds = 5_000;

export type ConsoleOverview = ReturnType<typeof makeConsoleOverview>;

/** Returns in one response whether a workspace and its sends are healthy. */
export function makeConsoleOverview(deps: OverviewDependencies) {
  const { database } = deps;
  const recent = new Map<string, { until: number; answer: ReturnType<typeof readLastHour> }>();

  function lastHour(query: LastHourQuery): ReturnType<typeof readLastHour> {
    const { workspaceId, at } = query;
    const kept = recent.get(workspaceId);
    if (kept && Math.abs(kept.until - at.getTime()) <= recentMilliseconds) return kept.answer;
    const answer = readLastHour(database, query);
    recent.set(workspaceId, { until: at.getTime(), answer });
    answer.catch(() => recent.delete(workspaceId));
    // One entry per workspace, and few workspaces have a page open.
    if (recent.size > 100) recent.delete(recent.keys().next().value!);
    return answer;
  }

  return {
    /** @throws ServiceError NOT_FOUND */
    read: (query: OverviewQuery) => readOverview({ ...deps, lastHour }, query),

    /** Reads every device of the workspace, so pages poll only once a minute. @throws ServiceError NOT_FOUND */
    async countUsers(workspaceId: string) {
      const { id } = await findShown(database, workspaceId);
      const since = new Date(deps.clock.now().getTime() - newUserMilliseconds);
      const [users, newUsers, devices] = await Promise.all([
        countUsers(database, id),
        countUsersSince(database, { workspaceId: id, since }),
        countDevices(database, id),
      ]);
      return { users, newUsers, devices };
    },

    /** Returns what the workspace sent in seven days. @throws ServiceError NOT_FOUND */
    readWeek: makeReadWeek(deps),

    /** @throws ServiceError NOT_FOUND */
    async readFirstSteps(workspaceId: string) {
      const { id } = await findShown(database, workspaceId);
      return readFirstSteps(database, id);
    },
  };
}

type LastHourQuery = { workspaceId: string; at: Date };
type LastHour = (query: LastHourQuery) => ReturnType<typeof readLastHour>;

async function readLastHour(database: Database, { workspaceId, at }: LastHourQuery) {
  const days = await listRecentDays(database, at);
  const since = new Date(at.getTime() - hourMilliseconds);
  const workspaceNumber = await findWorkspaceNumber(database, workspaceId);
  if (workspaceNumber === undefined) throw new ServiceError('NOT_FOUND');
  const asked = { workspaceNumber, days, since, most: maxCounted, platforms };
  const [counts, failures, answers] = await Promise.all([
    countRecentDeliveries(database, asked),
    groupRecentFailures(database, asked),
    readProviderAnswers(database, { workspaceNumber, days, at }),
  ]);
  return {
    counts,
    failures: failures.map((failure) => ({ ...failure, advice: adviseOnFailure(failure) })),
    answers,
    since,
  };
}

/** @throws ServiceError NOT_FOUND */
async function readOverview(deps: OverviewDependencies & { lastHour: LastHour }, query: OverviewQuery) {
  const { database, clock, lastHour } = deps;
  const { url, actor } = query;
  const workspace = await findShown(database, query.workspaceId);
  const workspaceId = workspace.id;
  const at = clock.now();
  const since = new Date(at.getTime() - hourMilliseconds);
  const [troubles, running, paused, failedRuns, scheduled, campaigns, hour, providers, limits, installation, ...more] =
    await Promise.all([
      deps.findTroubles(),
      listRunningSends(database, { workspaceId, limit: maxShown }),
      groupPausedSends(database, workspaceId),
      listFailedRuns(database, { workspaceId, since, limit: maxShown }),
      listScheduledSends(database, { workspaceId, limit: 5 }),
      listRecentCampaigns(database, { workspaceId, limit: 10 }),
      lastHour({ workspaceId, at }),
      readProviderHealth(database, { workspaceId, at }),
      readLimits({ ...deps.limits, database }, { workspaceId, at }),
      readInstallationFacts(deps, at),
      listEndingKeys(database, workspaceId),
      listUncountedRuns(database, { workspaceId, limit: maxShown }),
      // The command contains a signature, so it requires the permission to see keys.
      isPermitted(actor.access, { permission: 'keys.read', workspaceId })
        ? deps.readyCurl({ workspaceId, url })
        : undefined,
    ]);
  const [endingKeys, uncountedRuns, curl] = more;
  const { nodes, facts } = installation;
  const connections = await readConnectionBudget(deps, nodes);
  const accepted = hour.counts.filter(({ outcome }) => outcome === 'ACCEPTED');
  const { answers, ...shownHour } = hour;
  const issues = findIssues({
    at,
    installation: facts,
    workspace: { providers, paused, answers, endingKeys },
    overview: {
      troubles,
      failedRuns,
      uncountedRuns,
      accepted: accepted.reduce((sum, { devices }) => sum + devices, 0),
      failures: hour.failures,
      tooManyConnections: connections.finding,
      isEmbeddedWithoutChecksums: deps.isEmbedded && !(await hasPageChecksums(database)),
      // A window of a minute may be full for only an instant, but the push limit rejects messages in the meantime.
      limits: limits.filter(({ id, windowSeconds }) => id === 'pushes' || windowSeconds === null || windowSeconds > 60),
    },
  });
  return {
    workspace,
    url,
    isSandbox: deps.isSandbox,
    now: at,
    verdict: verdictOf(issues),
    running,
    paused: paused.map((pause) => ({
      ...pause,
      provider: pausedBy(pause),
    })),
    scheduled,
    failedRuns,
    lastHour: { ...shownHour, waiting: countWaiting(answers), maxCounted },
    providers,
    limits,
    // Counts of all workspaces, which only users with a role in the installation may see.
    work: actor.access.installation.length === 0 ? null : summariseWork(installation, clock),
    campaigns,
    curl,
  };
}

/** Counts the messages that wait for another attempt or for their time, on all platforms. */
function countWaiting(answers: readonly ProviderAnswers[]): number {
  return answers.flatMap(({ waiting }) => waiting).reduce((sum, { devices }) => sum + devices, 0);
}

/** Sums up the messages that wait for the nodes, and the nodes that send them. */
function summariseWork({ nodes, queues, facts }: Awaited<ReturnType<typeof readInstallationFacts>>, clock: Clock) {
  const alive = nodes.filter((node) => isAlive(node, clock)).map((node) => showReport(node, clock));
  const sending = queues.filter(({ name }) => name === 'chunks' || name === 'retries');
  return {
    waiting: sending.reduce((sum, { waiting }) => sum + waiting, 0),
    oldestAt: facts.oldestWaitingAt,
    running: sending.reduce((sum, { running }) => sum + running, 0),
    later: sending.reduce((sum, { later }) => sum + later, 0),
    nodes: alive.length,
    sendingNodes: facts.sendingNodes,
    seenAt: alive.length === 0 ? null : new Date(Math.max(...alive.map(({ seenAt }) => seenAt.getTime()))),
  };
}

/** @throws ServiceError NOT_FOUND */
async function findShown(database: Database, workspaceId: string | undefined) {
  const [workspace] =
    workspaceId === undefined
      ? await listWorkspacesAfter(database, { afterId: undefined, limit: 1 })
      : [await findWorkspace(database, workspaceId)];
  if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  const { id, dbName, name, timeZone } = workspace;
  return { id, dbName, name, timeZone };
}

export type InstallationDependencies = { database: Database; isSandbox: boolean };

const messagesShown = 30;

/** Returns what a session may see of this installation: its workspaces, with the roles and permissions in each. */
export async function readInstallation(
  { database, isSandbox }: InstallationDependencies,
  { access }: Pick<SignedIn, 'access'>,
) {
  const workspaces = await listWorkspaces(database);
  const shown = workspaces.map((workspace) => ({
    ...workspace,
    roles: rolesIn(access, workspace.id),
    permissions: permissionsIn(access, workspace.id),
  }));
  return { workspaces: shown.filter(({ roles }) => roles.length > 0), isSandbox };
}

/** Lists the newest messages of a workspace in the sandbox's inbox. */
export function readConsoleInbox(
  { database }: Pick<InstallationDependencies, 'database'>,
  { workspaceId, after }: { workspaceId: string; after: string },
): Promise<SandboxMessage[]> {
  return listSandboxMessages(database, { workspaceId, afterId: after, limit: messagesShown });
}
