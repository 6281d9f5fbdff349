import type { Platform } from '../content/content.ts';
import { describeWaitingCause } from '../delivery/failures.ts';
import { providerOfCode } from '../delivery/providers.ts';
import type { ProviderName } from '../delivery/providers.ts';
import type { Issue } from './issue.ts';

/** How the providers of a workspace treat its messages. */
export type ProvidersFacts = {
  providers: ProviderFacts[];
  paused: (Pause & { runs: number; campaignId: string })[];
  /** Responses in the last minutes; the failures of the overview cover the last hour. */
  answers: ProviderAnswers[];
};

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

/** Returns what prevents providers from accepting messages: paused sends, refused credentials, and their responses. Pure. */
export function findProviderIssues(facts: ProvidersFacts & { at: Date }): Issue[] {
  return alertOnce([
    ...findPauses(facts),
    ...facts.providers.flatMap((provider) => judgeProvider(provider, facts.at)),
    ...facts.answers.flatMap(judgeAnswers),
  ]);
}

/** A provider that refuses in three ways is one problem: its first issue opens the alert. */
function alertOnce(issues: Issue[]): Issue[] {
  const subjects = new Set<string>();
  return issues.map(({ alert, ...issue }) => {
    if (alert === undefined || subjects.has(alert.subject)) return issue;
    subjects.add(alert.subject);
    return { ...issue, alert };
  });
}

/**
 * Returns the provider whose refusal pauses a send, or part of one. If it is not given, the code at the start of the
 * reason identifies it.
 */
export function pausedBy({ platform, provider, reason }: Omit<Pause, 'waits'>): ProviderName | null {
  return provider ?? (platform && providerOfCode({ platform, code: reason.split(':', 1)[0]! }));
}

function findPauses({ paused, providers }: ProvidersFacts): Issue[] {
  return paused.flatMap(({ waits, runs, campaignId, ...pause }): Issue[] => {
    const by = pausedBy(pause);
    // A send that a user paused is not a problem.
    if (by === null) return [];
    const known = providers.find(({ provider }) => provider === by);
    const name = known?.name ?? pause.platform;
    const sends = runs === 1 ? 'A send is' : `${runs} sends are`;
    const issue: Issue = {
      level: 'trouble',
      what: `${sends} paused${waits === 'all' ? '' : ' for some devices'}. ${name} says: ${pause.reason}`,
      todo: 'Connect a credential that the provider accepts, or fix its account and check the credential. Sending then resumes.',
      place: { screen: 'campaign', campaignId },
    };
    // A provider that is not connected any more opens no alert.
    if (!known) return [issue];
    const what = `${known.name} rejects the credential: ${pause.reason}`;
    const todo =
      'Fix the account at the provider, or connect a credential that it accepts. The credential is checked again automatically, and the waiting messages are then sent.';
    return [{ ...issue, alert: { subject: known.name, what, todo, recheck: by } }];
  });
}

function judgeProvider({ provider, name, isConnected, check, silent }: ProviderFacts, now: Date): Issue[] {
  if (!isConnected) return [];
  const place = { screen: 'providers' } as const;
  const issues: Issue[] = [];
  if (check?.verdict === 'REFUSED') {
    const rejected = `${name} rejected its credential when it was last checked`;
    const todo = 'Replace the credential, or fix its account at the provider';
    issues.push({
      level: 'trouble',
      what: `${rejected}, ${describeAge(check.at, now)} ago: ${check.words}`,
      todo: `${todo}, and check again.`,
      place,
      alert: { subject: name, what: `${rejected}: ${check.words}`, todo: `${todo}.`, recheck: provider },
    });
  }
  if (silent)
    issues.push({
      level: 'attention',
      what: `Sending through ${name} is paused for a while: ${silent.reason}.`,
      todo: 'It is retried automatically. Messages wait until they expire.',
      place,
    });
  return issues;
}

function describeAge(at: Date, now: Date): string {
  const minutes = Math.max(0, Math.round((now.getTime() - at.getTime()) / 60_000));
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
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
export function judgeAnswers({ platform, name, accepted, waiting, failures }: ProviderAnswers): Issue[] {
  const unserved = waiting
    .filter(({ code }) => describeWaitingCause({ platform, code }).isOfProvider)
    .sort((one, other) => other.devices - one.devices);
  const waits = unserved.reduce((sum, { devices }) => sum + devices, 0);
  if (waits > 0 && (accepted === 0 || isTelling(waits, accepted))) {
    const { code } = unserved[0]!;
    const { words } = describeWaitingCause({ platform, code });
    const many = `${waits.toLocaleString('en')} ${waits === 1 ? 'message is' : 'messages are'} waiting for a retry`;
    return [
      {
        ...opening(accepted === 0 ? 'trouble' : 'attention', name),
        what: `${name} is accepting ${accepted === 0 ? 'no messages' : 'only some of the messages'}: ${many}, ${words}.`,
        todo: 'They are retried automatically until they expire. Check whether the provider reports an outage, and whether this machine can reach it.',
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
      ...opening('trouble', name),
      what: `${name} accepted none of the last ${refusals.toLocaleString('en')} messages. Most of them failed with ${code}.`,
      todo: advice,
      place: { screen: 'deliveries', platform, outcome, code },
    },
  ];
}

/** A provider that accepts a part of the messages opens no alert. */
function opening(level: Issue['level'], name: string): Pick<Issue, 'level' | 'alert'> {
  return level === 'trouble' ? { level, alert: { subject: name } } : { level };
}

/** Unregistered devices are not failures, and withheld messages were not sent. */
export function isRefusal({ outcome }: { outcome: string }): boolean {
  return outcome !== 'GONE' && outcome !== 'WITHHELD';
}

function isTelling(waits: number, accepted: number): boolean {
  return waits >= tellingWaits && waits > (accepted + waits) * maxWaitingShare;
}
