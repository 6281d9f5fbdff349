import { adviseOnFailure } from '../../domain/campaigns/failure-advice.ts';
import { providersOf } from '../../domain/delivery/provider-name.ts';
import { tellWaitingCause } from '../../domain/delivery/waiting-cause.ts';
import { isRefusal } from '../../domain/overview/judge-answers.ts';
import type { ProviderAnswers } from '../../domain/overview/judge-answers.ts';
import type { Database } from '../../storage/database.ts';
import { countRecentDeliveries, groupRecentFailures, groupWaiting } from '../../storage/installation/overview.ts';
import { providersOfPlatforms } from './read-provider-health.ts';

/** Final failures that are looked at. An hour would hide for most of it that a provider began to refuse everything. */
const failureMilliseconds = 5 * 60_000;
/** Messages accepted so shortly before the newest refusal say that not everything is refused. */
const acceptedMilliseconds = 20_000;

type Asked = { workspaceNumber: number; days: string[]; at: Date; most: number };

/** How each provider answered in the last minutes, from the ledger: both lanes, every node. */
export function readProviderAnswers(database: Database, asked: Asked): Promise<ProviderAnswers[]> {
  // The ledger knows the platform; those whose devices have several providers are told under the usual one.
  const usual = providersOfPlatforms.filter(({ platform, provider }) => provider === providersOf[platform][0]);
  return Promise.all(usual.map((provider) => readAnswers(database, { ...asked, ...provider })));
}

type AskedProvider = Asked & Pick<ProviderAnswers, 'platform' | 'name'>;

async function readAnswers(
  database: Database,
  { platform, name, at, ...asked }: AskedProvider,
): Promise<ProviderAnswers> {
  const [waiting, failures] = await Promise.all([
    groupWaiting(database, { ...asked, platform }),
    groupRecentFailures(database, {
      ...asked,
      platforms: [platform],
      since: new Date(at.getTime() - failureMilliseconds),
    }),
  ]);
  // Attempts come ever more seldom: a message may wait for an hour after the last answer, and nothing is well meanwhile.
  const refusals = [
    ...waiting.filter(({ code }) => tellWaitingCause({ platform, code }).isOfProvider),
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
