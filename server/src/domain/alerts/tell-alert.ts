import type { Alert } from './condition.ts';
import { runbookOf } from './runbook-of.ts';
import { unknownCase } from '../unknown-case.ts';

export type AlertEvent = 'opened' | 'closed' | 'test';

/** `consoleUrl`: the origin of the console and of the documentation; undefined where nobody said it. */
type Told = { alert: Alert; consoleUrl: string | undefined };

/** The body that is posted. Names as in callbacks: the receiver keeps `id` and drops repeats by `webhook-id`. Pure. */
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

/** The same for people. Pure. */
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
