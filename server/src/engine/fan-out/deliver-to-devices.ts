import type { Clock } from '../../clock.ts';
import type { PhoneDefaults } from '../../domain/content/content.ts';
import type { Message } from '../../domain/content/message.ts';
import { keyOfApp } from '../../domain/credentials/credentials.ts';
import type { CredentialsOfApps, FoundCredentials } from '../../domain/credentials/credentials.ts';
import { canProbe, evidenceKeyOf, findRefusal } from '../../domain/delivery/evidence.ts';
import { hasSubscription, providerOf } from '../../domain/delivery/providers.ts';
import type { InteractionTokens } from '../../domain/events/interactions.ts';
import type { OwnTexts } from '../../domain/template/personalise.ts';
import type { Logger } from '../../log.ts';
import type { Delivery } from '../../providers/deliver.ts';
import { sendAccountOf } from '../../providers/send-account.ts';
import { parseSubscription } from '../../providers/webpush/encrypt.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { LoadCredentials } from '../credentials.ts';
import type { Governor } from '../governor/governor.ts';
import type { BatchKey, Evidence } from '../governor/provider-evidence.ts';
import { composeMessage, makePartsOf } from './compose-message.ts';
import type { Addressee, Recipient } from './compose-message.ts';
import { judgeWindow, settleHeld } from './judge-window.ts';
import type { AmbiguousOutcome, Batch, Postponed } from './judge-window.ts';
import {
  failRecipient,
  settleAs,
  settleOutcome,
  settleUntried,
  markReach,
  waitForCredential,
} from './settle-outcome.ts';
import type { DeviceResult } from './settle-outcome.ts';

export type DeliverToDevicesDependencies = {
  log: Logger;
  clock: Clock;
  delivery: Pick<Delivery, 'openBatch'>;
  loadCredentials: LoadCredentials;
  governor: Governor;
  evidence: Evidence;
  random: () => number;
  interactionTokens: InteractionTokens;
  phoneDefaults: PhoneDefaults;
};

/** Sends messages of one run and returns what the ledger and the run must record, in the order of the addressees. */
export type DeliverToDevices = (run: RunToSend, addressees: readonly Addressee[]) => Promise<DeviceResult[]>;

/** Never rejects: a failure for one device becomes that device's result. */
export function makeDeliverToDevices(deps: DeliverToDevicesDependencies): DeliverToDevices {
  return async (run, addressees) => {
    const results = new Array<DeviceResult>(addressees.length);
    const going: number[] = [];
    const now = deps.clock.now();
    for (let index = 0; index < addressees.length; index += 1) {
      const result = settleUnsent(deps, { run, now, addressee: addressees[index]! });
      if (result) results[index] = result;
      else going.push(index);
    }
    if (going.length === 0) return results;
    // The database is unavailable. Rejecting here would lose the outcomes of the other devices.
    const credentialsOf = await deps.loadCredentials(run.workspaceId).catch(() => undefined);
    if (!credentialsOf) {
      const untried = { code: 'CREDENTIALS_UNREAD', until: now };
      for (const index of going)
        results[index] = settleUntried({ run, ...addressees[index]! }, { ...untried, random: deps.random() });
      return results;
    }
    const batches = [...batchesOf(going, { run, addressees, credentialsOf })];
    const window = { run, addressees, credentialsOf, results };
    await letProbesThrough(deps, { ...window, batches });
    return sendBatches(deps, { ...window, batches, going });
  };
}

type Window = {
  run: RunToSend;
  addressees: readonly Addressee[];
  credentialsOf: CredentialsOfApps;
  results: DeviceResult[];
};

/**
 * Sends to the allowed devices and settles the rest. Ambiguous responses are judged last, when all other responses are known.
 */
