import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { languageAttribute } from '../../domain/content/locales.ts';
import { makeControlGroupOf } from '../../domain/experiments/control-groups.ts';
import type { ControlGroupOf, ControlShares } from '../../domain/experiments/control-groups.ts';
import { winnerInBucket, learnedShares } from '../../domain/experiments/learning.ts';
import {
  chooseLocale,
  contentOfVariant,
  defaultLocale,
  localeName,
  makeVariationOf,
} from '../../domain/experiments/variants.ts';
import type { Variant, Variants, Learning } from '../../domain/experiments/variants.ts';
import { maxLearnedRuns } from '../../domain/limits/experiments.ts';
import { unknownUser } from '../../domain/template/personalise.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { findRunShares, insertRunShares, sumLearned } from '../../storage/campaigns/variations.ts';
import type { LearnedRow } from '../../storage/campaigns/variations.ts';
import type { Database } from '../../storage/database.ts';
import { findDeviceLocales } from '../../storage/devices/devices.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findUsers } from '../../storage/users/users.ts';
import type { DeviceToDeliver, DeviceResult } from './settle-outcome.ts';

type Delivering = {
  database: Database;
  run: RunToSend;
  devices: DeviceToDeliver[];
  variationOf: VariationOf | undefined;
  deliver(run: RunToSend, devices: DeviceToDeliver[]): Promise<DeviceResult[]>;
};

/**
 * Delivers to each device the content that is its user's, and notes in its result which one that was. `deliver` sees a run for
 * each content, with the devices that get it; a run with one content for all passes as it is, without a query.
 */
export async function deliverVariants({
  database,
  run,
  devices,
  variationOf,
  deliver,
}: Delivering): Promise<DeviceResult[]> {
  const { variants } = run;
  if (!variants || devices.length === 0) return deliver(run, devices);
  const asked = { run, variants, variationOf, devices: devices.map(({ device }) => device) };
  const chosen = await chooseVariants(database, asked);
  const places = Map.groupBy(devices.keys(), (place) => `${chosen[place]!.variation} ${chosen[place]!.locale}`);
  const results = new Array<DeviceResult>(devices.length);
  await Promise.all(
    [...places.values()].map(async (own) => {
      const variant = chosen[own[0]!]!;
      const sent = await deliver(
        runOfVariant(run, { variants, variant }),
        own.map((place) => devices[place]!),
      );
      own.forEach((place, index) => {
        const { delivery, ...rest } = sent[index]!;
        results[place] = { ...rest, delivery: { ...delivery, variant } };
      });
    }),
  );
  return results;
}

/** The run as those see it who get this content; the content is the same object each time, so what is made of it is kept. */
function runOfVariant(run: RunToSend, { variants, variant }: { variants: Variants; variant: Variant }): RunToSend {
  const name = localeName(variants.locales, variant);
  const language = name === '' || name === defaultLocale ? {} : { language: name };
  return { ...run, content: contentOfVariant(variants, variant), variant, ...language };
}

type Asked = Pick<Delivering, 'run' | 'variationOf'> & { variants: Variants; devices: AudienceDevice[] };

/** The languages are read for the whole window: what the device says, else what the user's attribute says. */
async function chooseVariants(database: Database, asked: Asked): Promise<Variant[]> {
  const { variants, devices, variationOf = () => 0 } = asked;
  const { workspaceId } = asked.run;
  const { locales } = variants;
  if (locales.length === 0) return devices.map((device) => ({ variation: variationOf(device), locale: 0 }));
  const ofDevices = await findDeviceLocales(database, { workspaceId, devices });
  const users = await findUsers(database, { workspaceId, users: devices, names: [languageAttribute] });
  return devices.map((device) => {
    const { attributes } = users.get(device.userId) ?? unknownUser;
    const known = { ofDevice: ofDevices.get(device.id) ?? null, ofUser: attributes[languageAttribute] };
    return { variation: variationOf(device), locale: chooseLocale(locales, known) };
  });
}

type User = Pick<AudienceDevice, 'bucket' | 'userId'>;

/** The number of the variation that a user was drawn for. */
type VariationOf = (user: User) => number;

