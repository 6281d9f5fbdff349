import { makeId } from '../../domain/ids.ts';
import { writeAlertBody, writeAlertEmail } from '../../domain/operations/alerts.ts';
import type { Alert, AlertIssue, AlertEvent } from '../../domain/operations/alerts.ts';
import type { AlertKind } from '../../domain/operations/conditions.ts';
import type { Queryable } from '../database.ts';
import { insertCallback, insertEmail } from '../outbox/outbox.ts';
import type { NewEmail } from '../outbox/outbox.ts';

export type AlertSettings = { webhookUrl: string | null; emails: string[]; mutedKinds: AlertKind[] };

const columns = (tx: Queryable) => tx`
  id, workspace_id as "workspaceId", kind, subject, what, todo, opened_at as "openedAt", closed_at as "closedAt"`;

/**
 * Lets one of several concurrent nodes check for alerts; the row is the installation's only one.
 *
 * @returns true for that node
 */
export async function claimAlertRound(tx: Queryable, { at, before }: { at: Date; before: Date }): Promise<boolean> {
  const rows = await tx`
    update installation set alerts_checked_at = ${at}
    where alerts_checked_at is null or alerts_checked_at <= ${before} or alerts_checked_at > ${at}
    returning 1`;
  return rows.length === 1;
}

/**
 * Opens an alert for an issue, or updates the open one. Index: alerts_open.
 *
 * @returns the alert if it is new
 */
export async function openAlert(
  tx: Queryable,
  { id, workspaceId, at, ...issue }: Omit<AlertIssue, 'recheck'> & { id: string; workspaceId: string; at: Date },
): Promise<Alert | undefined> {
  const [row] = await tx<(Alert & { isNew: boolean })[]>`
    insert into alerts (id, workspace_id, kind, subject, what, todo, opened_at, seen_at)
    values (${id}, ${workspaceId}, ${issue.kind}, ${issue.subject}, ${issue.what}, ${issue.todo}, ${at},
      ${at})
    on conflict (workspace_id, kind, subject) where closed_at is null
      do update set seen_at = excluded.seen_at, what = excluded.what, todo = excluded.todo
    returning ${columns(tx)}, id = ${id} as "isNew"`;
  const { isNew, ...alert } = row!;
  return isNew ? alert : undefined;
}

/**
 * Closes alerts whose issue has not been found since `seenBefore`. Index: alerts_open.
 *
 * @returns the closed alerts
 */
export async function closeAlerts(
  tx: Queryable,
  { workspaceId, seenBefore, at }: { workspaceId: string; seenBefore: Date; at: Date },
): Promise<Alert[]> {
  return tx<Alert[]>`
    update alerts set closed_at = ${at}
    where workspace_id = ${workspaceId} and closed_at is null and seen_at < ${seenBefore}
    returning ${columns(tx)}`;
}

/** Lists alerts, newest first. Index: alerts_newest. */
export async function listAlerts(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<Alert[]> {
  return tx<Alert[]>`
    select ${columns(tx)} from alerts where workspace_id = ${workspaceId}
    order by opened_at desc, id desc limit ${limit}`;
}

/** Index: primary key. */
export async function findAlertSettings(tx: Queryable, workspaceId: string): Promise<AlertSettings | undefined> {
  const [row] = await tx<AlertSettings[]>`
    select webhook_url as "webhookUrl", emails, muted_kinds as "mutedKinds"
    from alert_settings where workspace_id = ${workspaceId}`;
  return row;
}

/** Index: primary key. */
export async function storeAlertSettings(
  tx: Queryable,
  { workspaceId, at, ...settings }: AlertSettings & { workspaceId: string; at: Date },
): Promise<void> {
  await tx`
    insert into alert_settings (workspace_id, webhook_url, emails, muted_kinds, updated_at)
    values (${workspaceId}, ${settings.webhookUrl}, ${settings.emails}::text[], ${settings.mutedKinds}::text[], ${at})
    on conflict (workspace_id) do update
      set webhook_url = excluded.webhook_url, emails = excluded.emails, muted_kinds = excluded.muted_kinds,
        updated_at = excluded.updated_at`;
}

/**
 * Deletes alerts that were closed before `before`. Index: alerts_closed.
 *
 * @returns the number of alerts
 */
export async function deleteOldAlerts(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from alerts where id in (select id from alerts where closed_at < ${before} order by closed_at limit ${limit})`;
  return rows.count;
}

export type NotifyDependencies = {
  /** Depends on whether there is an SMTP server; without one, emails are kept to be read in the console. */
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

/**
 * Queues an alert as a callback and an email, which have the usual attempts and resends. Runs in the caller's
 * transaction.
 */
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
