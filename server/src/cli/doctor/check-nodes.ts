import { hostname } from 'node:os';
import { failingJobs, isAlive, sends } from '../../app/console/node-health.ts';
import { findOldestWaiting } from '../../app/console/oldest-waiting.ts';
import { readUpkeep } from '../../app/console/read-upkeep.ts';
import type { Clock } from '../../clock.ts';
import { judgeOverview } from '../../domain/overview/judge-overview.ts';
import type { UpkeepFacts } from '../../domain/overview/judge-upkeep.ts';
import { troubleMeanings } from '../../domain/readiness/troubles.ts';
import { carillonVersion } from '../../start/carillon-version.ts';
import type { Database } from '../../storage/database.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const nodesCheck = diagnosing('nodes');
const queuesCheck = diagnosing('queues');
const readyMilliseconds = 3_000;

/** Who is alive, what each says of itself, and what waits for them. */
export async function checkNodes({ database, clock }: { database: Database; clock: Clock }): Promise<Diagnosis[]> {
  const at = clock.now();
  const [reports, queues] = [await listNodes(database), await readQueues(database, at)];
  const alive = reports.filter((node) => isAlive(node, clock));
  // The console's judgement, of what belongs to the whole installation.
  const { findings } = judgeOverview({
    ...{
      at,
      troubles: [],
      providers: [],
      paused: [],
      failedRuns: [],
      accepted: 0,
      failures: [],
      answers: [],
      limits: [],
    },
    sendingNodes: alive.filter(sends).length,
    failingJobs: failingJobs(alive),
    oldestWaitingAt: findOldestWaiting(queues),
    tooManyConnections: undefined,
    endingKeys: [],
    upkeep: await readUpkeepElsewhere({ database, clock }, reports),
  });
  const ofNodes = findings.filter(({ place }) => place.screen === 'system');
  const judged = ofNodes.map(({ level, what, todo }) =>
    level === 'trouble' ? nodesCheck.wrong(what, todo) : nodesCheck.attention(what, todo),
  );
  const own = (await Promise.all(alive.map(checkNode))).flat();
  return [...judged, ...own, ...checkCallers(alive), checkQueues(queues)];
}

/** What is looked at by checks of their own is left out: backups, and the certificate of this machine's settings. */
async function readUpkeepElsewhere(
  deps: { database: Database; clock: Clock },
  reports: NodeReport[],
): Promise<UpkeepFacts> {
  const elsewhere = reports.filter(({ host }) => host !== hostname());
  return { ...(await readUpkeep(deps, elsewhere)), backup: { madeAt: null, installedAt: null, schedule: null } };
}

function checkCallers(alive: NodeReport[]): Diagnosis[] {
  if (alive.length === 0 || alive.some(({ role }) => role !== 'worker')) return [];
  return [nodesCheck.wrong('No running node takes calls.', 'Start one with the role "all" or "api".')];
}

async function checkNode(node: NodeReport): Promise<Diagnosis[]> {
  const name = `${node.role} on ${node.host}${node.url ? ` at ${node.url}` : ''}`;
  const diagnoses: Diagnosis[] = [];
  if (node.version !== carillonVersion)
    diagnoses.push(
      nodesCheck.attention(`${name} runs ${node.version}, this is ${carillonVersion}.`, 'Run one version everywhere.'),
    );
  // Another machine's address may be one of its own only.
  if (node.url === null || node.host !== hostname()) return [...diagnoses, nodesCheck.good(`${name} reports itself.`)];
  const answer = await askReady(node.url);
  if ('untrusted' in answer)
    return [
      ...diagnoses,
      nodesCheck.attention(
        `${name} shows a certificate that is not trusted here (${answer.untrusted}).`,
        'Set CARILLON_PUBLIC_URL to a name it is for; NODE_EXTRA_CA_CERTS names an authority of your own.',
      ),
    ];
  const { troubles } = answer;
  if (troubles === undefined)
    return [
      ...diagnoses,
      nodesCheck.wrong(`${name} does not answer.`, 'See its log; it may be overloaded or stopping.'),
    ];
  for (const trouble of troubles) {
    const meaning = (troubleMeanings as Record<string, string>)[trouble.split(':', 1)[0]!] ?? '';
    diagnoses.push(nodesCheck.wrong(`${name} is not ready: ${trouble}. ${meaning}`.trim(), 'See its log.'));
  }
  return troubles.length > 0 ? diagnoses : [...diagnoses, nodesCheck.good(`${name} is ready.`)];
}

// Those of OpenSSL's checks that Node passes on, and its own of the name.
const distrust = /CERT|SIGNED|ISSUER/;

/** Troubles are undefined when nothing usable comes back. */
async function askReady(url: string): Promise<{ troubles: string[] | undefined } | { untrusted: string }> {
  try {
    const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(readyMilliseconds) });
    const { troubles } = (await answer.json()) as { troubles?: string[] };
    return { troubles };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    return code !== undefined && distrust.test(code) ? { untrusted: code } : { troubles: undefined };
  }
}

function checkQueues(queues: Awaited<ReturnType<typeof readQueues>>): Diagnosis {
  const failed = queues.filter(({ failed: count }) => count > 0);
  const waiting = queues.filter(({ waiting: count }) => count > 0);
  const tell = (rows: typeof queues, name: 'waiting' | 'failed') =>
    rows.map((row) => `${row.name} ${row[name]}`).join(', ');
  const now = waiting.length === 0 ? 'Nothing waits.' : `Due now: ${tell(waiting, 'waiting')}.`;
  if (failed.length === 0) return queuesCheck.good(now);
  return queuesCheck.attention(
    `${now} Failed in the last day: ${tell(failed, 'failed')}.`,
    'The campaigns, segments and callbacks concerned say why (carillon campaigns list, segments list, callbacks list).',
  );
}
