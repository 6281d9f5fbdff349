import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CampaignContent } from '../../src/domain/content/content.ts';
import {
  drawPoint,
  makeControlGroupOf,
  pointCount,
  pointsOfPercent,
} from '../../src/domain/experiments/control-groups.ts';
import { regroupUsers } from '../../src/domain/experiments/group-users.ts';
import {
  addWinnerStep,
  compareVariations,
  drawBeta,
  leaderOf,
  learnedShares,
  makeUniform,
  rateInterval,
  sharesOfWinner,
  upliftOf,
  winnerInBucket,
} from '../../src/domain/experiments/learning.ts';
import {
  chooseLocale,
  contentOfVariant,
  countedVariant,
  learningOf,
  localeName,
  makeVariationOf,
  namedContents,
  namedVariant,
  pickVariant,
  variationBounds,
} from '../../src/domain/experiments/variants.ts';
import type { Variants } from '../../src/domain/experiments/variants.ts';

const arm = (successes: number, trials: number) => ({ successes, trials });

describe('compared variations', () => {
  test('have a rate with its interval, and are best with the probability that learning would use', () => {
    const arms = [arm(10, 100), arm(0, 20)];
    const shares = learnedShares({ arms, floorPercent: 0, seed: 'a' });
    const compared = compareVariations(arms, 'a');
    expect(compared).toMatchObject([
      { variation: 1, ...arms[0], rate: 0.1, bestPercent: shares[0]! / 100 },
      { variation: 2, ...arms[1], rate: 0, bestPercent: shares[1]! / 100 },
    ]);
    expect(compared.map(({ interval }) => interval!.high.toFixed(4))).toEqual(['0.1744', '0.1611']);
    expect(compared.reduce((sum, { bestPercent }) => sum + bestPercent, 0)).toBeCloseTo(100, 9);
  });

  test('have at least as many trials as successes, even if fewer are known', () => {
    expect(compareVariations([arm(3, 1), arm(0, 0)], 'a')).toMatchObject([
      { successes: 3, trials: 3, rate: 1 },
      { successes: 0, trials: 0, rate: undefined, interval: undefined },
    ]);
  });

  test('are ordered by the probability to be best; equals keep their order', () => {
    expect(leaderOf(compareVariations([arm(1, 1_000), arm(300, 1_000), arm(2, 1_000)], 'a')).variation).toBe(2);
    const [one, other] = compareVariations([arm(5, 10), arm(5, 10)], 'a');
    expect(
      leaderOf([
        { ...one!, bestPercent: 50 },
        { ...other!, bestPercent: 50 },
      ]).variation,
    ).toBe(1);
    expect(
      leaderOf([
        { ...one!, bestPercent: 49 },
        { ...other!, bestPercent: 51 },
      ]).variation,
    ).toBe(2);
  });
});

describe('a draw', () => {
  const users = Array.from({ length: 20_000 }, (_, number) => number.toString(16).padStart(24, '0'));

  test('gives every tenth of the points to a tenth of the users, within 1 % of them', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const userId of users)
      tenths[Math.floor((drawPoint('global-control', { of: 'w', userId }) * 10) / pointCount)]! += 1;
    for (const count of tenths) expect(Math.abs(count / users.length - 0.1)).toBeLessThan(0.01);
  });

  test('is independent between campaigns, and of the workspace’s draw', () => {
    const shares = { workspaceId: 'w', canonicalCampaignId: 'a', globalPercent: 50, campaignPercent: 50 };
    const [one, other] = [makeControlGroupOf(shares)!, makeControlGroupOf({ ...shares, canonicalCampaignId: 'b' })!];
    const count = (isCounted: (userId: string) => boolean) => users.filter(isCounted).length / users.length;
    const isOwn = (of: typeof one) => (userId: string) => of(userId) === 'CAMPAIGN_CONTROL_GROUP';
    expect(count(isOwn(one))).toBeCloseTo(0.25, 2);
    expect(count((userId) => isOwn(one)(userId) && isOwn(other)(userId))).toBeCloseTo(0.125, 2);
    // Those of the workspace are the same for both.
    const isGlobal = (of: typeof one) => (userId: string) => of(userId) === 'GLOBAL_CONTROL_GROUP';
    expect(users.filter(isGlobal(one))).toEqual(users.filter(isGlobal(other)));
  });

  test('includes a smaller share in a larger one', () => {
    const shares = { workspaceId: 'w', canonicalCampaignId: 'a', globalPercent: null };
    const few = makeControlGroupOf({ ...shares, campaignPercent: 5 })!;
    const many = makeControlGroupOf({ ...shares, campaignPercent: 6 })!;
    expect(users.filter((userId) => few(userId) && !many(userId))).toEqual([]);
    expect(makeControlGroupOf({ ...shares, campaignPercent: 0 })).toBeUndefined();
    expect(users.every(makeControlGroupOf({ ...shares, campaignPercent: 100 })!)).toBe(true);
  });

  test('is the first four bytes of the SHA-256 of purpose, owner and user', () => {
    const point = (text: string) => createHash('sha256').update(text).digest().readUInt32BE(0);
    expect(drawPoint('variation', { of: 'c', userId: 'ada' })).toBe(point('variation c ada'));
    expect(drawPoint('global-control', { of: 'w', userId: 'ada' })).toBe(point('global-control w ada'));
  });

  test('assigns a share up to the first point of the next one', () => {
    expect([0, 25, 50, 100].map(pointsOfPercent)).toEqual([0, 2 ** 30, 2 ** 31, 2 ** 32]);
    // Whole points.
    expect(pointsOfPercent(1)).toBe(42_949_672);
  });
});

