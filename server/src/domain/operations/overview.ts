import type { Platform } from '../content/content.ts';
import { describeWaitingCause } from '../delivery/failures.ts';
import { providerOfCode } from '../delivery/providers.ts';
import type { ProviderName } from '../delivery/providers.ts';
import { judgeUpkeep } from './upkeep.ts';
import type { UpkeepFacts } from './upkeep.ts';

export type ProviderFacts = {
  provider: ProviderName;
  /** The display name, such as "FCM (Android)". */
  name: string;
  isConnected: boolean;
  check: { verdict: 'ACCEPTED' | 'REFUSED' | 'UNKNOWN'; words: string; at: Date } | null;
  silent: { until: Date; reason: string } | null;
};

/** If `provider` is null, the code in the reason identifies it. If a user paused the send, no provider refused it. */
type Pause = { platform: Platform | null; provider: ProviderName | null; waits: 'all' | 'some'; reason: string };

export type OverviewFacts = {
  at: Date;
  /** The problems that `/readyz` reports. */
  troubles: string[];
  /** Nodes that send and reported themselves recently. */
  sendingNodes: number;
  providers: ProviderFacts[];
  paused: (Pause & { runs: number; campaignId: string })[];
  failedRuns: { campaignId: string; campaignName: string; status: 'FAILED' | 'MISSED'; reason: string }[];
  /** The oldest of the runs, chunks and retries that are ready to be sent. */
  oldestWaitingAt: Date | null;
  accepted: number;
  failures: { platform: Platform; outcome: string; code: string; devices: number; advice: string }[];
  /** Responses in the last minutes; the failures above cover the last hour. */
  answers: ProviderAnswers[];
  failingJobs: { name: string; fault: string }[];
  limits: { name: string; used: number; most: number }[];
  /** Set if the nodes may open more connections than the database has available for them. */
  tooManyConnections: Finding | undefined;
  endingKeys: EndingKey[];
  upkeep: UpkeepFacts;
};

export type Verdict = { level: 'well' | 'attention' | 'trouble'; headline: string; findings: Finding[] };

/**
 * A worker checks for work every second, and takes over the work of a dead one after 60 s. Work that waits longer has
 * no worker.
 */
const lateSeconds = 120;
/** Fewer failures than this are not significant for a provider. */
const tellingFailures = 20;
/** Google rates senders by the same share (delivery 1). */
const maxFailing = 0.05;
const nearlyUsed = 0.9;
const systemPage = { screen: 'system' } as const;
const keysPage = { screen: 'keys' } as const;

/** Returns whether everything works and, if not, what is wrong and what to do, the worst first. Pure. */
export function judgeOverview(facts: OverviewFacts): Verdict {
  const findings = [
    ...judgeInstallation(facts),
    ...judgePauses(facts),
    ...facts.providers.flatMap((provider) => judgeProvider(provider, facts.at)),
    ...facts.answers.flatMap(judgeAnswers),
    ...judgeConnections(facts),
    ...judgeFailedRuns(facts),
    ...judgeFailures(facts),
    ...judgeLimits(facts),
    ...(facts.tooManyConnections ? [facts.tooManyConnections] : []),
    ...judgeUpkeep(facts.upkeep).map(({ level, what, todo }) => ({ level, what, todo, place: systemPage })),
    ...judgeEndingKeys(facts).map(({ what, todo }) => ({ level: 'attention' as const, what, todo, place: keysPage })),
  ].sort((one, other) => Number(one.level === 'attention') - Number(other.level === 'attention'));
  const troubles = findings.filter(({ level }) => level === 'trouble').length;
  if (findings.length === 0) return { level: 'well', headline: 'All is well', findings };
  if (troubles === 0) return { level: 'attention', headline: things(findings.length, 'needs a look'), findings };
  return { level: 'trouble', headline: things(troubles, 'keeps messages from people'), findings };
}

/** "1 thing needs a look", "2 things need a look". */
function things(count: number, does: string): string {
  return count === 1 ? `1 thing ${does}` : `${count} things ${does.replace(/^(need|keep)s/, '$1')}`;
}

