import type { Clock } from '../../clock.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { decideAdmissions } from '../../domain/eligibility/decide-eligibility.ts';
import type { Admission } from '../../domain/eligibility/decide-eligibility.ts';
import { deliveryGateOf, needsMessages, needsZone } from '../../domain/eligibility/eligibility-rules.ts';
import type { DeliveryGate } from '../../domain/eligibility/eligibility-rules.ts';
import { maxCapHours } from '../../domain/eligibility/workspace-controls.ts';
import { localSendOf } from '../../domain/timing/local-send.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Database, Transaction } from '../../storage/pool.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { planByValues } from '../../storage/plan-by-values.ts';
import { findUsersAtGate, reserveUserMessages } from '../../storage/users/user-messages.ts';
import type { UserAtGate } from '../../storage/users/user-messages.ts';
import type { UserKey } from '../../storage/users/users.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import type { PersonaliseDevices } from './personalise-devices.ts';
import type { DeviceResult } from './send-window.ts';

export type DeliverThroughGateDependencies = {
  database: Database;
  clock: Clock;
  personaliseDevices: PersonaliseDevices;
  deliverToDevice: DeliverToDevice;
};

export type DeviceToDeliver = { device: AudienceDevice; attempt: number };

/** Delivers to devices of one run side by side; the results stand in the order of the devices. */
export type DeliverThroughGate = (run: RunToSend, devices: DeviceToDeliver[]) => Promise<DeviceResult[]>;

/**
 * Delivers to those devices of a window whose users may be sent to now, and says of the others why not. Texts are made for
 * the former alone. The messages are written down before they leave: a crash may count one that never left, and never
 * sends one that was not counted. A run without a gate asks the database nothing.
 */
export function makeDeliverThroughGate(deps: DeliverThroughGateDependencies): DeliverThroughGate {
  return async (run, devices) => {
    const gate = gateOfRun(run);
    const admissions = gate && (await admitUsers(deps, { run, gate, devices }));
    const refusalOf = (device: AudienceDevice): Refusal | undefined => {
      const admission = admissions?.get(keyOf(device));
      return admission?.kind === 'send' ? undefined : admission;
    };
    const admitted = devices.flatMap(({ device }) => (refusalOf(device) ? [] : [device]));
    const recipients = (await deps.personaliseDevices(run, admitted)).values();
    return Promise.all(
      devices.map(({ device, attempt }) => {
        const refusal = refusalOf(device);
        return refusal
          ? toResult({ device, attempt }, refusal)
          : deps.deliverToDevice(run, recipients.next().value!, attempt);
      }),
    );
  };
}

type Refusal = Exclude<Admission, { kind: 'send' }>;

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
  const decide = decideAdmissions(gate, {
    run: {
      id: run.id,
      campaignId: run.campaignId,
      startedAt: run.startedAt ?? run.createdAt,
      sendUntil: run.sendUntil,
    },
    now,
  });
  const admissions = new Map<string, Admission>();
  let open = [...new Map(devices.map(({ device }) => [keyOf(device), toUser(device)])).values()];
  while (open.length > 0) {
    // One transaction a try: locks are taken in one order, and none is held while others are waited for.
    open = (await database.begin(async (tx) => {
      await planByValues(tx);
      const users = await findAtGate(tx, { run, gate, users: open });
      for (const user of users) admissions.set(keyOf(user), decide(user));
      const isNew = ({ messages, ...user }: UserAtGate): boolean =>
        admissions.get(keyOf(user))!.kind === 'send' && !messages.some(({ runId }) => runId === run.id);
      return writeDown(tx, { run, record: gate.record, users: users.filter(isNew), now });
    })) as UserKey[];
  }
  return admissions;
}

type AtGate = { run: RunToSend; gate: DeliveryGate; users: UserKey[] };

function findAtGate(tx: Transaction, { run, gate, users }: AtGate): Promise<UserAtGate[]> {
  return findUsersAtGate(tx, {
    workspaceId: run.workspaceId,
    users,
    zoneAttribute: needsZone(gate) ? gate.zone.attribute : null,
    withMessages: needsMessages(gate) ? 'yes' : 'no',
  });
}

type Writing = { run: RunToSend; record: DeliveryGate['record']; users: UserAtGate[]; now: Date };

/** @returns those who must be asked about again, because another node wrote down a message of theirs meanwhile */
async function writeDown(tx: Transaction, { run, record, users, now }: Writing): Promise<UserKey[]> {
  if (record === null || users.length === 0) return [];
  const written = await reserveUserMessages(tx, {
    workspaceId: run.workspaceId,
    runId: run.id,
    campaignId: run.campaignId,
    at: now,
    isCounted: record.isCounted ? 'yes' : 'no',
    forgottenUntil: new Date(now.getTime() - keptMilliseconds),
    users,
  });
  const isWritten = new Set(written.map(keyOf));
  return users.filter((user) => !isWritten.has(keyOf(user))).map(toUser);
}

// As long as the longest cap or delay can be.
const keptMilliseconds = maxCapHours * 3_600_000;

function toResult({ device, attempt }: DeviceToDeliver, admission: Refusal): DeviceResult {
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