describe('the control group of a user', () => {
  const shares = { workspaceId: 'w', canonicalCampaignId: 'c', globalPercent: null, campaignPercent: null };
  const users = Array.from({ length: 400 }, (_, number) => `user ${number}`);

  test('is the workspace’s before the campaign’s own', () => {
    const of = makeControlGroupOf({ ...shares, globalPercent: 20, campaignPercent: 30 })!;
    const isDrawn = (draw: 'global-control' | 'campaign-control', percent: number) => (userId: string) =>
      drawPoint(draw, { of: draw === 'global-control' ? 'w' : 'c', userId }) < pointsOfPercent(percent);
    const [isGlobal, isOwn] = [isDrawn('global-control', 20), isDrawn('campaign-control', 30)];
    for (const userId of users)
      expect(of(userId)).toBe(
        isGlobal(userId) ? 'GLOBAL_CONTROL_GROUP' : isOwn(userId) ? 'CAMPAIGN_CONTROL_GROUP' : undefined,
      );
    expect(users.some((userId) => isGlobal(userId) && isOwn(userId))).toBe(true);
  });

  test('is the only kind if there is one', () => {
    const found = (more: Partial<typeof shares> | object) => [
      ...new Set(users.map(makeControlGroupOf({ ...shares, ...more })!)),
    ];
    expect(found({ globalPercent: 100, campaignPercent: 0 })).toEqual(['GLOBAL_CONTROL_GROUP']);
    expect(found({ campaignPercent: 100 })).toEqual(['CAMPAIGN_CONTROL_GROUP']);
    expect(found({ globalPercent: 100 })).toEqual(['GLOBAL_CONTROL_GROUP']);
  });

  test('is none without a share', () => {
    expect(makeControlGroupOf(shares)).toBeUndefined();
    expect(makeControlGroupOf({ ...shares, globalPercent: 0, campaignPercent: 0 })).toBeUndefined();
  });
});

describe('intervals', () => {
  test('are Wilson’s for a rate: 10 of 100, none of 20, all of 20', () => {
    const rounded = (successes: number, trials: number) => {
      const { low, high } = rateInterval({ successes, trials })!;
      return [low.toFixed(4), high.toFixed(4)];
    };
    expect(rounded(10, 100)).toEqual(['0.0552', '0.1744']);
    expect(rounded(0, 20)).toEqual(['0.0000', '0.1611']);
    expect(rounded(20, 20)).toEqual(['0.8389', '1.0000']);
    expect(rateInterval({ successes: 0, trials: 0 })).toBeUndefined();
  });

  test('are those of the ratio of two rates for an uplift, computed by hand', () => {
    // 30 of 200 against 20 of 200: ratio 1.5, standard error of its logarithm √(1/30 − 1/200 + 1/20 − 1/200) = 0.27080.
    const { value, interval } = upliftOf({
      treated: { successes: 30, trials: 200 },
      control: { successes: 20, trials: 200 },
    })!;
    expect(value).toBeCloseTo(0.5, 10);
    expect(interval!.low).toBeCloseTo(1.5 * Math.exp(-1.959964 * 0.270801) - 1, 4);
    expect(interval!.high).toBeCloseTo(1.5 * Math.exp(1.959964 * 0.270801) - 1, 4);
    expect(upliftOf({ treated: { successes: 3, trials: 9 }, control: { successes: 0, trials: 9 } })).toBeUndefined();
    expect(upliftOf({ treated: { successes: 0, trials: 9 }, control: { successes: 3, trials: 9 } })).toEqual({
      value: -1,
      interval: undefined,
    });
  });

  test('exist for an uplift from one trial and one success of the control group on', () => {
    const of = (successes: number, trials: number) => ({ successes, trials });
    expect(upliftOf({ treated: of(0, 0), control: of(3, 9) })).toBeUndefined();
    expect(upliftOf({ treated: of(3, 9), control: of(0, 0) })).toBeUndefined();
    // Conversions of messages that are not counted yet.
    expect(upliftOf({ treated: of(3, 9), control: of(3, 0) })).toBeUndefined();
    // Of everybody in both there is no error to reckon with.
    expect(upliftOf({ treated: of(1, 1), control: of(1, 1) })).toEqual({ value: 0, interval: { low: 0, high: 0 } });
  });
});

