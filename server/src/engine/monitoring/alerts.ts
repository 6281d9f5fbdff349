import type { Clock } from '../../clock.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { makeId } from '../../domain/ids.ts';
import type { Alert, Condition } from '../../domain/operations/alerts.ts';
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

/** What is wrong with a workspace at an instant. */
export type ReadConditions = (asked: { workspaceId: string; at: Date }) => Promise<Condition[]>;

export type WatchAlertsDependencies = NotifyDependencies & {
  database: Database;
  clock: Clock;
  log: Logger;
  readConditions: ReadConditions;
  /** Asks a provider again about the credential that it refused. */
  recheck: (of: { workspaceId: string; provider: ProviderName }) => Promise<void>;
  /** Something is to be posted or emailed. */
  onNotified: () => void;
};

const intervalMilliseconds = 5_000;
/** What was true a moment ago may be so again in the next: an alert ends when nothing of it was seen for as long. */
const overMilliseconds = 12_000;

/**
 * The job that opens an alert when something begins to keep a workspace's messages from people, and closes it by itself
 * when nothing does any more. Of all nodes one looks at a time; an open alert of a thing exists once, whoever looks.
 */
export function makeWatchAlerts(deps: WatchAlertsDependencies): Job {
  const { database, clock, log } = deps;
  const rechecks = makeRecheckPlan();

  function recheckRefusing(workspaceId: string, conditions: Condition[]): void {
    for (const { recheck: provider } of conditions)
      if (provider !== undefined && rechecks.isDue(`${workspaceId} ${provider}`, clock.realNow()))
        // It may take twenty seconds; other alerts do not wait for it.
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
          .then((conditions) => recheckRefusing(workspace.id, conditions))
          .catch((error: unknown) => faults.push(error));
      if (faults.length > 0) throw faults[0];
      return 0;
    },
  };
}

async function watchWorkspace(
  deps: WatchAlertsDependencies,
  { workspace, now }: { workspace: WorkspaceSummary; now: Date },
): Promise<Condition[]> {
  const { database, readConditions, onNotified } = deps;
  const { id: workspaceId, name: workspaceName } = workspace;
  const conditions = await readConditions({ workspaceId, at: now });
  const isNotified = await inTransaction(database, async (tx) => {
    const opened: Alert[] = [];
    for (const { recheck: _recheck, ...condition } of conditions) {
      const alert = await openAlert(tx, { ...condition, id: makeId(now), workspaceId, at: now });
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
  return conditions;
}

const firstMilliseconds = 15_000;
const maxMilliseconds = 600_000;

/**
 * When a provider that refuses is asked again: after a quarter of a minute, then ever more seldom, up to ten minutes. One
 * that accepts when it is asked and refuses what is sent then is not asked in a circle: the pace is kept while it was
 * refusing in the last ten minutes.
 */
export function makeRecheckPlan() {
  const plans = new Map<string, { nextAt: number; delay: number; seenAt: number }>();
  return {
    /** Whether it is due now; called at each look at which it refuses. */
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
