import type { Clock } from '../../clock.ts';
import type { Condition } from '../../domain/alerts/condition.ts';
import { judgeConditions } from '../../domain/alerts/judge-conditions.ts';
import type { Database } from '../../storage/database.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { groupPausedSends } from '../../storage/installation/overview.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import { findWorkspaceNumber } from '../../storage/installation/workspaces.ts';
import { listEndingKeys } from '../../storage/keys/api-keys.ts';
import { listLedgerDays } from '../../storage/ledger/delivery-log.ts';
import { failingJobs, isAlive, sends } from '../console/node-health.ts';
import { findOldestWaiting } from '../console/oldest-waiting.ts';
import { readProviderAnswers } from '../console/read-provider-answers.ts';
import { readProviderHealth } from '../console/read-provider-health.ts';
import { readUpkeep } from '../console/read-upkeep.ts';

// As the overview counts.
const maxCounted = 10_000;
const ledgerDays = 4;
const aheadMilliseconds = 26 * 3_600_000;
// The same for all workspaces of a round.
const sharedMilliseconds = 2_000;

/** Reads what is wrong with a workspace now; what is of the whole installation is read once for all of them. */
export function makeReadConditions({ database, clock }: { database: Database; clock: Clock }) {
  let shared: { until: number; answer: ReturnType<typeof readInstallationFacts> } | undefined;

  function installationFacts(at: Date) {
    const now = clock.realNow().getTime();
    if (!shared || shared.until < now)
      shared = { until: now + sharedMilliseconds, answer: readInstallationFacts({ database, clock }, at) };
    return shared.answer;
  }

  return async ({ workspaceId, at }: { workspaceId: string; at: Date }): Promise<Condition[]> => {
    const workspaceNumber = await findWorkspaceNumber(database, workspaceId);
    if (workspaceNumber === undefined) return [];
    const facts = await installationFacts(at);
    const [providers, paused, answers, endingKeys] = await Promise.all([
      readProviderHealth(database, { workspaceId, at }),
      groupPausedSends(database, workspaceId),
      readProviderAnswers(database, { workspaceNumber, days: facts.days, at, most: maxCounted }),
      listEndingKeys(database, workspaceId),
    ]);
    return judgeConditions({ ...facts, at, providers, paused, answers, endingKeys });
  };
}

async function readInstallationFacts({ database, clock }: { database: Database; clock: Clock }, at: Date) {
  const until = new Date(at.getTime() + aheadMilliseconds).toISOString().slice(0, 10);
  const [nodes, queues, days] = await Promise.all([
    listNodes(database),
    readQueues(database, at),
    listLedgerDays(database, { until, limit: ledgerDays }),
  ]);
  const alive = nodes.filter((node) => isAlive(node, clock));
  return {
    days,
    upkeep: await readUpkeep({ database, clock }, nodes),
    sendingNodes: alive.filter(sends).length,
    failingJobs: failingJobs(alive),
    oldestWaitingAt: findOldestWaiting(queues),
  };
}