describe('random numbers of the beta distribution', () => {
  test('generates the numbers of sfc32 from a seed, in the middle of their 2^-32', () => {
    const seed = Buffer.from('fedcba9876543210e1d2c3b4a5968778', 'hex');
    const uniform = makeUniform(seed);
    const wanted = sfc32(seed);
    for (let count = 0; count < 200; count += 1) {
      const drawn = Number(wanted.next().value as bigint);
      expect(uniform()).toBe((2 * drawn + 1) / 2 ** 33);
    }
  });

  test('draws from the beta distribution, not its mirror image', () => {
    const uniform = makeUniform(Buffer.alloc(16, 7));
    const drawn = Array.from({ length: 500 }, () => drawBeta(uniform, { alpha: 1, beta: 9 }));
    // Half are below 1 - 2^(-1/9).
    const below = drawn.filter((value) => value < 1 - 2 ** (-1 / 9)).length;
    expect(Math.abs(below - 250)).toBeLessThan(40);
    expect(drawn.every((value) => value > 0 && value < 1)).toBe(true);
  });

  test('learns shares from successes and failures', () => {
    const shares = (...arms: [successes: number, trials: number][]) =>
      learnedShares({
        arms: arms.map(([successes, trials]) => ({ successes, trials })),
        floorPercent: 0,
        seed: 'a',
      });
    // Of two that never failed the one that was tried more often is the better.
    expect(shares([2, 2], [40, 40])[1]).toBeGreaterThan(8_500);
    // And of two without a success the one that was tried less.
    expect(shares([0, 2], [0, 40])[0]).toBeGreaterThan(8_500);
  });
});

const content = (title: string): CampaignContent => ({
  ANDROID: { title, message: 'M', richContent: [], additionalActions: [] },
});
const [one, two] = [
  [content('1'), content('1 de'), content('1 pt-BR')],
  [content('2'), content('2 de'), content('2 pt-BR')],
];
const locales = ['default', 'de', 'pt-BR'];
const both: Variants = { locales, percents: [60, 40], contents: [one, two] };
const inOneLanguage: Variants = { locales: [], percents: [60, 40], contents: [[one[0]!], [two[0]!]] };

describe('the variation of a user', () => {
  test('is the one whose share contains the user’s point', () => {
    expect(variationBounds([25, 50, 25])).toEqual([2 ** 30, 3 * 2 ** 30, 2 ** 32]);
    expect(variationBounds([1, 2])).toEqual([1_431_655_765, 2 ** 32]);
    const variationOf = makeVariationOf([25, 50, 25], 'c');
    for (let number = 0; number < 200; number += 1) {
      const quarter = drawPoint('variation', { of: 'c', userId: `${number}` }) / 2 ** 30;
      expect(variationOf(`${number}`)).toBe(quarter < 1 ? 1 : quarter < 3 ? 2 : 3);
    }
  });

  test('is drawn separately in each campaign', () => {
    const users = Array.from({ length: 64 }, (_, number) => `${number}`);
    expect(users.map(makeVariationOf([50, 50], 'a'))).not.toEqual(users.map(makeVariationOf([50, 50], 'b')));
    expect(new Set(users.map(makeVariationOf([0, 100, 0], 'a')))).toEqual(new Set([2]));
  });
});

