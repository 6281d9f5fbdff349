import { defaultAppId } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import { knownCheckOf } from '../../domain/credentials/checks.ts';
import { adviseOnFailure, describeWaitingCause } from '../../domain/delivery/failures.ts';
import { accountKeyOf, providerNames, providers } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { isRefusal } from '../../domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../domain/operations/provider-issues.ts';
import type { Database } from '../../storage/database.ts';
import { countRecentDeliveries, groupRecentFailures, groupWaiting } from '../../storage/installation/overview.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import type { CheckVerdict } from '../../storage/keys/provider-credentials.ts';
import { listLedgerDays } from '../../storage/ledger/delivery-log.ts';
import { findAccountLimits } from '../../storage/limits/governor.ts';

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
  const stored = new Map(
    providerNames.flatMap((provider) => {
      const own = all.filter((credential) => credential.provider === provider);
      const row = own.find(({ appId }) => appId === defaultAppId) ?? own[0];
      return row ? [[provider, row]] : [];
    }),
  );
  const accounts = [...stored].map(([provider, { summary }]) => ({
    key: accountKeyOf(provider, summary),
    // A site has one account at each push service its browsers use.
    isPrefix: providers[provider].address === 'subscription',
  }));
  const limits = await findAccountLimits(database, {
    keys: accounts.flatMap(({ key, isPrefix }) => (isPrefix ? [] : [key])),
    prefix: accounts.find(({ isPrefix }) => isPrefix)?.key,
    at,
  });
  const shown = providerNames.filter((provider) => providers[provider].usualOn.length > 0 || stored.has(provider));
  return shown.map((provider) => {
    const { platforms, names, accountName } = providers[provider];
    const row = stored.get(provider);
    const own = limits.filter(({ key }) => key.startsWith(`${provider}:`));
    const silent = own.find(({ pausedUntil }) => pausedUntil !== null && pausedUntil > at);
    return {
      platform: platforms[0],
      provider,
      name: names.inLists,
      isConnected: row !== undefined,
      isSimulated: row?.simulated ?? false,
      account: (row && accountName(row.summary)) ?? null,
      updatedAt: row?.updatedAt ?? null,
      check: row ? knownCheckOf(row) : null,
      silent: silent ? { until: silent.pausedUntil!, reason: silent.pauseReason ?? 'asked to wait' } : null,
      noisyUntil:
        own.find(({ throttledUntil }) => throttledUntil !== null && throttledUntil > at)?.throttledUntil ?? null,
    };
  });
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
  const usual = providerNames.filter((provider) => providers[provider].usualOn.length > 0);
  return Promise.all(
    usual.map((provider) => {
      const { platforms, names } = providers[provider];
      return readAnswers(database, { ...asked, platform: platforms[0], name: names.inLists });
    }),
  );
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
