import { trackEvents, makeEnsureToday } from '../../src/app/users/events.ts';
import { readCampaignStats } from '../../src/app/stats.ts';
import { makeAttributeConversions } from '../../src/engine/conversions.ts';
import { presentStats } from '../../src/http/stats/stats.ts';
import type { StatsAsked } from '../../src/http/stats/parse-stats.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';

export type ExperimentBundle = Awaited<ReturnType<typeof makeExperimentBundle>>;

const asked: StatsAsked = {
  requestId: 'r1',
  campaignIds: undefined,
  startDate: '2026-02-20',
  endDate: '2026-03-20',
  attribution: 'TOTAL_CONVERSIONS',
  metric: 'TOTAL',
  offset: 0,
  limit: 10,
};

/** Campaigns as callers make them, over the engine that sends them, with what users do afterwards and the figures of it. */
export async function makeExperimentBundle() {
  const bundle = await makeAuthoringBundle();
  const { database, clock, workspaceId } = bundle;
  const ensureToday = makeEnsureToday({ database, clock });
  const job = makeAttributeConversions({ database, settleSeconds: 0 });
  return {
    ...bundle,
    /** Users with an Android phone each. */
    async addPhones(count: number, prefix = 'user'): Promise<void> {
      await bundle.addDevices(count, prefix);
      await database`update devices set platform = 'ANDROID'`;
    },
    /** Each of the users does something once, now. */
    async track(
      customerIds: readonly string[],
      name: string,
      attributesOf: (customerId: string) => Record<string, unknown> = () => ({}),
    ): Promise<void> {
      const at = clock.now();
      await ensureToday();
      for (const customerId of customerIds)
        await inTransaction(database, (tx) =>
          trackEvents(tx, {
            ...{ workspaceId, customerId, deviceId: null, at },
            actions: [
              {
                name,
                attributes: attributesOf(customerId),
                time: undefined,
                platform: null,
                appVersion: null,
                utcOffsetSeconds: null,
              },
            ],
          }),
        );
    },
    async attribute(): Promise<void> {
      clock.advance(1_000);
      while ((await job.runOnce(clock.now())) > 0);
    },
    /** The figures of Android, in the boxes of fact 7 below `all_locales`. */
    async variations(campaignId: string, more: Partial<StatsAsked> = {}): Promise<any> {
      return (await this.locales(campaignId, more)).all_locales.variations;
    },
    /** The same of every locale. */
    async locales(campaignId: string, more: Partial<StatsAsked> = {}): Promise<any> {
      const request = { ...asked, ...more, campaignIds: [campaignId] };
      const stats = await readCampaignStats({ database, clock }, { ...request, workspaceId });
      const [shown] = presentStats(stats, request).data[campaignId] as any;
      return shown.platforms.ANDROID.locales;
    },
    async explain(campaignId: string, customerId: string): Promise<any> {
      return (await bundle.call('GET', `/v5/campaigns/${campaignId}/explain?customer_id=${customerId}`)).json().data;
    },
  };
}
