import type { ProviderName } from '../delivery/providers.ts';
import { unknownCase } from '../unknown-case.ts';
import { judgeAnswers, pausedBy, judgeEndingKeys } from './overview.ts';
import type { OverviewFacts } from './overview.ts';
import { judgeUpkeep } from './upkeep.ts';

export type ConditionFacts = Pick<
  OverviewFacts,
  | 'at'
  | 'providers'
  | 'paused'
  | 'answers'
  | 'sendingNodes'
  | 'oldestWaitingAt'
  | 'failingJobs'
  | 'endingKeys'
  | 'upkeep'
>;

/**
 * A worker checks for work every second, and takes over the work of a dead one after 60 s. Work that waits longer has
 * no worker.
 */
const lateSeconds = 120;

/**
 * Returns the current problems of a workspace, each once: a provider that rejects in three ways is one problem. Pure.
 */
export function judgeConditions(facts: ConditionFacts): Condition[] {
  return [
    ...judgeProviders(facts),
    ...judgeWork(facts),
    ...judgeEndingKeys(facts).map((ending) => ({ kind: 'credential' as const, ...ending })),
    ...judgeUpkeep(facts.upkeep).map(({ level: _level, ...finding }) => finding),
  ];
}

function judgeProviders({ providers, paused, answers }: ConditionFacts): Condition[] {
  return providers.flatMap(({ provider, name, isConnected, check }): Condition[] => {
    const kind = 'provider';
    const pause = paused.find((one) => pausedBy(one) === provider);
    if (pause)
      return [
        {
          ...{ kind, subject: name, what: `${name} refuses the credential: ${pause.reason}`, recheck: provider },
          todo: 'Mend the account at the provider, or connect a credential that it takes: it is asked again by itself, and what waits is sent then.',
        },
      ];
    if (isConnected && check?.verdict === 'REFUSED')
      return [
        {
          ...{ kind, subject: name, what: `${name} refused its credential when it was last checked: ${check.words}` },
          ...{ recheck: provider, todo: 'Replace the credential, or give its account what it lacks.' },
        },
      ];
    const [finding] = answers
      .filter((answer) => answer.name === name)
      .flatMap(judgeAnswers)
      .filter(({ level }) => level === 'trouble');
    return finding ? [{ kind, subject: name, what: finding.what, todo: finding.todo }] : [];
  });
}

function judgeWork({ at, sendingNodes, oldestWaitingAt, failingJobs }: ConditionFacts): Condition[] {
  const conditions: Condition[] = failingJobs.map(({ name, fault }) => ({
    kind: 'job',
    subject: name,
    what: `The job ${name} of the server fails: ${fault}.`,
    todo: 'It is tried again and again; the log of the server says why it fails.',
  }));
  const waitsSeconds = oldestWaitingAt === null ? 0 : (at.getTime() - oldestWaitingAt.getTime()) / 1000;
  if (sendingNodes === 0)
    conditions.push({
      ...{
        kind: 'node',
        subject: 'sending nodes',
        what: 'No node that sends has been heard of in the last 30 seconds.',
      },
      todo: 'Start one with the role "all" or "worker".',
    });
  else if (waitsSeconds > lateSeconds)
    conditions.push({
      ...{ kind: 'queue', subject: 'messages' },
      what: `Messages wait for a worker since ${Math.round(waitsSeconds / 60)} minutes.`,
      todo: 'See on the system page what the nodes do; more of them share the work.',
    });
  return conditions;
}

/** The subjects of alerts; a workspace can turn each on or off. */
export const alertKinds = ['provider', 'queue', 'node', 'job', 'credential', 'backup', 'certificate'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** A problem that prevents delivery, soon will, or would lose data that users sent. Each check finds it true or not. */
export type Condition = {
  kind: AlertKind;
  /** The provider, job, key or certificate. */
  subject: string;
  what: string;
  /** What the operator should do. */
  todo: string;
  /** The provider to recheck, because it may accept its credential again. */
  recheck?: ProviderName;
};

export type Alert = Omit<Condition, 'recheck'> & {
  id: string;
  workspaceId: string;
  openedAt: Date;
  /** Null: the alert is still open. */
  closedAt: Date | null;
};

export type AlertEvent = 'opened' | 'closed' | 'test';

/** `consoleUrl`: the origin of the console and of the documentation; undefined if it is not configured. */
type Told = { alert: Alert; consoleUrl: string | undefined };

/**
 * Returns the body of the POST request. Field names are as in callbacks: the receiver stores `id` and drops repeats by
 * `webhook-id`. Pure.
 */
export function writeAlertBody(event: AlertEvent, { alert, consoleUrl }: Told): string {
  return JSON.stringify({
    type: `alert.${event}`,
    workspace_id: alert.workspaceId,
    alert: {
      id: alert.id,
      kind: alert.kind,
      subject: alert.subject,
      what: alert.what,
      what_to_do: alert.todo,
      runbook_url: runbookOf(alert.kind, consoleUrl),
      opened_at: alert.openedAt.toISOString(),
      closed_at: alert.closedAt?.toISOString() ?? null,
    },
  });
}

/** Returns the same alert as an email. Pure. */
export function writeAlertEmail(
  event: AlertEvent,
  { alert, workspaceName, consoleUrl }: Told & { workspaceName: string },
): { subject: string; body: string } {
  const { kind, what, todo, openedAt, closedAt, subject, workspaceId } = alert;
  const runbook = runbookOf(kind, consoleUrl);
  const more = runbook === null ? [] : [`Runbook: ${runbook}`];
  const where = consoleUrl === undefined ? [] : [`Console: ${consoleUrl}/console/w/${workspaceId}/alerts`];
  const since = `${openedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  switch (event) {
    case 'opened':
      return {
        subject: `[${workspaceName}] Alert: ${subject}`,
        body: [what, '', `What to do: ${todo}`, ...more, '', `Since: ${since}`, ...where].join('\n'),
      };
    case 'closed': {
      const minutes = Math.max(1, Math.round(((closedAt ?? openedAt).getTime() - openedAt.getTime()) / 60_000));
      return {
        subject: `[${workspaceName}] Over: ${subject}`,
        body: [`It is over: ${what}`, '', `Since ${since}, for ${minutes} min.`, ...where].join('\n'),
      };
    }
    case 'test':
      return {
        subject: `[${workspaceName}] Test of alerts`,
        body: ['This is a test. Alerts of this workspace come to this address.', ...where].join('\n'),
      };
    default:
      return unknownCase(event);
  }
}

/** The page of docs/runbooks for each kind: that of the Prometheus alert for the same problem. */
export const runbookNames: Record<AlertKind, string> = {
  provider: 'CarillonCredentialRefused',
  queue: 'CarillonNamedSendsLate',
  node: 'CarillonNoSendingNode',
  job: 'CarillonJobFails',
  credential: 'CarillonWorkspaceAlert',
  backup: 'CarillonBackupLate',
  certificate: 'CarillonWorkspaceAlert',
};

/** Returns the URL of the runbook on a node; null if the origin of the nodes is not configured. */
export function runbookOf(kind: AlertKind, origin: string | undefined): string | null {
  return origin === undefined ? null : `${origin}/docs/runbooks/${runbookNames[kind].toLowerCase()}/`;
}
