import type { Alert } from '../../domain/alerts/condition.ts';
import { writeAlertBody, writeAlertEmail } from '../../domain/alerts/tell-alert.ts';
import type { AlertEvent } from '../../domain/alerts/tell-alert.ts';
import { makeId } from '../../domain/ids.ts';
import type { Queryable } from '../database.ts';
import type { AlertSettings } from './alerts.ts';
import { insertCallback, insertEmail } from '../outbox/outbox.ts';
import type { NewEmail } from '../outbox/outbox.ts';

export type NotifyDependencies = {
  /** Whether there is a mail server; without one emails are kept to be read in the console. */
  emailState: NewEmail['state'];
  consoleUrl: string | undefined;
};

type Notice = {
  event: AlertEvent;
  alert: Alert;
  settings: Pick<AlertSettings, 'webhookUrl' | 'emails'>;
  workspaceName: string;
  at: Date;
};

/** Has an alert posted and emailed, with the attempts and resends of every callback and email; in the caller's transaction. */
export async function notifyOfAlert(
  tx: Queryable,
  { emailState, consoleUrl, ...notice }: NotifyDependencies & Notice,
): Promise<void> {
  const { event, alert, settings, workspaceName, at } = notice;
  const of = { workspaceId: alert.workspaceId, operationId: null, at };
  if (settings.webhookUrl !== null)
    await insertCallback(tx, {
      ...{ ...of, id: makeId(at), url: settings.webhookUrl },
      body: writeAlertBody(event, { alert, consoleUrl }),
    });
  if (settings.emails.length > 0) {
    const email = writeAlertEmail(event, { alert, workspaceName, consoleUrl });
    await insertEmail(tx, { ...of, ...email, id: makeId(at), recipients: settings.emails, state: emailState });
  }
}
