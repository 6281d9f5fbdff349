import type { Platform } from '../content/content.ts';
import { nameProviders } from '../delivery/providers.ts';
import { unknownCase } from '../unknown-case.ts';
import { backupLateShare, backupTrustedDays } from './backup.ts';
import type { Issue, ShownIssue } from './issue.ts';
import { findProviderIssues } from './provider-issues.ts';
import type { ProvidersFacts } from './provider-issues.ts';
import { judgeBackup, judgeCertificates, shortCertificateDays } from './upkeep.ts';
import type { UpkeepFacts } from './upkeep.ts';

/** A node reports itself every five seconds. One that has not for this long is not counted. */
export const aliveSeconds = 30;
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
const dayMilliseconds = 86_400_000;
/** This many days before the end of a key are enough to hand out the next one. */
const endingDays = 7;

const systemPage = { screen: 'system' } as const;

/** The doctor, the log of a start and the overview use the same words. */
export const pageChecksumsOff = {
  what: 'The database has no page checksums, so a page that the disk changed goes unnoticed.',
  todo: 'Run "pg_checksums --enable" while the database is stopped, or restore a backup into a new data folder (docs/operations.md, page checksums).',
};

/** The kinds of alerts; a workspace can mute each. Pages, metrics and the console list them in this order. */
export const alertKinds = ['provider', 'queue', 'node', 'job', 'credential', 'backup', 'certificate'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** How a condition is reported to those who run a workspace. */
export type AlertEntry = {
  /** The kind in the console. */
  label: string;
  /** Completes "opens when" in docs/console.md. */
  opens: string;
  /** The screen of the console that its alerts link to. */
  screen: 'providers' | 'keys' | 'system';
  /** The page of docs/runbooks, which is named as the Prometheus alert for the same problem. */
  runbook: string;
  /** The expression of that Prometheus alert, if it has the same thresholds. */
  rule?: string;
};

/**
 * All conditions, each declared once: the facts that it is measured by, its threshold, level, texts and screen, and its alert.
 * The overview lists issues of one level in this order.
 */
export const conditionTable = {
  readiness: {
    of: 'overview',
    find: ({ troubles }) =>
      troubles.map((trouble) => ({
        level: 'trouble',
        what: `The server is not ready: ${trouble}.`,
        todo: 'Check its log and the system page.',
        place: systemPage,
      })),
  },
  node: {
    of: 'installation',
    alert: {
      label: 'No sending node',
      opens: `no sending node has reported itself for ${aliveSeconds} seconds`,
      screen: 'system',
      runbook: 'CarillonNoSendingNode',
      rule: 'sum(max by (role) (carillon_nodes{role=~"all|worker"})) == 0',
    },
    find({ sendingNodes }) {
      if (sendingNodes > 0) return [];
      const silence = `No sending node has reported itself in the last ${aliveSeconds} seconds`;
      return [
        {
          level: 'trouble',
          what: `${silence}, so nothing is sent.`,
          todo: 'Start a node with the role "all" or "worker".',
          place: systemPage,
          alert: { subject: 'sending nodes', what: `${silence}.` },
        },
      ];
    },
  },
  queue: {
    of: 'installation',
    alert: {
      label: 'Queue delayed',
      opens: `messages have been waiting for a worker for more than ${lateSeconds / 60} minutes`,
      screen: 'system',
      runbook: 'CarillonNamedSendsLate',
    },
    find({ at, sendingNodes, oldestWaitingAt }) {
      const waitsSeconds = oldestWaitingAt === null ? 0 : (at.getTime() - oldestWaitingAt.getTime()) / 1000;
      // Without a sending node all messages wait: one problem is reported.
      if (sendingNodes === 0 || waitsSeconds <= lateSeconds) return [];
      return [
        {
          level: 'attention',
          what: `Messages have been waiting for a worker for ${Math.round(waitsSeconds / 60)} minutes.`,
          todo: 'Check what the nodes are doing. More nodes share the work.',
          place: systemPage,
          alert: {
            subject: 'messages',
            todo: 'Check on the system page what the nodes are doing. More nodes share the work.',
          },
        },
      ];
    },
  },
  job: {
    of: 'installation',
    alert: {
      label: 'Job failing',
      opens: 'a job of the server failed when it last ran',
      screen: 'system',
      runbook: 'CarillonJobFails',
    },
    find: ({ failingJobs }) =>
      failingJobs.map(({ name, fault }) => ({
        level: 'attention',
        what: `The server job ${name} is failing: ${fault}.`,
        todo: 'It is retried automatically. The log of the server says why it fails.',
        place: systemPage,
        alert: { subject: name },
      })),
  },
  provider: {
    of: 'workspace',
    alert: {
      label: 'Provider rejects messages',
      opens: 'a provider rejects a credential, or has accepted none of the messages of the last minutes',
      screen: 'providers',
      runbook: 'CarillonCredentialRefused',
    },
    find: findProviderIssues,
  },
  connection: {
    of: 'workspace',
    find({ providers }) {
      if (providers.some(({ isConnected }) => isConnected)) return [];
      return [
        {
          level: 'attention',
          what: 'No provider is connected, so no message can be sent.',
          todo: `Connect ${nameProviders()}.`,
          place: { screen: 'providers' },
        },
      ];
    },
  },
  run: {
    of: 'overview',
    find: ({ failedRuns }) =>
      failedRuns.map(({ campaignId, campaignName, status, reason }) => ({
        level: 'attention',
        what: `${campaignName} ${status === 'MISSED' ? 'missed an occurrence' : 'failed'}: ${reason}.`,
        todo: 'Its report shows which users it reached. Duplicate it to send again.',
        place: { screen: 'campaign', campaignId },
      })),
  },
  count: {
    of: 'overview',
    find: ({ uncountedRuns }) =>
      uncountedRuns.map(({ campaignId, campaignName }) => ({
        level: 'attention',
        what: `${campaignName} is not sent to everybody: its audience cannot be counted.`,
        todo: 'It is retried every minute. The log of the server says why it fails.',
        place: { screen: 'campaign', campaignId },
      })),
  },
  failures: { of: 'overview', find: findFailures },
  limit: {
    of: 'overview',
    find: ({ limits }) =>
      limits
        .filter(({ used, most }) => used >= most * nearlyUsed)
        .map(({ name, used, most }) => ({
          level: 'attention',
          what: `${name}: ${used.toLocaleString('en')} of ${most.toLocaleString('en')} are used.`,
          todo: 'Requests beyond the limit are rejected until usage falls.',
          place: { screen: name.startsWith('Active segments') ? 'segments' : 'log' },
        })),
  },
  checksums: {
    of: 'overview',
    find: ({ isEmbeddedWithoutChecksums }) =>
      isEmbeddedWithoutChecksums ? [{ level: 'attention', ...pageChecksumsOff, place: systemPage }] : [],
  },
  connections: { of: 'overview', find: ({ tooManyConnections }) => (tooManyConnections ? [tooManyConnections] : []) },
  backup: {
    of: 'installation',
    alert: {
      label: 'Backup late',
      opens: `the newest backup is older than ${backupLateShare} times \`CARILLON_BACKUP_HOURS\`, or there is none after that time, and a node with \`CARILLON_BACKUP_DIR\` ran within ${backupTrustedDays} days`,
      screen: 'system',
      runbook: 'CarillonBackupLate',
      rule: `max(carillon_backup_age_seconds) > ${backupLateShare} * max(max_over_time(carillon_backup_interval_seconds[${backupTrustedDays}d]))`,
    },
    find: ({ upkeep }) => judgeBackup(upkeep),
  },
  certificate: {
    of: 'installation',
    alert: {
      label: 'Certificate expires',
      opens: `the certificate that a node serves (\`CARILLON_TLS_CERT\`) expires within ${shortCertificateDays} days or has expired, by the clock of the machine, like backups`,
      screen: 'system',
      runbook: 'CarillonWorkspaceAlert',
    },
    find: ({ upkeep }) => judgeCertificates(upkeep),
  },
  credential: {
    of: 'workspace',
    alert: {
      label: 'Key expires',
      opens: `an API key that was used within a day expires within ${endingDays} days`,
      screen: 'keys',
      runbook: 'CarillonWorkspaceAlert',
    },
    find: ({ at, endingKeys }) =>
      endingKeys
        .filter((key) => isEndingInUse(key, at))
        .map(({ name, endsAt }) => ({
          level: 'attention',
          what: `The API key ${name} is still used and expires on ${endsAt.toISOString().slice(0, 10)}.`,
          todo: 'Give its callers the key that replaces it.',
          place: { screen: 'keys' },
          alert: { subject: `key ${name}` },
        })),
  },
} as const satisfies Record<AlertKind, Condition & { alert: AlertEntry }> & Record<string, Condition>;

export type ConditionKind = keyof typeof conditionTable;

/** A condition without an alert finds issues that open none. */
type Condition = ({ alert: AlertEntry } & Finder<Issue>) | ({ alert?: never } & Finder<ShownIssue>);

/** `of`: the group of facts that a condition is measured by. A condition is not measured if its group was not read. */
type Finder<Found> =
  | { of: 'installation'; find(facts: At & InstallationFacts): Found[] }
  | { of: 'workspace'; find(facts: At & WorkspaceFacts): Found[] }
  | { of: 'overview'; find(facts: At & OverviewFacts): Found[] };

type At = { at: Date };

/** Facts of the whole installation, read once for all workspaces. */
export type InstallationFacts = {
  /** Nodes that send and reported themselves recently. */
  sendingNodes: number;
  /** The oldest of the runs, chunks and retries that are ready to be sent. */
  oldestWaitingAt: Date | null;
  failingJobs: { name: string; fault: string }[];
  upkeep: UpkeepFacts;
};

/** Facts of one workspace. */
export type WorkspaceFacts = ProvidersFacts & { endingKeys: EndingKey[] };

export type EndingKey = { name: string; endsAt: Date; lastUsedAt: Date | null };

/** Facts that only the overview reads. */
export type OverviewFacts = {
  /** The problems that `/readyz` reports. */
  troubles: string[];
  failedRuns: { campaignId: string; campaignName: string; status: 'FAILED' | 'MISSED'; reason: string }[];
  /** Runs whose audience could not be counted several times in a row. */
  uncountedRuns: { campaignId: string; campaignName: string }[];
  accepted: number;
  failures: { platform: Platform; outcome: string; code: string; devices: number; advice: string }[];
  limits: { name: string; used: number; most: number }[];
  /** Set if the nodes may open more connections than the database has available for them. */
  tooManyConnections: ShownIssue | undefined;
  /** True for an embedded database without page checksums. Of other databases the doctor and the system page report it. */
  isEmbeddedWithoutChecksums: boolean;
};

export type ConditionFacts = At & {
  installation?: InstallationFacts;
  workspace?: WorkspaceFacts;
  overview?: OverviewFacts;
};

/** Returns the issues that the facts show, the worst first. Pure. */
export function findIssues(facts: ConditionFacts): (Issue & { kind: ConditionKind })[] {
  const kinds = Object.keys(conditionTable) as ConditionKind[];
  return kinds
    .flatMap((kind) => findOf(conditionTable[kind], facts).map((issue) => ({ kind, ...issue })))
    .sort((one, other) => Number(one.level === 'attention') - Number(other.level === 'attention'));
}

function findOf(condition: Condition, { at, installation, workspace, overview }: ConditionFacts): Issue[] {
  switch (condition.of) {
    case 'installation':
      return installation ? condition.find({ at, ...installation }) : [];
    case 'workspace':
      return workspace ? condition.find({ at, ...workspace }) : [];
    case 'overview':
      return overview ? condition.find({ at, ...overview }) : [];
    default:
      return unknownCase(condition);
  }
}

export type Verdict = { level: 'well' | 'attention' | 'trouble'; headline: string; findings: ShownIssue[] };

/** Returns whether everything works and, if not, how many issues there are. Pure. */
export function verdictOf(issues: readonly Issue[]): Verdict {
  const findings = issues.map(({ level, what, todo, place }) => ({ level, what, todo, place }));
  const troubles = findings.filter(({ level }) => level === 'trouble').length;
  if (findings.length === 0) return { level: 'well', headline: 'All is well', findings };
  if (troubles === 0)
    return { level: 'attention', headline: count(findings.length, ['needs attention', 'need attention']), findings };
  return { level: 'trouble', headline: count(troubles, ['is blocking delivery', 'are blocking delivery']), findings };
}

/** Returns for example "1 problem needs attention", "2 problems need attention". */
function count(problems: number, [ofOne, ofSeveral]: readonly [string, string]): string {
  return problems === 1 ? `1 problem ${ofOne}` : `${problems} problems ${ofSeveral}`;
}

/** Unregistered devices are not failures: every list has some, and they are dropped. */
function findFailures({ accepted, failures }: OverviewFacts): ShownIssue[] {
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

/** True for a key that ends soon and is still used; a key that is no longer used may end. */
function isEndingInUse({ endsAt, lastUsedAt }: EndingKey, at: Date): boolean {
  const isSoon = endsAt.getTime() - at.getTime() <= endingDays * dayMilliseconds;
  return isSoon && lastUsedAt !== null && at.getTime() - lastUsedAt.getTime() <= dayMilliseconds;
}
