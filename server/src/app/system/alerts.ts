import type { Clock } from '../../clock.ts';
import { readEmail } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxAlertEmails } from '../../domain/limits/delivery.ts';
import { findAlertIssues } from '../../domain/operations/alerts.ts';
import type { Alert, AlertIssue } from '../../domain/operations/alerts.ts';
import type { AlertKind } from '../../domain/operations/conditions.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { notifyOfAlert, findAlertSettings, listAlerts, storeAlertSettings } from '../../storage/installation/alerts.ts';
import type { NotifyDependencies, AlertSettings } from '../../storage/installation/alerts.ts';
import { groupPausedSends } from '../../storage/installation/overview.ts';
import { listEndingKeys } from '../../storage/keys/api-keys.ts';
import { findWorkspaceNumber } from '../../storage/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import { readInstallationFacts } from './nodes.ts';
import { listRecentDays, readProviderAnswers, readProviderHealth } from './provider-health.ts';

export type AlertDependencies = NotifyDependencies & { database: Database; clock: Clock };

type Change = { actor: SignedIn; workspaceId: string };

const maxListed = 100;

/** Lists the newest alerts of a workspace, open or closed. @throws ServiceError NOT_FOUND */
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
  { actor, workspaceId, ...asked }: Change & { webhookUrl: string; emails: string[]; mutedKinds: AlertKind[] },
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
      actor,
      workspaceId,
      action: 'alerts.change',
      object: { id: workspaceId, name },
      detail,
      at: clock.realNow(),
    });
  });
  return settings;
}

/**
 * Sends a test to the receivers of alerts, so that a user sees that it arrives.
 *
 * @throws ServiceError NOT_FOUND, PARAMETER_INVALID
 */
export async function testAlerts(deps: AlertDependencies, { actor, workspaceId }: Change): Promise<void> {
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
      actor,
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
    throw new ServiceError('PARAMETER_INVALID', { field: 'webhookUrl', reason: 'must be an http or https address' });
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

// Shared by all workspaces that a job reads in one run.
const sharedMilliseconds = 2_000;

/** Reads the issues of a workspace that open alerts; facts about the whole installation are read once for all workspaces. */
export function makeReadAlertIssues({ database, clock }: { database: Database; clock: Clock }) {
  let shared: { until: number; answer: ReturnType<typeof readShared> } | undefined;

  function readSharedOnce(at: Date) {
    const now = clock.realNow().getTime();
    if (!shared || shared.until < now)
      shared = { until: now + sharedMilliseconds, answer: readShared({ database, clock }, at) };
    return shared.answer;
  }

  return async ({ workspaceId, at }: { workspaceId: string; at: Date }): Promise<AlertIssue[]> => {
    const workspaceNumber = await findWorkspaceNumber(database, workspaceId);
    if (workspaceNumber === undefined) return [];
    const { installation, days } = await readSharedOnce(at);
    const [providers, paused, answers, endingKeys] = await Promise.all([
      readProviderHealth(database, { workspaceId, at }),
      groupPausedSends(database, workspaceId),
      readProviderAnswers(database, { workspaceNumber, days, at }),
      listEndingKeys(database, workspaceId),
    ]);
    return findAlertIssues({ at, installation, workspace: { providers, paused, answers, endingKeys } });
  };
}

async function readShared({ database, clock }: { database: Database; clock: Clock }, at: Date) {
  const [{ facts: installation }, days] = await Promise.all([
    readInstallationFacts({ database, clock }, at),
    listRecentDays(database, at),
  ]);
  return { installation, days };
}
