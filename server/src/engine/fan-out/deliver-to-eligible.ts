import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { admitUsers, keyOf } from './admit-users.ts';
import type { Decision } from './admit-users.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import type { PersonaliseDevices } from './personalise-devices.ts';
import type { DeviceToDeliver } from './device-to-deliver.ts';
import { makeRunControlGroupOf } from './run-control-group-of.ts';
import { deliverVariants } from './deliver-variants.ts';
import { makeRunVariationOf } from './run-variation-of.ts';
import { countRunBadges } from './count-run-badges.ts';
import { failRecipient } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type DeliverToEligibleDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  personaliseDevices: PersonaliseDevices;
  deliverToDevices: DeliverToDevices;
};

/** Delivers to devices of one run concurrently; results are in the order of the devices. */
export type DeliverToEligible = (run: RunToSend, devices: DeviceToDeliver[]) => Promise<DeviceResult[]>;

/**
 * Delivers to those devices of a window whose users are in no control group and are eligible now, and reports why the others
 * are not: the control group comes first, so that whoever is in it is neither counted nor held for later. Texts are
 * rendered for eligible users only. Messages are recorded before they are sent: a crash may leave one counted that was
 * never sent, but never sends one that was not counted. A run without delivery controls makes no query.
 */
export function makeDeliverToEligible(deps: DeliverToEligibleDependencies): DeliverToEligible {
  const { database } = deps;
  const deliver = (run: RunToSend, admitted: DeviceToDeliver[]) => deliverContent(deps, { run, admitted });
  return async (run, devices) => {
    const controlGroupOf = makeRunControlGroupOf(run);
    const leftOut = new Map(controlGroupOf ? devices.map(({ device }) => [device, controlGroupOf(device.userId)]) : []);
    const meant = controlGroupOf ? devices.filter(({ device }) => !leftOut.get(device)) : devices;
    const eligibilities = await admitUsers(deps, { run, devices: meant });
    const refusalOf = (device: AudienceDevice): Refusal | undefined => {
      const code = leftOut.get(device);
      if (code) return { kind: 'withhold', code };
      const eligibility = eligibilities?.get(keyOf(device));
      return eligibility?.kind === 'send' ? undefined : eligibility;
    };
    const admitted = eligibilities ? meant.filter(({ device }) => !refusalOf(device)) : meant;
    const variationOf = await makeRunVariationOf(database, { run, users: meant.map(({ device }) => device) });
    const sent = await deliverVariants({ database, run, devices: admitted, variationOf, deliver });
    if (admitted.length === devices.length) return sent;
    const results = sent.values();
    return devices.map((device) => {
      const refusal = refusalOf(device.device);
      if (!refusal) return results.next().value!;
      const { delivery } = toResult(device, refusal);
      // Who was meant to get it counts for the variation that would have come.
      if (!variationOf || leftOut.get(device.device)) return { delivery };
      return { delivery: { ...delivery, variant: { variation: variationOf(device.device), locale: 0 } } };
    });
  };
}

/** Delivers the content of a run to those who get it. */
async function deliverContent(
  deps: DeliverToEligibleDependencies,
  { run, admitted }: { run: RunToSend; admitted: DeviceToDeliver[] },
): Promise<DeviceResult[]> {
  const devices = admitted.map(({ device }) => device);
  const personal = await deps.personaliseDevices(run, devices);
  const recipients = await countRunBadges(deps.database, { run, recipients: personal });
  const addressees =
    recipients === devices ? admitted : admitted.map(({ attempt }, index) => ({ device: recipients[index]!, attempt }));
  return deps.deliverToDevices(run, addressees);
}

type Refusal = Exclude<Decision, { kind: 'send' }>;

function toResult({ device, attempt }: DeviceToDeliver, eligibility: Refusal): DeviceResult {
  if (eligibility.kind === 'fault') return failRecipient(device, attempt);
  const { bucket, id: deviceId, userId, platform } = device;
  // Nothing was sent, so no attempt was made.
  const base = { bucket, deviceId, userId, platform, code: eligibility.code, providerMessageId: null };
  const settled = { ...base, attempts: attempt - 1, retryAt: null };
  switch (eligibility.kind) {
    case 'hold':
      return { delivery: { ...settled, outcome: 'WAITING', retryAt: eligibility.until } };
    case 'withhold':
      return { delivery: { ...settled, outcome: 'WITHHELD' } };
    case 'fail':
      return { delivery: { ...settled, outcome: 'FAILED' } };
    default:
      return unknownCase(eligibility);
  }
}
