import { makeInteractionReports } from '../../src/app/interactions.ts';
import { exportRows } from '../../src/app/export.ts';
import type { InteractionKind } from '../../src/domain/events/interactions.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { android } from '../campaigns/authoring-bundle.ts';
import { makeExperimentBundle } from './experiment-bundle.ts';

export type VariationBundle = Awaited<ReturnType<typeof makeVariationBundle>>;

/** Content by locale and variation whose titles say which one it is: `de 2`. */
export function contentIn(locales: readonly string[], variations: number) {
  const ofLocale = (locale: string) =>
    Object.fromEntries(
      Array.from({ length: variations }, (_, index) => [
        `variation_${index + 1}`,
        { push: { android: { ...android, basic_details: { title: `${locale} ${index + 1}`, message: 'M' } } } },
      ]),
    );
  return Object.fromEntries(locales.map((locale) => [locale, ofLocale(locale)]));
}

export function shares(...percents: number[]) {
  return {
    no_of_variations: percents.length,
    distribution_type: 'MANUAL',
    manual_distribution_percentage: Object.fromEntries(
      percents.map((percent, index) => [`variation_${index + 1}`, percent]),
    ),
  };
}

/** The engine and the routes, with devices that report what came of their messages. */
export async function makeVariationBundle() {
  const bundle = await makeExperimentBundle();
  const { database, clock, workspaceId } = bundle;
  const reports = makeInteractionReports({
    ...{ database, clock },
    tokens: makeInteractionTokens(Buffer.alloc(32, 1)),
    limits: { token: { events: 1_000, seconds: 60 }, address: { events: 1_000_000, seconds: 60 } },
  });
  let reported = 0;
  return {
    ...bundle,
    /** What each phone got, by customer, as far as the provider took it. */
    titles(): Map<string, string> {
      return new Map(
        bundle.sent.map(({ pushId }, place) => [
          pushId.replace('push-', ''),
          (bundle.messages[place]!.content as { title: string }).title,
        ]),
      );
    },
    /** The phones of these customers report of the messages they were sent last. */
    async report(customers: readonly string[], kind: InteractionKind): Promise<void> {
      const tokenOf = new Map(
        bundle.sent.map(({ pushId }, place) => [pushId.replace('push-', ''), bundle.messages[place]!.report!.token]),
      );
      await Promise.all(
        customers.map((customer) =>
          reports.report({
            ...{ token: tokenOf.get(customer)!, kind, address: '203.0.113.1' },
            reportId: `report ${(reported += 1)}`,
          }),
        ),
      );
    },
    async exported(campaignId: string): Promise<Record<string, unknown>[]> {
      let text = '';
      await exportRows(database, {
        ...{ workspaceId, subject: { kind: 'ledger', campaignId }, format: 'ndjson', at: clock.now() },
        write: async (piece) => {
          text += piece;
        },
      });
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    },
  };
}