function judgeInstallation({ troubles, sendingNodes, oldestWaitingAt, failingJobs, at }: OverviewFacts): Finding[] {
  const place = systemPage;
  const findings: Finding[] = troubles.map((trouble) => ({
    level: 'trouble',
    what: `The server is not ready: ${trouble}.`,
    todo: 'See its log and the system page.',
    place,
  }));
  const waitsSeconds = oldestWaitingAt === null ? 0 : (at.getTime() - oldestWaitingAt.getTime()) / 1000;
  if (sendingNodes === 0)
    findings.push({
      level: 'trouble',
      what: 'No node that sends has been heard of in the last 30 seconds: nothing is sent.',
      todo: 'Start one with the role "all" or "worker".',
      place,
    });
  else if (waitsSeconds > lateSeconds)
    findings.push({
      level: 'attention',
      what: `Messages wait for a worker since ${Math.round(waitsSeconds / 60)} minutes.`,
      todo: 'See what the nodes do; more of them share the work.',
      place,
    });
  for (const { name, fault } of failingJobs)
    findings.push({
      level: 'attention',
      what: `A job of the server fails: ${name} (${fault}).`,
      todo: 'It is tried again and again; the log of the server says why it fails.',
      place,
    });
  return findings;
}

/**
 * Returns the provider whose refusal pauses a send, or part of one. If it is not given, the code at the start of the
 * reason identifies it.
 */
export function pausedBy({ platform, provider, reason }: Omit<Pause, 'waits'>): ProviderName | null {
  return provider ?? (platform && providerOfCode({ platform, code: reason.split(':', 1)[0]! }));
}

function judgePauses({ paused, providers }: OverviewFacts): Finding[] {
  return paused.flatMap(({ waits, runs, campaignId, ...pause }) => {
    const by = pausedBy(pause);
    // A send that a user paused is not a problem.
    if (by === null) return [];
    const name = providers.find(({ provider }) => provider === by)?.name ?? pause.platform;
    const sends = runs === 1 ? 'a send' : `${runs} sends`;
    return [
      {
        level: 'trouble' as const,
        what:
          waits === 'all'
            ? `${runs === 1 ? 'A send is' : `${sends} are`} paused. ${name} says: ${pause.reason}`
            : `Devices of ${sends} wait, the others are sent to. ${name} says: ${pause.reason}`,
        todo: 'Connect a credential that the provider takes, or mend its account and check the credential: then they are sent to.',
        place: { screen: 'campaign' as const, campaignId },
      },
    ];
  });
}

function judgeProvider({ name, isConnected, check, silent }: ProviderFacts, now: Date): Finding[] {
  if (!isConnected) return [];
  const place = { screen: 'providers' } as const;
  const findings: Finding[] = [];
  if (check?.verdict === 'REFUSED')
    findings.push({
      level: 'trouble',
      what: `${name} refused its credential when it was last checked, ${describeAge(check.at, now)} ago: ${check.words}`,
      todo: 'Replace the credential, or give its account what it lacks, and check again.',
      place,
    });
  if (silent)
    findings.push({
      level: 'attention',
      what: `${name} is left alone for a while: ${silent.reason}.`,
      todo: 'It is tried again by itself; messages wait as long as they may live.',
      place,
    });
  return findings;
}