describe('the locale of a user', () => {
  const choose = (ofDevice: string | null, ofUser: unknown = null) => chooseLocale(locales, { ofDevice, ofUser });

  test('is the closest to the known language, else the default', () => {
    expect([choose('de'), choose('de-AT'), choose('pt-BR'), choose('fr'), choose(null)]).toEqual([2, 2, 3, 1, 1]);
    expect([choose(null, 'pt_BR'), choose('de', 'pt_BR')]).toEqual([3, 2]);
    // No language is named so.
    expect(choose(null, 'default')).toBe(1);
  });

  test('is 0 in a campaign with one language', () => {
    expect(chooseLocale([], { ofDevice: 'de', ofUser: null })).toBe(0);
  });
});

describe('the content of a variant', () => {
  test('is that of its variation and locale, by number; 0 if there is only one', () => {
    const of = (variation: number, locale: number) => contentOfVariant(both, { variation, locale });
    expect([of(1, 1), of(2, 3), of(2, 0), of(0, 2)]).toEqual([one[0], two[2], two[0], one[1]]);
  });

  test('has a name if there are several', () => {
    const names = (variants: Variants) => namedContents(variants).map(({ name }) => name);
    expect(names(both)).toEqual([
      ...['Variation 1, default', 'Variation 1, de', 'Variation 1, pt-BR'],
      ...['Variation 2, default', 'Variation 2, de', 'Variation 2, pt-BR'],
    ]);
    expect(names(inOneLanguage)).toEqual(['Variation 1', 'Variation 2']);
    expect(names({ ...both, contents: [one] })).toEqual(locales);
    expect(namedContents(both).map((named) => named.content)).toEqual([...one, ...two]);
  });
});

describe('the name of a variant in files and figures', () => {
  test('is its number and the name of its locale', () => {
    const none = { variation: null, locale: null };
    expect(namedVariant(locales, { variation: 2, locale: 3 })).toEqual({ variation: 'variation_2', locale: 'pt-BR' });
    expect(namedVariant(null, { variation: 1, locale: null })).toEqual({ ...none, variation: 'variation_1' });
    expect(namedVariant(locales, { variation: null, locale: 1 })).toEqual({ ...none, locale: 'default' });
    expect(namedVariant(null, { variation: null, locale: 1 })).toEqual(none);
    expect(namedVariant(locales, { variation: null, locale: 0 })).toEqual(none);
    expect(namedVariant(locales, { variation: null, locale: null })).toEqual(none);
  });

  test('is an empty text with one language, and missing with one content', () => {
    expect([0, 1, 3, 4].map((locale) => localeName(locales, { locale }))).toEqual(['', 'default', 'pt-BR', '']);
    expect(localeName(undefined, { locale: 2 })).toBe('');
    expect(countedVariant(locales, { variation: 2, locale: 2 })).toEqual({ variation: 2, locale: 'de' });
    expect([countedVariant(locales, null), countedVariant(locales, undefined)]).toEqual([{}, {}]);
  });
});

describe('a campaign that learns', () => {
  test('has a metric, for these contents only', () => {
    const learning = { by: 'GOAL', floorPercent: 5 } as const;
    const found = learningOf({ ...both, learning })!;
    const digest = createHash('sha256')
      .update(JSON.stringify([locales, both.contents]))
      .digest('hex');
    expect(found).toEqual({ by: 'GOAL', contentsDigest: digest.slice(0, 32) });
    expect(learningOf({ ...both, percents: [50, 50], learning: { ...learning, floorPercent: 1 } })).toEqual(found);
    expect(learningOf({ ...both, contents: [one], learning })).not.toEqual(found);
  });

  test('must be configured to', () => expect(learningOf(both)).toBeNull());
});

describe('the content of a test or a preview', () => {
  const all = { content: one[0]!, variants: both };
  const pick = (
    variation: number | undefined,
    locale: string | undefined,
    given: Parameters<typeof pickVariant>[0] = all,
  ) => pickVariant(given, { variation, locale });
  const only = (tag: string, chosen: CampaignContent) => ({
    content: chosen,
    variants: { locales: [tag], percents: [100], contents: [[chosen]] },
  });

  test('is one variation, in each user’s language', () => {
    expect(pick(undefined, undefined)).toEqual({
      ...{ content: one[0], variants: { locales, percents: [100], contents: [one] } },
    });
    expect(pick(2, undefined)).toEqual({ content: two[0], variants: { locales, percents: [100], contents: [two] } });
  });

  test('may be one language for all', () => {
    expect(pick(2, 'de')).toEqual(only('de', two[1]!));
    expect(pick(1, 'PT-br')).toEqual(only('pt-BR', one[2]!));
    expect(pick(1, 'Default')).toEqual(only('default', one[0]!));
  });

  test('is a content in a campaign with one language', () => {
    const given = { content: one[0]!, variants: inOneLanguage };
    expect(pick(2, undefined, given)).toEqual({ content: two[0], variants: null });
    expect(pick(2, 'default', given)).toEqual({ content: two[0], variants: null });
    expect(pick(2, 'de', given)).toEqual({ unknown: 'locale' });
    const plain = { content: one[0]!, variants: null };
    expect(pick(undefined, undefined, plain)).toEqual(plain);
    expect(pick(1, 'DEFAULT', plain)).toEqual(plain);
    expect(pick(2, undefined, plain)).toEqual({ unknown: 'variation' });
  });

  test('is missing for an unknown variation or language', () => {
    expect([pick(0, undefined), pick(3, undefined), pick(3, 'fr')]).toEqual(
      new Array(3).fill({ unknown: 'variation' }),
    );
    expect([pick(1, 'fr'), pick(1, ''), pick(1, 'no tag')]).toEqual(new Array(3).fill({ unknown: 'locale' }));
  });
});

