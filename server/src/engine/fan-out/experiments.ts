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
import { maxLearnedRuns } from '../../domain/limits/campaigns.ts';
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
 * Delivers to each device the content for its user, and records the variant in its result. Calls `deliver` once per content,
 * with a run for that content and the devices that get it. A run with one content for all is passed on unchanged, without a
 * query.
 */
export async function deliverVariants({
  database,
  run,
  devices,
  variationOf,
  deliver,
}: Delivering): Promise<DeviceResult[]> {
  if (!run.variants || devices.length === 0) return deliver(run, devices);
  const groups = await groupByVariant(database, { run, variationOf, devices: devices.map(({ device }) => device) });
  const results = new Array<DeviceResult>(devices.length);
  await Promise.all(
    groups.map(async ({ run: runOfGroup, indexes }) => {
      const sent = await deliver(
        runOfGroup,
        indexes.map((place) => devices[place]!),
      );
      indexes.forEach((place, index) => {
        const { delivery, ...rest } = sent[index]!;
        results[place] = { ...rest, delivery: { ...delivery, variant: runOfGroup.variant! } };
      });
    }),
  );
  return results;
}

/** Devices that get one content: the run with this content, and where they are in the list. */
export type VariantGroup = { run: RunToSend; indexes: number[] };

/** Groups devices by the content of their users. A run with one content for all is one group, without a query. */
export async function groupByVariant(
  database: Database,
  { run, variationOf, devices }: Pick<Asked, 'run' | 'variationOf' | 'devices'>,
): Promise<VariantGroup[]> {
  const { variants } = run;
  if (!variants) return [{ run, indexes: [...devices.keys()] }];
  const chosen = await chooseVariants(database, { run, variants, variationOf, devices });
  const groups = Map.groupBy(devices.keys(), (place) => `${chosen[place]!.variation} ${chosen[place]!.locale}`);
  return [...groups.values()].map((indexes) => ({
    run: runOfVariant(run, { variants, variant: chosen[indexes[0]!]! }),
    indexes,
  }));
}

/**
 * Returns the run with the content of one variant. The content is the same object each time, so that results cached for it are
 * reused.
 */
function runOfVariant(run: RunToSend, { variants, variant }: { variants: Variants; variant: Variant }): RunToSend {
  const name = localeName(variants.locales, variant);
  const language = name === '' || name === defaultLocale ? {} : { language: name };
  return { ...run, content: contentOfVariant(variants, variant), variant, ...language };
}

type Asked = Pick<Delivering, 'run' | 'variationOf'> & { variants: Variants; devices: AudienceDevice[] };

/** Reads the languages for the whole window: the device's language, otherwise the user's attribute. */
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

/** Returns the number of the variation drawn for a user. */
type VariationOf = (user: User) => number;

type Drawing = { run: RunToSend; users: readonly User[] };

/**
 * Returns the variations of these users. Undefined if all users get the same content. A run with fixed shares makes no query.
 */
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
 * Returns the shares used to send these buckets of a run. They are frozen by what is known when the first window of a bucket is
 * about to be sent. They stay the same for all later windows and retries, on every node and after every crash.
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
  // Windows of few users span many buckets. All of them use the same data.
  const shares = learnedShares({ arms, floorPercent, seed: `${runId} ${missing[0]}` });
  const written = missing.map((bucket) => ({ bucket, shares }));
  await insertRunShares(database, { runId, workspaceId, buckets: written });
  // Another worker may have stored the shares first.
  return findRunShares(database, asked);
}

/**
 * Returns a function that gives a user's control group in a run. Undefined if the run has none; a test of a campaign never has
 * one.
 */
export function makeRunControlGroupOf(run: RunToSend): ControlGroupOf | undefined {
  return run.isTest ? undefined : makeControlGroupOf(controlSharesOf(run, run.globalControlPercent));
}

/** The percentage of the workspace's users that a run starting now leaves out. */
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

/** Returns the trials of a run that learns: each message that a provider accepted. Empty for any other run. */
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
