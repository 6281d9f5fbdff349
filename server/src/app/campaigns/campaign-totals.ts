import type { Clock } from '../../clock.ts';
import { beyondPolicies, inSnapshot, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { countCampaigns } from '../../storage/campaigns/campaign-search.ts';
import type { FoundCampaigns } from '../../storage/campaigns/campaign-search.ts';

type Found = FoundCampaigns;

export type CampaignTotals = {
  /** How many campaigns a search finds on all its pages. */
  count(tx: Transaction, found: Found): Promise<number>;
  /** Until no count is under way. */
  settle(): Promise<void>;
};

// Counting reads every campaign found, 0.1 µs and more each: below this many it is always done.
export const smallestKept = 20_000;
// Transactions that began before it have ended (`idle_in_transaction_session_timeout`), so what was created until then
// is all there.
export const settledMilliseconds = 60_000;
export const freshMilliseconds = 60_000;
export const maxMilliseconds = 600_000;
// A few hundred bytes each.
const maxKept = 1_000;

type Kept = { total: number; boundary: Date; countedAt: number; isCounting: 'yes' | 'no' };

/**
 * Totals of large searches (V1 answers one with every page, interface 9 difference 7). A workspace of 400,000 campaigns
 * would be read completely for each page, 50 ms and more. So campaigns created up to some instant are counted once and
 * cached, and newer ones are counted each time. Cached counts are refreshed after a response once they are a minute
 * old, and before it once they are ten minutes old: a change to an older campaign (archived, renamed) shows in totals
 * of 20,000 and more about a minute later. Smaller totals are exact (decision 0021).
 */
export function makeCampaignTotals({ database, clock }: { database: Database; clock: Clock }): CampaignTotals {
  const totals = new Map<string, Kept>();
  const counting = new Set<Promise<void>>();

  async function countUntil(tx: Transaction, found: Found): Promise<{ total: number; boundary: Date }> {
    const boundary = new Date(clock.now().getTime() - settledMilliseconds);
    return { total: await countCampaigns(tx, until(found, boundary)), boundary };
  }

  function keep(key: string, counted: { total: number; boundary: Date }): void {
    totals.delete(key);
    if (counted.total < smallestKept) return;
    if (totals.size >= maxKept) totals.delete(totals.keys().next().value!);
    totals.set(key, { ...counted, countedAt: clock.now().getTime(), isCounting: 'no' });
  }

  /** Behind the answer that was asked for; one at a time for one search. */
  function refresh(key: string, { found, kept }: { found: Found; kept: Kept }): void {
    kept.isCounting = 'yes';
    const work = inSnapshot(database, async (tx) => {
      await planByValues(tx);
      keep(key, await beyondPolicies(tx, () => countUntil(tx, found)));
    })
      // The next response tries again; if the count is too old, the error is reported.
      .catch(() => {
        kept.isCounting = 'no';
      })
      .finally(() => counting.delete(work));
    counting.add(work);
  }

  return {
    async count(tx, found) {
      const key = JSON.stringify([found.workspaceId, found.selection]);
      const kept = totals.get(key);
      const age = kept ? clock.now().getTime() - kept.countedAt : Number.POSITIVE_INFINITY;
      // After the clock was set back, the cached counts are invalid.
      if (!kept || age > maxMilliseconds || age < 0) {
        const counted = await countUntil(tx, found);
        keep(key, counted);
        return counted.total + (await countCampaigns(tx, since(found, counted.boundary)));
      }
      if (age > freshMilliseconds && kept.isCounting === 'no') refresh(key, { found, kept });
      return kept.total + (await countCampaigns(tx, since(found, kept.boundary)));
    },
    async settle() {
      await Promise.all(counting);
    },
  };
}

function until(found: Found, boundary: Date): Found {
  const { createdBefore } = found.selection;
  const earlier = createdBefore && createdBefore < boundary ? createdBefore : boundary;
  return { ...found, selection: { ...found.selection, createdBefore: earlier } };
}

function since(found: Found, boundary: Date): Found {
  const { createdFrom } = found.selection;
  const later = createdFrom && createdFrom > boundary ? createdFrom : boundary;
  return { ...found, selection: { ...found.selection, createdFrom: later } };
}
