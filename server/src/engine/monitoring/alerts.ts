import type { Clock } from '../../clock.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { makeId } from '../../domain/ids.ts';
import type { Alert, AlertIssue } from '../../domain/operations/alerts.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  claimAlertRound,
  closeAlerts,
  findAlertSettings,
  openAlert,
  notifyOfAlert,
} from '../../storage/installation/alerts.ts';
import type { NotifyDependencies } from '../../storage/installation/alerts.ts';
import { listWorkspaces } from '../../storage/installation/overview.ts';
import type { WorkspaceSummary } from '../../storage/installation/overview.ts';
import type { Job } from '../jobs/job.ts';

/** Returns the issues of a workspace that open alerts, at a point in time. */
export type ReadAlertIssues = (asked: { workspaceId: string; at: Date }) => Promise<AlertIssue[]>;

export type WatchAlertsDependencies = NotifyDependencies & {
  database: Database;
  clock: Clock;
  log: Logger;
  readAlertIssues: ReadAlertIssues;
  /** Asks a provider again about the credential that it refused. */
  recheck: (of: { workspaceId: string; provider: ProviderName }) => Promise<void>;
  /** Called when a notification is to be posted or emailed. */
  onNotified: () => void;
};

const intervalMilliseconds = 5_000;
/** An issue may reappear shortly after it vanishes. An alert closes after its issue has been absent for this long. */
const overMilliseconds = 12_000;

/**
 * The job that opens an alert when a problem starts to block a workspace's messages, and closes it automatically when the
 * problem is gone. Only one node checks at a time. A problem has at most one open alert, regardless of which node checks.
 */
export function makeWatchAlerts(deps: WatchAlertsDependencies): Job {
  const { database, clock, log } = deps;
  const rechecks = makeRecheckPlan();

  function recheckRefusing(workspaceId: string, issues: AlertIssue[]): void {
    for (const { recheck: provider } of issues)
      if (provider !== undefined && rechecks.isDue(`${workspaceId} ${provider}`, clock.realNow()))
        // A recheck may take twenty seconds; other alerts do not wait for it.
        void deps
          .recheck({ workspaceId, provider })
          .catch((error: unknown) => log.warn({ err: error, provider }, 'refused credential not asked about again'));
  }

  return {
    name: 'watch-alerts',
    intervalMilliseconds,
    async runOnce(now) {
      const at = clock.realNow();
      const before = new Date(at.getTime() - intervalMilliseconds * 0.8);
      if (!(await claimAlertRound(database, { at, before }))) return 0;
      const faults: unknown[] = [];
      for (const workspace of await listWorkspaces(database))
        await watchWorkspace(deps, { workspace, now })
          .then((issues) => recheckRefusing(workspace.id, issues))
          .catch((error: unknown) => faults.push(error));
      if (faults.length > 0) throw faults[0];
      return 0;
    },
  };
}

async function watchWorkspace(
  deps: WatchAlertsDependencies,
  { workspace, now }: { workspace: WorkspaceSummary; now: Date },
): Promise<AlertIssue[]> {
  const { database, readAlertIssues, onNotified } = deps;
  const { id: workspaceId, name: workspaceName } = workspace;
  const issues = await readAlertIssues({ workspaceId, at: now });
  const isNotified = await inTransaction(database, async (tx) => {
    const opened: Alert[] = [];
    for (const { recheck: _recheck, ...issue } of issues) {
      const alert = await openAlert(tx, { ...issue, id: makeId(now), workspaceId, at: now });
      if (alert) opened.push(alert);
    }
    const seenBefore = new Date(now.getTime() - overMilliseconds);
    const closed = await closeAlerts(tx, { workspaceId, seenBefore, at: now });
    if (opened.length + closed.length === 0) return false;
    const settings = await findAlertSettings(tx, workspaceId);
    if (!settings) return false;
    const told = [
      ...opened.map((alert) => ({ event: 'opened' as const, alert })),
      ...closed.map((alert) => ({ event: 'closed' as const, alert })),
    ].filter(({ alert }) => !settings.mutedKinds.includes(alert.kind));
    for (const { event, alert } of told)
      await notifyOfAlert(tx, { ...deps, event, alert, settings, workspaceName, at: now });
    return told.length > 0;
  });
  if (isNotified) onNotified();
  return issues;
}

const firstMilliseconds = 15_000;
const maxMilliseconds = 600_000;

/**
 * Plans when to recheck a refusing provider: after 15 seconds, then at growing intervals up to ten minutes. A provider that
 * accepts the recheck and then refuses the messages must not be rechecked in a loop, so the interval is kept if the provider
 * refused within the last ten minutes.
 */
export function makeRecheckPlan() {
  const plans = new Map<string, { nextAt: number; delay: number; seenAt: number }>();
  return {
    /** True if a recheck is due now. Call at each check in which the provider refuses. */
    isDue(key: string, now: Date): boolean {
      const time = now.getTime();
      for (const [other, { seenAt }] of plans) if (time - seenAt > maxMilliseconds) plans.delete(other);
      const plan = plans.get(key) ?? { nextAt: time + firstMilliseconds, delay: firstMilliseconds, seenAt: time };
      plan.seenAt = time;
      plans.set(key, plan);
      if (time < plan.nextAt) return false;
      plan.delay = Math.min(plan.delay * 2, maxMilliseconds);
      plan.nextAt = time + plan.delay;
      return true;
    },
  };
}
