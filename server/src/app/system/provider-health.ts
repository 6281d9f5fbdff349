import { defaultAppId } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import { knownCheckOf } from '../../domain/credentials/checks.ts';
import { adviseOnFailure, describeWaitingCause } from '../../domain/delivery/failures.ts';
import { providersOf } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { isRefusal } from '../../domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../domain/operations/provider-issues.ts';
import type { Database } from '../../storage/database.ts';
import { countRecentDeliveries, groupRecentFailures, groupWaiting } from '../../storage/installation/overview.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import type { CheckVerdict } from '../../storage/keys/provider-credentials.ts';
import { listLedgerDays } from '../../storage/ledger/delivery-log.ts';
import { findAccountLimits } from '../../storage/limits/governor.ts';

export const providersOfPlatforms = [
  { platform: 'ANDROID', provider: 'fcm', name: 'FCM (Android)' },
  { platform: 'IOS', provider: 'apns', name: 'APNs (iOS)' },
  { platform: 'WEB', provider: 'webpush', name: 'Web Push' },
  { platform: 'ANDROID', provider: 'hms', name: 'Huawei Push Kit (Android)' },
] as const satisfies { platform: Platform; provider: ProviderName; name: string }[];

export type ProviderHealth = {
  platform: Platform;
  provider: ProviderName;
  name: string;
  isConnected: boolean;
  /** True if it leads to the simulator of the sandbox. */
  isSimulated: boolean;
  /** The project, the app or the site, as its owner knows it. */
  account: string | null;
  updatedAt: Date | null;
  check: { verdict: CheckVerdict; words: string; at: Date } | null;
  /** Set if the provider asked for a pause, or cannot be reached. */
  silent: { until: Date; reason: string } | null;
  /** Until when a push service limits this site to its lower rate. */
  noisyUntil: Date | null;
};

/** Returns the health of the usual providers, and of others for which the workspace has a credential. */
export async function readProviderHealth(
  database: Database,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<ProviderHealth[]> {
  const all = await listProviderCredentials(database, workspaceId);
  // One credential per provider is reported: the default app's, or that of the first app that has one.
  const stored = providersOfPlatforms.flatMap(({ provider }) => {
    const own = all.filter((credential) => credential.provider === provider);
    return own.find(({ appId }) => appId === defaultAppId) ?? own[0] ?? [];
  });
  const summaries = new Map(stored.map((row) => [row.provider, row.summary]));
  const site = summaries.get('webpush')?.publicKey;
  const limits = await findAccountLimits(database, {
    keys: [
      `fcm:${summaries.get('fcm')?.projectId ?? ''}`,
      `apns:${summaries.get('apns')?.teamId ?? ''}`,
      `hms:${summaries.get('hms')?.projectId ?? summaries.get('hms')?.huaweiAppId ?? ''}`,
    ],
    // A site has one account at each push service its browsers use (providers/send-account.ts).
    prefix: site === undefined ? undefined : `webpush:${site.slice(0, 22)}:`,
    at,
  });
  const shown = providersOfPlatforms.filter(
    ({ platform, provider }) => provider === providersOf[platform][0] || summaries.has(provider),
  );
  return shown.map(({ platform, provider, name }) => {
    const row = stored.find((credential) => credential.provider === provider);
    const own = limits.filter(({ key }) => key.startsWith(`${provider}:`));
    const silent = own.find(({ pausedUntil }) => pausedUntil !== null && pausedUntil > at);
    return {
      platform,
      provider,
      name,
      isConnected: row !== undefined,
      isSimulated: row?.simulated ?? false,
      account: row === undefined ? null : accountOf(row.summary),
      updatedAt: row?.updatedAt ?? null,
      check: row ? knownCheckOf(row) : null,
      silent: silent ? { until: silent.pausedUntil!, reason: silent.pauseReason ?? 'asked to wait' } : null,
      noisyUntil:
        own.find(({ throttledUntil }) => throttledUntil !== null && throttledUntil > at)?.throttledUntil ?? null,
    };
  });
}

function accountOf({ projectId, huaweiAppId, topic, environment, subject }: Record<string, string>): string | null {
  if (topic !== undefined) return `${topic} (${environment})`;
  return projectId ?? huaweiAppId ?? subject ?? null;
}

/**
 * Age of the final failures that are examined. With an hour, a provider that began to reject everything would stay hidden for
 * most of it.
 */
const failureMilliseconds = 5 * 60_000;
/** Messages accepted within this time before the newest refusal prove that not everything is refused. */
const acceptedMilliseconds = 20_000;

/** Per platform and outcome; larger numbers are shown as "10,000+". */
export const maxCounted = 10_000;
// A run keeps the day it began on, in any zone; throttled runs last for days.
const aheadMilliseconds = 26 * 3_600_000;
const ledgerDays = 4;

/** Lists the days of the ledger in which the deliveries of the last hour may be. */
export function listRecentDays(database: Database, at: Date): Promise<string[]> {
  const until = new Date(at.getTime() + aheadMilliseconds).toISOString().slice(0, 10);
  return listLedgerDays(database, { until, limit: ledgerDays });
}

type Asked = { workspaceNumber: number; days: string[]; at: Date };

/** Returns how each provider responded in the last minutes, from the ledger: both lanes, every node. */
export function readProviderAnswers(database: Database, asked: Asked): Promise<ProviderAnswers[]> {
  // The ledger knows only the platform; a platform with devices of several providers is reported under the usual one.
  const usual = providersOfPlatforms.filter(({ platform, provider }) => provider === providersOf[platform][0]);
  return Promise.all(usual.map((provider) => readAnswers(database, { ...asked, ...provider })));
}

type AskedProvider = Asked & Pick<ProviderAnswers, 'platform' | 'name'>;

async function readAnswers(
  database: Database,
  { platform, name, at, workspaceNumber, days }: AskedProvider,
): Promise<ProviderAnswers> {
  const asked = { workspaceNumber, days, most: maxCounted };
  const [waiting, failures] = await Promise.all([
    groupWaiting(database, { ...asked, platform }),
    groupRecentFailures(database, {
      ...asked,
      platforms: [platform],
      since: new Date(at.getTime() - failureMilliseconds),
    }),
  ]);
  // Attempts become rarer: a message may wait for an hour after the last response, and the problem lasts meanwhile.
  const refusals = [
    ...waiting.filter(({ code }) => describeWaitingCause({ platform, code }).isOfProvider),
    ...failures.filter(isRefusal),
  ];
  const newest = Math.max(0, ...refusals.map(({ lastAt }) => lastAt.getTime()));
  const since = new Date(newest - acceptedMilliseconds);
  const counts =
    refusals.length === 0 ? [] : await countRecentDeliveries(database, { ...asked, platforms: [platform], since });
  return {
    platform,
    name,
    accepted: counts.find(({ outcome }) => outcome === 'ACCEPTED')?.devices ?? 0,
    waiting,
    failures: failures.map((failure) => ({ ...failure, advice: adviseOnFailure(failure) })),
  };
}