type Drawing = { run: RunToSend; users: readonly User[] };

/** Of these users; undefined of a run that says the same to everybody. A run whose shares are given makes no query. */
export async function makeRunVariationOf(
  database: Database,
  { run, users }: Drawing,
): Promise<VariationOf | undefined> {
  const { variants, canonicalCampaignId } = run;
  if (!variants || variants.percents.length < 2) return undefined;
  const { percents, learning } = variants;
  if (!learning) {
    const variationOf = makeVariationOf(percents, canonicalCampaignId);
    if (run.winners.length === 0) return ({ userId }) => variationOf(userId);
    return ({ bucket, userId }) => winnerInBucket(run.winners, bucket) ?? variationOf(userId);
  }
  const buckets = users.map(({ bucket }) => bucket);
  const shares = await freezeShares(database, { run, buckets, learning, variations: percents.length });
  const drawsOf = new Map([...shares].map(([bucket, own]) => [bucket, makeVariationOf(own, canonicalCampaignId)]));
  return ({ bucket, userId }) => drawsOf.get(bucket)!(userId);
}

type Freezing = {
  run: Pick<RunToSend, 'id' | 'workspaceId' | 'canonicalCampaignId'>;
  buckets: readonly number[];
  learning: Learning;
  variations: number;
};

/**
 * The shares by which these buckets of a run are sent: what was known when the first window of a bucket was about to be sent, and
 * the same for whoever sends more of it, on whatever node, after whatever crash, and when it is tried again.
 */
export async function freezeShares(
  database: Database,
  { run, buckets, learning, variations }: Freezing,
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (buckets.length === 0) return new Map();
  const asked = { runId: run.id, buckets: [...new Set(buckets)] };
  const known = await findRunShares(database, asked);
  const missing = asked.buckets.filter((bucket) => !known.has(bucket)).sort((one, other) => one - other);
  if (missing.length === 0) return known;
  const { canonicalCampaignId, workspaceId, id: runId } = run;
  const learned = await sumLearned(database, { canonicalCampaignId, runId, limit: maxLearnedRuns });
  const arms = Array.from({ length: variations }, (_, index) => learned.get(index + 1) ?? { trials: 0, successes: 0 });
  const { floorPercent } = learning;
  // Windows of few users have many buckets; what is known is the same for all of them.
  const shares = learnedShares({ arms, floorPercent, seed: `${runId} ${missing[0]}` });
  const written = missing.map((bucket) => ({ bucket, shares }));
  await insertRunShares(database, { runId, workspaceId, buckets: written });
  // Another worker may have been faster.
  return findRunShares(database, asked);
}

/** In which control group of a run a user is; undefined of a run that is for everybody, as each test of a campaign is. */
export function makeRunControlGroupOf(run: RunToSend): ControlGroupOf | undefined {
  return run.isTest ? undefined : makeControlGroupOf(controlSharesOf(run, run.globalControlPercent));
}

/** The share of the workspace that a run which begins now leaves out. */
export function globalControlPercentNow({ settings, controls }: RunToSend): number | null {
  return deliverySettings(settings).leavesOutGlobalControlGroup ? controls.controlGroupPercent : null;
}

export function controlSharesOf(
  { workspaceId, canonicalCampaignId, settings }: RunToSend,
  globalPercent: number | null,
): ControlShares {
  const campaignPercent = deliverySettings(settings).controlGroupPercent ?? null;
  return { workspaceId, canonicalCampaignId, globalPercent, campaignPercent };
}

/** What a run that learns has tried: each message that a provider accepted. Nothing of any other run. */
export function trialsOf(
  { id: runId, workspaceId, variants }: Pick<RunToSend, 'id' | 'workspaceId' | 'variants'>,
  deliveries: readonly Pick<Delivery, 'bucket' | 'outcome' | 'variant'>[],
): LearnedRow[] {
  if (!variants?.learning) return [];
  return deliveries.flatMap(({ bucket, outcome, variant }) =>
    outcome === 'ACCEPTED' && variant
      ? [{ workspaceId, runId, bucket, variation: variant.variation, trials: 1, successes: 0 }]
      : [],
  );
}