function sendBatches(
  deps: DeliverToDevicesDependencies,
  { run, addressees, credentialsOf, results, batches, going }: Window & { batches: FoundBatch[]; going: number[] },
): Promise<DeviceResult[]> {
  return new Promise((resolve) => {
    const postponed: Postponed[] = [];
    const sent: Batch[] = [];
    let open = going.length;
    const countDown = (): void => {
      open -= 1;
      if (open > 0) return;
      const answered = { run, addressees, batches: sent, results, postponed, credentialsOf };
      void judgeWindow(deps, answered).then(() => resolve(markReach(results, { run, credentialsOf })));
    };
    const settle = (index: number, result: DeviceResult): void => {
      results[index] = result;
      countDown();
    };
    for (const { found, ...batch } of batches) {
      const { platform } = addressees[batch.indexes[0]!]!.device;
      const known =
        found && findRefusal(run.refusals, { credential: found.name, platform, evidenceKey: batch.key?.text });
      if (!found) for (const index of batch.indexes) settle(index, settleWithoutCredential(addressees[index]!));
      // A refusal with a key lasts as long as the hold on that key, and letProbesThrough has already checked the holds.
      else if (known?.evidenceKey === null)
        for (const index of batch.indexes)
          settle(index, waitForCredential({ run, ...addressees[index]! }, { refusal: known, by: 'what is known' }));
      else {
        const { probes = batch.indexes, hold } = batch;
        const sending: Batch = { ...batch, found, indexes: probes };
        sent.push(sending);
        for (const index of batch.indexes)
          if (hold && !probes.includes(index))
            settle(index, settleHeld(deps, { run, addressee: addressees[index]!, batch: sending, hold }));
        const postpone = (index: number, outcome: AmbiguousOutcome): void => {
          postponed.push({ index, batch: sending, outcome });
          countDown();
        };
        if (probes.length > 0) sendBatch(deps, { run, addressees, settle, postpone, ...sending });
      }
    }
  });
}

/** Named users whose devices were accepted before are always tried, up to this many at once, even while the key is held. */
const maxNamedProbes = 10;

/** For batches with a held key, chooses the devices to send to anyway, as probes. */
async function letProbesThrough(
  { evidence, clock }: DeliverToDevicesDependencies,
  { run, addressees, batches }: Window & { batches: FoundBatch[] },
): Promise<void> {
  const holds = await evidence.findHolds();
  if (holds.size === 0) return;
  const probed = new Set<string>();
  for (const batch of batches) {
    const hold = batch.key && (holds.get(batch.key.text) ?? holds.get(batch.key.credential));
    const now = clock.now();
    if (!hold || (hold.until && hold.until <= now)) continue;
    batch.hold = hold;
    batch.probes = [];
    if (run.lane === 0) {
      const devices = batch.indexes.slice(0, maxNamedProbes).map((index) => addressees[index]!.device);
      const accepted = await evidence.findAccepted(devices);
      batch.probes = batch.indexes.filter((index) => accepted.has(addressees[index]!.device.id));
    }
    if (batch.probes.length > 0 || probed.has(hold.key)) continue;
    const index = batch.indexes.find((one) =>
      canProbe(hold, { deviceId: addressees[one]!.device.id, now: now.getTime() }),
    );
    if (index === undefined || !(await evidence.mayProbe(hold, addressees[index]!.device.id))) continue;
    probed.add(hold.key);
    batch.probes = [index];
  }
}

type Unsent = { run: RunToSend; now: Date; addressee: Addressee };

/** Returns the result for a device that gets no message, regardless of its provider. Undefined if the message can be sent. */
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
  // Retrying cannot fix a text that fails to render.
  if (personal && 'fault' in personal) return settleAs(addressee, 'FAILED', `TEMPLATE_${personal.fault.cause}`);
  if (!personal && !run.content[device.platform]) return settleAs(addressee, 'REJECTED', 'NO_CONTENT_FOR_PLATFORM');
  return undefined;
}

/** The run does reach other devices, because their apps have a credential. */
function settleWithoutCredential(addressee: Addressee): DeviceResult {
  return settleAs(addressee, 'REJECTED', 'NO_CREDENTIAL_FOR_APP');
}

/** `found` is undefined if the app has no credential. `probes`: the indexes that may be sent although the key is held. */
type FoundBatch = Omit<Batch, 'found'> & { found: FoundCredentials | undefined; probes?: number[] };

function batchesOf(
  indexes: readonly number[],
  { run, addressees, credentialsOf }: Pick<Window, 'run' | 'addressees' | 'credentialsOf'>,
): Iterable<FoundBatch> {
  const batches = new Map<string, FoundBatch>();
  for (const index of indexes) {
    const { device } = addressees[index]!;
    const { localized, badge } = device;
    const ofApp = keyOfApp(device);
    const alike = localized === undefined ? ofApp : `${ofApp} ${localized.language}`;
    const app = badge?.operation === 'set' ? `${alike} ${badge.value}` : alike;
    // An app has one account per provider, except for the browsers' push services. Looking it up again would build its name
    // again.
    const isOfService = hasSubscription(device);
    let batch = isOfService ? undefined : batches.get(app);
    if (!batch) {
      const found = credentialsOf.find(device);
      const account = found && sendAccountOf(device, found.credentials);
      const name = isOfService ? `${app} ${account?.key}` : app;
      batch = batches.get(name) ?? { account, found, key: found && batchKeyOf(run, { device, found }), indexes: [] };
      batches.set(name, batch);
    }
    batch.indexes.push(index);
  }
  return batches.values();
}

