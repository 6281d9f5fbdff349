import { judgeAnswers } from '../overview/judge-answers.ts';
import { pausedBy } from '../overview/judge-overview.ts';
import { judgeEndingKeys } from '../overview/judge-ending-keys.ts';
import type { OverviewFacts } from '../overview/judge-overview.ts';
import { judgeUpkeep } from '../overview/judge-upkeep.ts';
import type { Condition } from './condition.ts';

export type ConditionFacts = Pick<
  OverviewFacts,
  | 'at'
  | 'providers'
  | 'paused'
  | 'answers'
  | 'sendingNodes'
  | 'oldestWaitingAt'
  | 'failingJobs'
  | 'endingKeys'
  | 'upkeep'
>;

/** A worker looks every second, and takes over what a dead one held after 60 s; later than this nobody comes. */
const lateSeconds = 120;

/** What is wrong with a workspace now, each thing once: a provider that refuses in three ways is one that refuses. Pure. */
export function judgeConditions(facts: ConditionFacts): Condition[] {
  return [
    ...judgeProviders(facts),
    ...judgeWork(facts),
    ...judgeEndingKeys(facts).map((ending) => ({ kind: 'credential' as const, ...ending })),
    ...judgeUpkeep(facts.upkeep).map(({ level: _level, ...finding }) => finding),
  ];
}

function judgeProviders({ providers, paused, answers }: ConditionFacts): Condition[] {
  return providers.flatMap(({ provider, name, isConnected, check }): Condition[] => {
    const kind = 'provider';
    const pause = paused.find((one) => pausedBy(one) === provider);
    if (pause)
      return [
        {
          ...{ kind, subject: name, what: `${name} refuses the credential: ${pause.reason}`, recheck: provider },
          todo: 'Mend the account at the provider, or connect a credential that it takes: it is asked again by itself, and what waits is sent then.',
        },
      ];
    if (isConnected && check?.verdict === 'REFUSED')
      return [
        {
          ...{ kind, subject: name, what: `${name} refused its credential when it was last checked: ${check.words}` },
          ...{ recheck: provider, todo: 'Replace the credential, or give its account what it lacks.' },
        },
      ];
    const [finding] = answers
      .filter((answer) => answer.name === name)
      .flatMap(judgeAnswers)
      .filter(({ level }) => level === 'trouble');
    return finding ? [{ kind, subject: name, what: finding.what, todo: finding.todo }] : [];
  });
}

function judgeWork({ at, sendingNodes, oldestWaitingAt, failingJobs }: ConditionFacts): Condition[] {
  const conditions: Condition[] = failingJobs.map(({ name, fault }) => ({
    kind: 'job',
    subject: name,
    what: `The job ${name} of the server fails: ${fault}.`,
    todo: 'It is tried again and again; the log of the server says why it fails.',
  }));
  const waitsSeconds = oldestWaitingAt === null ? 0 : (at.getTime() - oldestWaitingAt.getTime()) / 1000;
  if (sendingNodes === 0)
    conditions.push({
      ...{
        kind: 'node',
        subject: 'sending nodes',
        what: 'No node that sends has been heard of in the last 30 seconds.',
      },
      todo: 'Start one with the role "all" or "worker".',
    });
  else if (waitsSeconds > lateSeconds)
    conditions.push({
      ...{ kind: 'queue', subject: 'messages' },
      what: `Messages wait for a worker since ${Math.round(waitsSeconds / 60)} minutes.`,
      todo: 'See on the system page what the nodes do; more of them share the work.',
    });
  return conditions;
}
