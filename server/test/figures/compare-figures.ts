import { attributionTypes } from '../../src/domain/campaigns/conversions.ts';
import type { AttributionType } from '../../src/domain/campaigns/conversions.ts';
import type { Database } from '../../src/storage/database.ts';
import { countGoals, countMessages, drawUsers } from './count-by-hand.ts';
import type { Block, BlockNumbers, DrawnGroup, Shares } from './count-by-hand.ts';

export type Comparison = { numbers: number; wrong: string[]; drawn: DrawnGroup[]; messages: BlockNumbers[] };

type Compared = {
  campaignId: string;
  event: string;
  goal: string;
  shares: Shares;
  /** What the statistics say of the campaign, by attribution. */
  statsOf: (attribution: AttributionType) => Promise<any>;
};

/** Every number of the statistics that can be counted by hand, beside what is counted. */
export async function compareFigures(database: Database, { statsOf, shares, ...asked }: Compared): Promise<Comparison> {
  const wrong: string[] = [];
  let numbers = 0;
  const compare = (what: string, shown: unknown, counted: unknown): void => {
    numbers += 1;
    if (shown !== counted) wrong.push(`${what}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(counted)} counted`);
  };
  const messages = await countMessages(database, asked);
  const drawn = await drawUsers(database, { ...asked, ...shares });
  const off = drawn.reduce((sum, group) => sum + group.wrong, 0);
  compare('rows of the ledger that are not as drawn', off, 0);
  for (const attribution of attributionTypes) {
    const { platforms } = await statsOf(attribution);
    const goals = await countGoals(database, { ...asked, attribution });
    for (const block of messages) {
      const name = `${attribution} ${nameOf(block)}`;
      const shown = blockOf(platforms, block);
      const { platform, locale, variation, user_devices, ...counted } = block;
      for (const [member, number] of Object.entries(counted))
        compare(`${name} ${member}`, shown.performance_stats[member], number);
      compare(`${name} user_devices`, shown.delivery_funnel.user_devices, user_devices);
      const eligible = drawn
        .filter((own) => own.platform === platform && own.group === null)
        .filter((own) => variation === null || own.variation === variation)
        .reduce((sum, { users }) => sum + users, 0);
      compare(`${name} eligible_users`, shown.performance_stats.eligible_users, locale === null ? eligible : undefined);
      const reached = goals.find((own) => nameOf(own) === nameOf(block)) ?? { total: 0, unique: 0, revenue: 0 };
      for (const member of ['total', 'unique', 'revenue'] as const)
        compare(`${name} ${member}`, shown.conversion_goal_stats[asked.goal][member], reached[member]);
    }
    for (const { platform, group, users } of drawn.filter((own) => own.group !== null)) {
      const { variations } = platforms[platform.toLowerCase()].locales.all_locales;
      compare(`${platform} ${group}`, variations[group!.toLowerCase()].performance_stats.eligible_users, users);
    }
  }
  return { numbers, wrong, drawn, messages };
}

export function nameOf({ platform, locale, variation }: Block): string {
  return `${platform} ${locale ?? 'all_locales'} ${variation === null ? 'all_variations' : `variation_${variation}`}`;
}

function blockOf(platforms: any, { platform, locale, variation }: Block): any {
  const { variations } = platforms[platform.toLowerCase()].locales[locale ?? 'all_locales'];
  return variations[variation === null ? 'all_variations' : `variation_${variation}`];
}
