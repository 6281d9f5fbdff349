import type { Clock } from '../../clock.ts';
import { deliverySettings } from '../../domain/campaign/delivery-settings.ts';
import { decideAdmissions } from '../../domain/delivery-gate/decide-admissions.ts';
import type { Admission, UserMessage } from '../../domain/delivery-gate/decide-admissions.ts';
import { deliveryGateOf, needsMessages, needsZone } from '../../domain/delivery-gate/delivery-gate.ts';
import type { DeliveryGate } from '../../domain/delivery-gate/delivery-gate.ts';
import { mostCapHours } from '../../domain/delivery-gate/workspace-controls.ts';
import { localSendOf } from '../../domain/timing/local-send.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Database } from '../../storage/pool.ts';
import type { AudienceDevice } from '../../storage/sql/audience-pages.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';
import { findUsersAtGate, reserveUserMessages } from '../../storage/sql/user-messages.ts';
import type { UserKey } from '../../storage/sql/users.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import type { DeviceResult } from './send-window.ts';

export type DeliverThroughGateDependencies = { database: Database; clock: Clock; deliverToDevice: DeliverToDevice };

export type DeviceToDeliver = { device: AudienceDevice; attempt: number };

/** Delivers to devices of one run side by side; the results stand in the order of the devices. */
export type DeliverThroughGate = (run: RunToSend, devices: DeviceToDeliver[]) => Promise<DeviceResult[]>;

/**
 * Delivers to those devices of a window whose users may be sent to now, and says of the others why not. The messages are
 * written down before they leave: a crash may count one that never left, and never sends one that was not counted. A run
 * without a gate asks the database nothing.
 */
export function makeDeliverThroughGate(deps: DeliverThroughGateDependencies): DeliverThroughGate {
  return async (run, devices) => {
    const gate = gateOfRun(run);
    const admissions = gate && (await admitUsers(deps, { run, gate, devices }));
    return Promise.all(
      devices.map(({ device, attempt }) => {
        const admission = admissions?.get(keyOf(device));
        return admission === undefined || admission.kind === 'send'
          ? deps.deliverToDevice(run, device, attempt)
          : toResult({ device, attempt }, admission);
      }),
    );
  };
}

export function gateOfRun(run: RunToSend): DeliveryGate | undefined {
  const { controls, isTest } = run;
  const localSend = localSendOf(fromStoredTiming(run.timing), run.moment);
  return deliveryGateOf({ settings: deliverySettings(run.settings), controls, localSend, isTest });
}

type Asked = { run: RunToSend; gate: DeliveryGate; devices: DeviceToDeliver[] };

/** Decides and writes down, again for those whom another node changed in between: two campaigns may meet at a cap. */
async function admitUsers(
  { database, clock }: DeliverThroughGateDependencies,
  { run, gate, devices }: Asked,
): Promise<Map<string, Admission>> {
  const now = clock.now();
  const { workspaceId, campaignId } = run;
  const decide = decideAdmissions(gate, {
    run: { id: run.id, campaignId, startedAt: run.startedAt ?? run.createdAt, sendUntil: run.sendUntil },
    now,
  });
  const admissions = new Map<string, Admission>();
  let open = [...new Map(devices.map(({ device }) => [keyOf(device), toUser(device)])).values()];
  while (open.length > 0) {
    const users = await findUsersAtGate(database, {
      workspaceId,
      users: open,
      zoneAttribute: needsZone(gate) ? gate.zone.attribute : null,
      withMessages: needsMessages(gate) ? 'yes' : 'no',
    });
    for (const user of users) admissions.set(keyOf(user), decide(user));
    const isNew = (user: (typeof users)[number]): boolean =>
      admissions.get(keyOf(user))!.kind === 'send' && !user.messages.some(({ runId }) => runId === run.id);
    const sent = gate.record === null ? [] : users.filter(isNew);
    if (sent.length === 0) break;
    const message = {
      workspaceId,
      runId: run.id,
      campaignId,
      at: now,
      isCounted: gate.record!.isCounted ? 'yes' : 'no',
    } as const;
    const reserved = sent.map((user) => ({ ...user, outdated: countOutdated(user.messages, now) }));
    const written = await reserveUserMessages(database, { ...message, users: reserved });
    const isWritten = new Set(written.map(keyOf));
    open = sent.filter((user) => !isWritten.has(keyOf(user))).map(toUser);
  }
  return admissions;
}

const mostKept = 100;
// As long as the longest cap or delay can be.
const keptMilliseconds = mostCapHours * 3_600_000;

/** Messages, oldest first, that no cap or delay can ask about when one more is written. */
function countOutdated(messages: readonly UserMessage[], now: Date): number {
  const since = now.getTime() - keptMilliseconds;
  const old = messages.filter(({ sentAt }) => sentAt.getTime() <= since).length;
  return Math.max(old, messages.length + 1 - mostKept);
}

function toResult({ device, attempt }: DeviceToDeliver, admission: Exclude<Admission, { kind: 'send' }>): DeviceResult {
  const { bucket, id: deviceId, userId, platform } = device;
  // Nothing was sent, so no attempt was made.
  const base = { bucket, deviceId, userId, platform, code: admission.code, providerMessageId: null };
  return admission.kind === 'hold'
    ? { delivery: { ...base, attempts: attempt - 1, outcome: 'WAITING', retryAt: admission.until } }
    : { delivery: { ...base, attempts: attempt - 1, outcome: 'WITHHELD', retryAt: null } };
}

function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}

function toUser({ bucket, userId }: UserKey): UserKey {
  return { bucket, userId };
}
