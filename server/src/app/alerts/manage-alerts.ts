import type { Clock } from '../../clock.ts';
import { readEmail } from '../../domain/accounts/account-fields.ts';
import type { Alert, AlertKind } from '../../domain/alerts/condition.ts';
import { maxAlertEmails } from '../../domain/outbox/limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { notifyOfAlert } from '../../storage/installation/alert-notices.ts';
import type { NotifyDependencies } from '../../storage/installation/alert-notices.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findAlertSettings, listAlerts, storeAlertSettings } from '../../storage/installation/alerts.ts';
import type { AlertSettings } from '../../storage/installation/alerts.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

export type AlertDependencies = NotifyDependencies & { database: Database; clock: Clock };

type Change = { by: SignedIn; workspaceId: string };

const maxListed = 100;

/** The newest alerts of a workspace, open or over. @throws ServiceError NOT_FOUND */
export async function readAlerts({ database }: Pick<AlertDependencies, 'database'>, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  return listAlerts(database, { workspaceId, limit: maxListed });
}

/** @throws ServiceError NOT_FOUND */
export async function readAlertSettings(
  { database }: Pick<AlertDependencies, 'database'>,
  workspaceId: string,
): Promise<AlertSettings> {
  await requireWorkspace(database, workspaceId);
  return (await findAlertSettings(database, workspaceId)) ?? { webhookUrl: null, emails: [], mutedKinds: [] };
}

/** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function changeAlertSettings(
  { database, clock }: AlertDependencies,
  { by, workspaceId, ...asked }: Change & { webhookUrl: string; emails: string[]; mutedKinds: AlertKind[] },
): Promise<AlertSettings> {
  const { name } = await requireWorkspace(database, workspaceId);
  const settings: AlertSettings = {
    webhookUrl: readWebhookUrl(asked.webhookUrl),
    emails: readEmails(asked.emails),
    mutedKinds: asked.mutedKinds,
  };
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    await storeAlertSettings(tx, { ...settings, workspaceId, at });
    const detail = {
      webhook: settings.webhookUrl !== null,
      emails: settings.emails.length,
      muted: settings.mutedKinds,
    };
    await audit(tx, {
      actor: by,
      workspaceId,
      action: 'alerts.change',
      object: { id: workspaceId, name },
      detail,
      at: clock.realNow(),
    });
  });
  return settings;
}

/** Sends to where alerts go, so that somebody sees that it comes there. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
export async function testAlerts(deps: AlertDependencies, { by, workspaceId }: Change): Promise<void> {
  const { database, clock } = deps;
  const { name } = await requireWorkspace(database, workspaceId);
  const settings = await readAlertSettings(deps, workspaceId);
  if (settings.webhookUrl === null && settings.emails.length === 0)
    throw new ServiceError('PARAMETER_INVALID', { field: 'settings', reason: 'name neither an address nor an email' });
  const at = clock.now();
  const alert: Alert = {
    ...{ id: makeId(at), workspaceId, kind: 'provider', subject: 'test', openedAt: at, closedAt: at },
    ...{ what: 'This is a test.', todo: 'Nothing.' },
  };
  await inTransaction(database, async (tx) => {
    await notifyOfAlert(tx, { ...deps, event: 'test', alert, settings, workspaceName: name, at });
    await audit(tx, {
      actor: by,
      workspaceId,
      action: 'alerts.test',
      object: { id: workspaceId, name },
      at: clock.realNow(),
    });
  });
}

function readWebhookUrl(typed: string): string | null {
  const text = typed.trim();
  if (text === '') return null;
  const isAddress = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && text.length <= 2048;
  if (!isAddress)
    throw new ServiceError('PARAMETER_INVALID', { field: 'webhookUrl', reason: 'is no http or https address' });
  return text;
}

function readEmails(typed: string[]): string[] {
  const emails = [
    ...new Set(
      typed
        .map((one) => one.trim())
        .filter((one) => one !== '')
        .map(readEmail),
    ),
  ];
  if (emails.length > maxAlertEmails)
    throw new ServiceError('PARAMETER_INVALID', { field: 'emails', reason: `are more than ${maxAlertEmails}` });
  return emails;
}
