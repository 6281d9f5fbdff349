import type { Clock } from '../../clock.ts';
import type { PhoneDefaults } from '../../domain/campaigns/android-payload.ts';
import type { Message } from '../../domain/campaigns/message.ts';
import type { InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import { keyOfApp } from '../../domain/apps/credentials-of-apps.ts';
import type { CredentialsOfApps, FoundCredentials } from '../../domain/apps/credentials-of-apps.ts';
import { providerOf } from '../../domain/delivery/provider-name.ts';
import { findRefusal } from '../../domain/delivery/refusal.ts';
import type { Logger } from '../../log.ts';
import type { OwnTexts } from '../../domain/template/content-shape.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { LoadCredentials } from '../credentials/load-credentials.ts';
import type { Delivery } from '../delivery/deliver.ts';
import { sendAccountOf } from '../delivery/send-account.ts';
import type { SendAccount } from '../delivery/send-account.ts';
import type { Governor } from '../governor/governor.ts';
import { composeMessage, makePartsOf } from './compose-message.ts';
import { failRecipient } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';
import type { Recipient } from './personalise-devices.ts';
import { settleAs, settleOutcome, settleUntried } from './settle-outcome.ts';
import { tellReach, waitForCredential } from './wait-for-credential.ts';

export type DeliverToDevicesDependencies = {
  log: Logger;
  clock: Clock;
  delivery: Pick<Delivery, 'openBatch'>;
  loadCredentials: LoadCredentials;
  governor: Governor;
  random: () => number;
  interactionTokens: InteractionTokens;
  phoneDefaults: PhoneDefaults;
};

/** `attempt` counts from 1. */
export type Addressee = { device: Recipient; attempt: number };

/** Sends messages of one run and returns what the ledger and the run must record, in the order of the addressees. */
export type DeliverToDevices = (run: RunToSend, addressees: readonly Addressee[]) => Promise<DeviceResult[]>;

/** Never rejects: whatever goes wrong with one device is that device's result. */
export function makeDeliverToDevices(deps: DeliverToDevicesDependencies): DeliverToDevices {
  return async (run, addressees) => {
    const results = new Array<DeviceResult>(addressees.length);
    const going: number[] = [];
    const now = deps.clock.now();
    for (let place = 0; place < addressees.length; place += 1) {
      const result = settleUnsent(deps, { run, now, addressee: addressees[place]! });
      if (result) results[place] = result;
      else going.push(place);
    }
    if (going.length === 0) return results;
    // The database is unavailable; a rejection here would lose the outcomes of the other devices.
    const credentialsOf = await deps.loadCredentials(run.workspaceId).catch(() => undefined);
    if (!credentialsOf) {
      const untried = { code: 'CREDENTIALS_UNREAD', until: now };
      for (const place of going)
        results[place] = settleUntried({ run, ...addressees[place]! }, { ...untried, random: deps.random() });
      return results;
    }
    return new Promise((resolve) => {
      let open = going.length;
      const settle = (place: number, result: DeviceResult): void => {
        results[place] = result;
        open -= 1;
        if (open === 0) resolve(tellReach(results, { run, credentialsOf }));
      };
      for (const { found, ...batch } of batchesOf(going, { addressees, credentialsOf })) {
        const { platform } = addressees[batch.places[0]!]!.device;
        const known = found && findRefusal(run.refusals, { credential: found.name, platform });
        if (!found) for (const place of batch.places) settle(place, settleWithoutCredential(addressees[place]!));
        else if (known)
          for (const place of batch.places)
            settle(place, waitForCredential({ run, ...addressees[place]! }, { refusal: known, by: 'what is known' }));
        else sendBatch(deps, { run, addressees, found, settle, ...batch });
      }
    });
  };
}

type Unsent = { run: RunToSend; now: Date; addressee: Addressee };

/** The result of a device that no message is sent to, whatever its provider says. */
function settleUnsent(
  { log }: DeliverToDevicesDependencies,
  { run, now, addressee }: Unsent,
): DeviceResult | undefined {
  const { device, attempt } = addressee;
  if (now >= run.sendUntil) return settleAs(addressee, 'EXPIRED', 'TTL');
  if (device.fault !== undefined) {
    log.error({ err: device.fault, runId: run.id, deviceId: device.id }, 'recipient failed');
    return failRecipient(device, attempt);
  }
  const { personal } = device;
  // No attempt of a provider's changes a text that cannot be made.
  if (personal && 'fault' in personal) return settleAs(addressee, 'FAILED', `TEMPLATE_${personal.fault.cause}`);
  if (!personal && !run.content[device.platform]) return settleAs(addressee, 'REJECTED', 'NO_CONTENT_FOR_PLATFORM');
  return undefined;
}

/** Others of the run are reached: their apps have a credential. */
function settleWithoutCredential(addressee: Addressee): DeviceResult {
  return settleAs(addressee, 'REJECTED', 'NO_CREDENTIAL_FOR_APP');
}

/** Devices of one app, language and badge that one provider reaches through one account; without one where there is none. */
type Batch = { account: SendAccount | undefined; places: number[] };
type FoundBatch = Batch & { found: FoundCredentials | undefined };

function batchesOf(
  places: readonly number[],
  { addressees, credentialsOf }: { addressees: readonly Addressee[]; credentialsOf: CredentialsOfApps },
): Iterable<FoundBatch> {
  const batches = new Map<string, FoundBatch>();
  for (const place of places) {
    const { device } = addressees[place]!;
    const { localized, badge } = device;
    const ofApp = keyOfApp(device);
    const alike = localized === undefined ? ofApp : `${ofApp} ${localized.language}`;
    const app = badge?.operation === 'set' ? `${alike} ${badge.value}` : alike;
    // But for browsers' own services an app has one account; looking for it again would make its name again.
    const isOfService = providerOf(device) === 'webpush';
    let batch = isOfService ? undefined : batches.get(app);
    if (!batch) {
      const found = credentialsOf.find(device);
      const account = found && sendAccountOf(device, found.credentials);
      const key = isOfService ? `${app} ${account?.key}` : app;
      batch = batches.get(key) ?? { account, found, places: [] };
      batches.set(key, batch);
    }
    batch.places.push(place);
  }
  return batches.values();
}

type Sending = Batch & {
  run: RunToSend;
  addressees: readonly Addressee[];
  found: FoundCredentials;
  settle(place: number, result: DeviceResult): void;
};

function sendBatch(deps: DeliverToDevicesDependencies, sending: Sending): void {
  const { run, account, places, addressees, found, settle } = sending;
  const devices = places.map((place) => addressees[place]!.device);
  const messageTo = makeMessageTo(deps, { run, app: found.settings });
  const fail = (index: number, error: unknown): void => {
    const place = places[index]!;
    const { device, attempt } = addressees[place]!;
    deps.log.error({ err: error, runId: run.id, deviceId: device.id }, 'recipient failed');
    settle(place, failRecipient(device, attempt));
  };
  const send = deps.delivery.openBatch({
    credentials: found.credentials,
    devices,
    messageOf: (index) => messageTo(devices[index]!),
    partsOf: partsOfBatch(deps, { run, devices }),
    messageWith(index, texts) {
      const { own } = devices[index]!.personal as { own: OwnTexts };
      return messageTo({ ...devices[index]!, personal: { content: own.shape.contentWith(texts) } });
    },
    pace: run.lane === 0 ? 'promptly' : 'in turn',
    onOutcome(index, outcome) {
      const place = places[index]!;
      const { device, attempt } = addressees[place]!;
      const instead = device.personal && 'instead' in device.personal ? device.personal.instead : undefined;
      const acceptedCode = instead ? `FALLBACK_${instead.cause}` : null;
      let result: DeviceResult;
      try {
        result = settleOutcome(deps, { run, device, attempt, account, outcome, acceptedCode, credential: found.name });
      } catch (error) {
        return fail(index, error);
      }
      settle(place, result);
    },
    onFault: fail,
  });
  if (!account) {
    for (const index of places.keys()) send(index);
    return;
  }
  let next = 0;
  deps.governor.takeTurns(account, {
    lane: run.lane === 0 ? 0 : 1,
    messages: places.length,
    onTurn(later) {
      const index = next;
      next += 1;
      if (!later) return send(index);
      const place = places[index]!;
      const untried = { code: 'PROVIDER_WAIT', until: later, random: deps.random() };
      settle(place, settleUntried({ run, ...addressees[place]! }, untried));
    },
  });
}

type Devices = { run: RunToSend; devices: readonly Recipient[] };

function partsOfBatch({ interactionTokens }: DeliverToDevicesDependencies, { run, devices }: Devices) {
  const partsOf = makePartsOf({ run, platform: devices[0]!.platform, tokens: interactionTokens });
  return partsOf && ((index: number) => partsOf(devices[index]!));
}

/** @returns the message to a device; it throws for one that this service cannot make a message for */
function makeMessageTo(
  { interactionTokens, phoneDefaults }: DeliverToDevicesDependencies,
  { run, app }: { run: RunToSend; app: FoundCredentials['settings'] },
): (device: Recipient) => Message {
  return (device) => {
    const message = composeMessage({ run, device, app, tokens: interactionTokens, phoneDefaults });
    if (!message) throw new Error(`no content for ${device.platform}`);
    return message;
  };
}