function batchKeyOf(
  { workspaceId }: RunToSend,
  { device, found: { name, credentials } }: { device: Recipient; found: FoundCredentials },
): BatchKey | undefined {
  const provider = providerOf(device);
  const isOfService = hasSubscription(device);
  const origin = isOfService ? parseSubscription(device.pushId)?.endpoint.origin : undefined;
  // A push id that is not a subscription is rejected without a request.
  if (isOfService && origin === undefined) return undefined;
  const key = evidenceKeyOf({ workspaceId, name, credentials, device, origin });
  return key && { ...key, workspaceId, provider, appId: name.appId };
}

type Sending = Batch & {
  run: RunToSend;
  addressees: readonly Addressee[];
  settle(index: number, result: DeviceResult): void;
  /** The response alone does not say whether it concerns the device or the credential. */
  postpone(index: number, outcome: AmbiguousOutcome): void;
};

function sendBatch(deps: DeliverToDevicesDependencies, sending: Sending): void {
  const { run, account, indexes, addressees, found, key, settle, postpone } = sending;
  const devices = indexes.map((index) => addressees[index]!.device);
  const messageTo = makeMessageTo(deps, { run, app: found.settings });
  const fail = (batchIndex: number, error: unknown): void => {
    const index = indexes[batchIndex]!;
    const { device, attempt } = addressees[index]!;
    deps.log.error({ err: error, runId: run.id, deviceId: device.id }, 'recipient failed');
    settle(index, failRecipient(device, attempt));
  };
  const send = deps.delivery.openBatch({
    credentials: found.credentials,
    devices,
    messageOf: (batchIndex) => messageTo(devices[batchIndex]!),
    partsOf: partsOfBatch(deps, { run, devices }),
    messageWith(batchIndex, texts) {
      const { own } = devices[batchIndex]!.personal as { own: OwnTexts };
      return messageTo({ ...devices[batchIndex]!, personal: { content: own.shape.contentWith(texts) } });
    },
    pace: run.lane === 0 ? 'promptly' : 'in turn',
    onOutcome(batchIndex, outcome) {
      const index = indexes[batchIndex]!;
      if (outcome.kind === 'ambiguous') return postpone(index, outcome);
      const { device, attempt } = addressees[index]!;
      const instead = device.personal && 'instead' in device.personal ? device.personal.instead : undefined;
      const acceptedCode = instead ? `FALLBACK_${instead.cause}` : null;
      let result: DeviceResult;
      try {
        result = settleOutcome(deps, {
          ...{ run, device, attempt, account, outcome, acceptedCode },
          ...{ credential: found.name, evidenceKey: key?.credential },
        });
      } catch (error) {
        return fail(batchIndex, error);
      }
      settle(index, result);
    },
    onFault: fail,
  });
  if (!account) {
    for (const batchIndex of indexes.keys()) send(batchIndex);
    return;
  }
  let next = 0;
  deps.governor.acquire(account, {
    lane: run.lane === 0 ? 0 : 1,
    messages: indexes.length,
    onTurn(later) {
      const batchIndex = next;
      next += 1;
      if (!later) return send(batchIndex);
      const index = indexes[batchIndex]!;
      const untried = { code: 'PROVIDER_WAIT', until: later, random: deps.random() };
      settle(index, settleUntried({ run, ...addressees[index]! }, untried));
    },
  });
}

type Devices = { run: RunToSend; devices: readonly Recipient[] };

function partsOfBatch({ interactionTokens }: DeliverToDevicesDependencies, { run, devices }: Devices) {
  const partsOf = makePartsOf({ run, platform: devices[0]!.platform, tokens: interactionTokens });
  return partsOf && ((index: number) => partsOf(devices[index]!));
}

/** @returns the message for a device. The function throws if no message can be composed for it */
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