describe('winners', () => {
  test('applies each choice of a winner after its bucket, and withdraws choices that have not started', () => {
    const first = addWinnerStep([], { after: 10, variation: 2 });
    const second = addWinnerStep(first, { after: 20, variation: 3 });
    const chunk = (steps: typeof first) => [{ bucketFrom: 0, bucketTo: 63, steps }];
    expect([5, 10, 11, 20, 21, 63, 64].map((bucket) => winnerInBucket(chunk(second), bucket))).toEqual([
      null,
      null,
      2,
      2,
      3,
      3,
      null,
    ]);
    const takenBack = addWinnerStep(second, { after: 20, variation: null });
    expect([15, 21].map((bucket) => winnerInBucket(chunk(takenBack), bucket))).toEqual([2, null]);
    expect(addWinnerStep(first, { after: 10, variation: 1 })).toEqual([{ after: 10, variation: 1 }]);
  });

  test('derives the winner of each bucket from its chunk', () => {
    const chunks = [
      { bucketFrom: 0, bucketTo: 63, steps: [{ after: -1, variation: 1 }] },
      { bucketFrom: 64, bucketTo: 127, steps: [{ after: -1, variation: 2 }] },
    ];
    expect([0, 63, 64, 127, 128].map((bucket) => winnerInBucket(chunks, bucket))).toEqual([1, 1, 2, 2, null]);
    expect([0, 64].map((bucket) => winnerInBucket(chunks.toReversed(), bucket))).toEqual([1, 2]);
    expect(winnerInBucket([{ bucketFrom: 0, bucketTo: 63, steps: [] }], 5)).toBeNull();
  });

  test('gives a winner all shares', () => {
    const percents = [50, 30, 20];
    expect([1, 3].map((winner) => sharesOfWinner(percents, winner))).toEqual([
      [100, 0, 0],
      [0, 0, 100],
    ]);
    const kept = sharesOfWinner(percents, null);
    expect(kept).toEqual(percents);
    expect(kept).not.toBe(percents);
  });
});

describe('users of a run', () => {
  const android = { platform: 'ANDROID' as const, group: null };
  const held = { platform: 'ANDROID' as const, group: 'GLOBAL_CONTROL_GROUP' as const, variation: null, users: 5 };

  test('are summed under the variation that won, by platform, and control groups stay', () => {
    const ios = { platform: 'IOS' as const, group: null, variation: 1, users: 7 };
    const users = [held, { ...android, variation: 1, users: 30 }, { ...android, variation: 2, users: 12 }, ios];
    expect(regroupUsers(users, 2)).toEqual([{ ...android, variation: 2, users: 42 }, { ...ios, variation: 2 }, held]);
    expect(regroupUsers(users, null)[0]).toEqual({ ...android, variation: null, users: 42 });
    expect(regroupUsers([], 1)).toEqual([]);
  });
});

/** The generator sfc32 as PractRand has it, in whole numbers without an end. */
function* sfc32(seed: Buffer): Generator<bigint> {
  const word = (value: bigint): bigint => BigInt.asUintN(32, value);
  let [a, b, c, counter] = [0, 4, 8, 12].map((place) => BigInt(seed.readUInt32LE(place))) as [
    ...[bigint, bigint, bigint, bigint],
  ];
  for (;;) {
    const drawn = word(a + b + counter);
    counter = word(counter + 1n);
    a = b ^ (b >> 9n);
    b = word(c + (c << 3n));
    c = word(word((c << 21n) | (c >> 11n)) + drawn);
    yield drawn;
  }
}