function describeAge(at: Date, now: Date): string {
  const minutes = Math.max(0, Math.round((now.getTime() - at.getTime()) / 60_000));
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

function judgeConnections({ providers }: OverviewFacts): Finding[] {
  if (providers.some(({ isConnected }) => isConnected)) return [];
  return [
    {
      level: 'attention',
      what: 'No provider is connected: no message can be sent.',
      todo: 'Connect FCM, APNs, Web Push or Huawei Push Kit.',
      place: { screen: 'providers' },
    },
  ];
}

function judgeFailedRuns({ failedRuns }: OverviewFacts): Finding[] {
  return failedRuns.map(({ campaignId, campaignName, status, reason }) => ({
    level: 'attention',
    what: `${campaignName} ${status === 'MISSED' ? 'missed a moment' : 'failed'}: ${reason}.`,
    todo: 'Its report says whom it reached; a clone sends again.',
    place: { screen: 'campaign', campaignId },
  }));
}

/** Unregistered devices are not failures: every list has some, and they are dropped. */
function judgeFailures({ accepted, failures }: OverviewFacts): Finding[] {
  const faults = failures.filter(({ outcome }) => outcome !== 'GONE');
  const failed = faults.reduce((sum, { devices }) => sum + devices, 0);
  if (failed < tellingFailures || failed <= (accepted + failed) * maxFailing) return [];
  const { platform, outcome, code, devices, advice } = faults[0]!;
  const share = Math.round((failed / (accepted + failed)) * 100);
  return [
    {
      level: 'attention',
      what: `${share} % of the messages of the last hour failed, most (${devices.toLocaleString('en')}) with ${code}.`,
      todo: advice,
      place: { screen: 'deliveries', platform, outcome, code },
    },
  ];
}

function judgeLimits({ limits }: OverviewFacts): Finding[] {
  return limits
    .filter(({ used, most }) => used >= most * nearlyUsed)
    .map(({ name, used, most }) => ({
      level: 'attention',
      what: `${name}: ${used.toLocaleString('en')} of ${most.toLocaleString('en')} are used.`,
      todo: 'Requests beyond the limit are refused until there is room.',
      place: { screen: name.startsWith('Active segments') ? 'segments' : 'log' },
    }));
}

/** Outcomes of messages sent through one provider in the last minutes, for campaigns and for pushes to named users. */
export type ProviderAnswers = {
  platform: Platform;
  /** The display name, such as "FCM (Android)". */
  name: string;
  /** Messages accepted since shortly before the newest of the other outcomes. */
  accepted: number;
  /** Messages that wait for a retry. */
  waiting: { code: string; devices: number }[];
  /** Final failures in the last minutes. */
  failures: { outcome: string; code: string; devices: number; advice: string }[];
};

/** If this many messages are rejected and none is accepted, a few bad addresses are not the cause. */
const tellingRefusals = 3;
/** If some messages are accepted, fewer waiting ones than this are not significant. */
const tellingWaits = 20;
const maxWaitingShare = 0.05;

/**
 * Returns what is wrong with a provider's responses: trouble if it accepts no message at all, even if no message has
 * finally failed. Pure.
 */
export function judgeAnswers({ platform, name, accepted, waiting, failures }: ProviderAnswers): Finding[] {
  const unserved = waiting
    .filter(({ code }) => describeWaitingCause({ platform, code }).isOfProvider)
    .sort((one, other) => other.devices - one.devices);
  const waits = unserved.reduce((sum, { devices }) => sum + devices, 0);
  if (waits > 0 && (accepted === 0 || isTelling(waits, accepted))) {
    const { code } = unserved[0]!;
    const { words } = describeWaitingCause({ platform, code });
    const many = `${waits.toLocaleString('en')} ${waits === 1 ? 'message waits' : 'messages wait'} for another attempt`;
    return [
      {
        level: accepted === 0 ? 'trouble' : 'attention',
        what: `${name} takes ${accepted === 0 ? 'no message' : 'only a part of the messages'}: ${many}, ${words}.`,
        todo: 'They are tried again by themselves as long as they may live. See whether the provider reports a fault, and whether this machine reaches it.',
        place: { screen: 'deliveries', platform, outcome: 'WAITING', code },
      },
    ];
  }
  const refused = failures.filter(isRefusal);
  const refusals = refused.reduce((sum, { devices }) => sum + devices, 0);
  if (accepted > 0 || refusals < tellingRefusals) return [];
  const { outcome, code, advice } = refused[0]!;
  return [
    {
      level: 'trouble',
      what: `${name} took none of the last ${refusals.toLocaleString('en')} messages, most of them ended with ${code}.`,
      todo: advice,
      place: { screen: 'deliveries', platform, outcome, code },
    },
  ];
}

/** Unregistered devices are not failures, and withheld messages were not sent. */
export function isRefusal({ outcome }: { outcome: string }): boolean {
  return outcome !== 'GONE' && outcome !== 'WITHHELD';
}

function isTelling(waits: number, accepted: number): boolean {
  return waits >= tellingWaits && waits > (accepted + waits) * maxWaitingShare;
}

/** How many connections the database allows for the role of the nodes, and which limits apply. */
export type ConnectionLimit = {
  maxConnections: number;
  /** The number of these that are reserved for administrators. */
  reserved: number;
  /** Null if none is set. */
  ofRole: number | null;
  ofDatabase: number | null;
};

export type ConnectionBudget = {
  nodes: number;
  /** The maximum that all nodes open together, each with all its pools full. */
  mayOpen: number;
  /** The number available to the nodes. */
  available: number;
  /** The finding to report if there are too few. */
  finding: Finding | undefined;
};

/**
 * Checks that the database has enough connections for everything that the nodes may open, each with all its pools full.
 * Commands, backups and other programs need more. Pure.
 */
export function judgeConnectionBudget({
  nodes,
  limit,
}: {
  nodes: readonly { connections: number }[];
  limit: ConnectionLimit;
}): ConnectionBudget {
  const mayOpen = nodes.reduce((sum, { connections }) => sum + connections, 0);
  const limits = [
    {
      available: limit.maxConnections - limit.reserved,
      why: `max_connections ${limit.maxConnections}, ${limit.reserved} of them reserved`,
      raise: `raise max_connections to at least ${mayOpen + limit.reserved}`,
    },
    ...limitOf('role', limit.ofRole, mayOpen),
    ...limitOf('database', limit.ofDatabase, mayOpen),
  ];
  const { available, why, raise } = limits.reduce((least, one) => (one.available < least.available ? one : least));
  const budget = { nodes: nodes.length, mayOpen, available };
  if (mayOpen <= available) return { ...budget, finding: undefined };
  const who = nodes.length === 1 ? 'The node' : `The ${nodes.length} nodes`;
  return {
    ...budget,
    finding: {
      level: 'attention',
      what: `${who} may open ${mayOpen} connections to the database, which has ${available} for them (${why}).`,
      todo: `Lower CARILLON_DATABASE_CONNECTIONS, ${raise}, or put a pooler in between.`,
      place: { screen: 'system' },
    },
  };
}

function limitOf(what: 'role' | 'database', available: number | null, mayOpen: number) {
  if (available === null) return [];
  return [
    {
      available,
      why: `the connection limit of the ${what}`,
      raise: `raise the connection limit of the ${what} to at least ${mayOpen}`,
    },
  ];
}

export type EndingKey = { name: string; endsAt: Date; lastUsedAt: Date | null };

const dayMilliseconds = 86_400_000;
/** This many days before the end of a key are enough to hand out the next one. */
const endingDays = 7;

/** Returns keys that end soon and are still used; a key that is no longer used may end. Pure. */
export function judgeEndingKeys({ at, endingKeys }: { at: Date; endingKeys: readonly EndingKey[] }) {
  return endingKeys
    .filter(({ endsAt, lastUsedAt }) => {
      const isSoon = endsAt.getTime() - at.getTime() <= endingDays * dayMilliseconds;
      return isSoon && lastUsedAt !== null && at.getTime() - lastUsedAt.getTime() <= dayMilliseconds;
    })
    .map(({ name, endsAt }) => ({
      subject: `key ${name}`,
      what: `The API key ${name} is still used and ends on ${endsAt.toISOString().slice(0, 10)}.`,
      todo: 'Give its callers the key that replaces it.',
    }));
}

/** A finding of the overview about an installation. */
type Finding = {
  /** `trouble`: messages are not being sent. `attention`: messages will not be sent, or something is worse than usual. */
  level: 'trouble' | 'attention';
  what: string;
  /** What the operator should do. */
  todo: string;
  place: FindingPlace;
};

/** The page to link to, where the operator can inspect or fix the problem. */
export type FindingPlace =
  | { screen: 'system' | 'providers' | 'segments' | 'log' | 'keys' }
  | { screen: 'campaign'; campaignId: string }
  | { screen: 'deliveries'; platform: Platform; outcome: string; code: string };
