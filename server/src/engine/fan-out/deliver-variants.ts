import { unknownUser } from '../../domain/users/user-source.ts';
import { languageAttribute } from '../../domain/locales/localize-content.ts';
import { chooseLocale, contentOfVariant, defaultLocale, localeName } from '../../domain/experiments/variants.ts';
import type { Variant, Variants } from '../../domain/experiments/variants.ts';
import type { Database } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { findDeviceLocales } from '../../storage/devices/device-locales.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findUsers } from '../../storage/users/users.ts';
import type { DeviceToDeliver } from './device-to-deliver.ts';
import type { DeviceResult } from './device-result.ts';
import type { VariationOf } from './run-variation-of.ts';

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
