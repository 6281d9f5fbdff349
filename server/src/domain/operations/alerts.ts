import type { ProviderName } from '../delivery/providers.ts';
import { unknownCase } from '../unknown-case.ts';
import { conditionTable, findIssues } from './conditions.ts';
import type { AlertKind, ConditionFacts } from './conditions.ts';

/** An issue that opens an alert, in the words of the alert. */
export type AlertIssue = {
  kind: AlertKind;
  /** The provider, job, key or certificate. */
  subject: string;
  what: string;
  /** What the operator should do. */
  todo: string;
  /** The provider to recheck, because it may accept its credential again. */
  recheck?: ProviderName;
};

/** Returns the issues of a workspace that open alerts. Pure. */
export function findAlertIssues(facts: ConditionFacts): AlertIssue[] {
  return findIssues(facts).flatMap(({ kind, what, todo, alert }) =>
    alert === undefined ? [] : [{ kind: kind as AlertKind, what, todo, ...alert }],
  );
}

export type Alert = Omit<AlertIssue, 'recheck'> & {
  id: string;
  workspaceId: string;
  openedAt: Date;
  /** Null: the alert is still open. */
  closedAt: Date | null;
};

export type AlertEvent = 'opened' | 'closed' | 'test';

/** `consoleUrl`: the origin of the console and of the documentation; undefined if it is not configured. */
type AlertToDescribe = { alert: Alert; consoleUrl: string | undefined };

/**
 * Returns the body of the POST request. Field names are as in callbacks: the receiver stores `id` and drops repeats by
 * `webhook-id`. Pure.
 */
export function writeAlertBody(event: AlertEvent, { alert, consoleUrl }: AlertToDescribe): string {
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
  { alert, workspaceName, consoleUrl }: AlertToDescribe & { workspaceName: string },
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
        subject: `[${workspaceName}] Resolved: ${subject}`,
        body: [`Resolved: ${what}`, '', `Open since ${since}, for ${minutes} min.`, ...where].join('\n'),
      };
    }
    case 'test':
      return {
        subject: `[${workspaceName}] Test of alerts`,
        body: ['This is a test. Alerts of this workspace are sent to this address.', ...where].join('\n'),
      };
    default:
      return unknownCase(event);
  }
}

/** Returns the URL of the runbook on a node; null if the origin of the nodes is not configured. */
export function runbookOf(kind: AlertKind, origin: string | undefined): string | null {
  return origin === undefined ? null : `${origin}/docs/runbooks/${conditionTable[kind].alert.runbook.toLowerCase()}/`;
}
