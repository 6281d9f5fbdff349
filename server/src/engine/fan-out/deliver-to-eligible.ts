import type { Clock } from '../../clock.ts';
import { deliverySettings, queueUntil } from '../../domain/campaigns/delivery-settings.ts';
import { makeDecideEligibility } from '../../domain/eligibility/decide-eligibility.ts';
import type { Eligibility } from '../../domain/eligibility/decide-eligibility.ts';
import { eligibilityRulesOf, needsMessages, needsZone } from '../../domain/eligibility/eligibility-rules.ts';
import type { EligibilityRules } from '../../domain/eligibility/eligibility-rules.ts';
import { localSendOf } from '../../domain/timing/local-send.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Logger } from '../../log.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findUsersForEligibility, reserveUserMessages } from '../../storage/users/user-messages.ts';
import type { StoredEligibilityUser } from '../../storage/users/user-messages.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import type { PersonaliseDevices } from './personalise-devices.ts';
import type { DeviceToDeliver } from './device-to-deliver.ts';
import { makeRunControlGroupOf } from './run-control-group-of.ts';
import { deliverVariants } from './deliver-variants.ts';
import { makeRunVariationOf } from './run-variation-of.ts';
import { countRunBadges } from './count-run-badges.ts';
import { failRecipient } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';

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
    const rules = eligibilityRulesOfRun(run);
    const controlGroupOf = makeRunControlGroupOf(run);
    const leftOut = new Map(controlGroupOf ? devices.map(({ device }) => [device, controlGroupOf(device.userId)]) : []);
    const meant = controlGroupOf ? devices.filter(({ device }) => !leftOut.get(device)) : devices;
    const eligibilities = rules && (await admitUsers(deps, { run, rules, devices: meant }));
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

/** `fault`: it could not be decided, which is the user's outcome and nobody else's. */
type Decision = Eligibility | { kind: 'fault' };
type Refusal = Exclude<Decision, { kind: 'send' }>;

export function eligibilityRulesOfRun(run: RunToSend): EligibilityRules | undefined {
  const { controls, isTest } = run;
  const localSend = localSendOf(fromStoredTiming(run.timing), run.occurrence);
  return eligibilityRulesOf({ settings: deliverySettings(run.settings), controls, localSend, isTest });
}

type Asked = { run: RunToSend; rules: EligibilityRules; devices: DeviceToDeliver[] };

/**
 * Decides and records; repeated for users whom another node changed in between, because two campaigns may reach a cap
 * together.
 */
async function admitUsers(
  { database, clock, log }: DeliverToEligibleDependencies,
  { run, rules, devices }: Asked,
): Promise<Map<string, Decision>> {
  const now = clock.now();
  const decide = makeDecideEligibility(rules, {
    run: {
      id: run.id,
      campaignId: run.campaignId,
      startedAt: run.startedAt ?? run.createdAt,
      sendUntil: run.sendUntil,
      queueUntil: queueUntil(deliverySettings(run.settings), run.sendUntil),
    },
    now,
  });
  const decideOne = (user: StoredEligibilityUser): Decision => {
    try {
      return decide(user);
    } catch (error) {
      log.error({ err: error, runId: run.id, userId: user.userId }, 'recipient failed');
      return { kind: 'fault' };
    }
  };
  const eligibilities = new Map<string, Decision>();
  let open = [...new Map(devices.map(({ device }) => [keyOf(device), toUser(device)])).values()];
  while (open.length > 0) {
    // One transaction per attempt: locks are taken in one order, and none is held while waiting for others.
    open = await inTransaction(database, async (tx) => {
      await planByValues(tx);
      const users = await findForEligibility(tx, { run, rules, users: open });
      for (const user of users) eligibilities.set(keyOf(user), decideOne(user));
      const isNew = ({ messages, ...user }: StoredEligibilityUser): boolean =>
        eligibilities.get(keyOf(user))!.kind === 'send' && !messages.some(({ runId }) => runId === run.id);
      return writeDown(tx, { run, record: rules.record, users: users.filter(isNew), now });
    });
  }
  return eligibilities;
}

type EligibilityQuery = { run: RunToSend; rules: EligibilityRules; users: UserKey[] };

function findForEligibility(
  tx: Transaction,
  { run, rules, users }: EligibilityQuery,
): Promise<StoredEligibilityUser[]> {
  return findUsersForEligibility(tx, {
    workspaceId: run.workspaceId,
    users,
    zoneAttribute: needsZone(rules) ? rules.zone.attribute : null,
    withMessages: needsMessages(rules) ? 'yes' : 'no',
  });
}

type Writing = { run: RunToSend; record: EligibilityRules['record']; users: StoredEligibilityUser[]; now: Date };

/** @returns the users to decide about again, because another node recorded a message to them in the meantime */
async function writeDown(tx: Transaction, { run, record, users, now }: Writing): Promise<UserKey[]> {
  if (record === null || users.length === 0) return [];
  const written = await reserveUserMessages(tx, {
    workspaceId: run.workspaceId,
    runId: run.id,
    campaignId: run.campaignId,
    at: now,
    isCounted: record.isCounted ? 'yes' : 'no',
    users,
  });
  const isWritten = new Set(written.map(keyOf));
  return users.filter((user) => !isWritten.has(keyOf(user))).map(toUser);
}

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
    default: {
      const never: never = eligibility;
      throw new Error(`unknown eligibility ${String(never)}`);
    }
  }
}

function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}

function toUser({ bucket, userId }: UserKey): UserKey {
  return { bucket, userId };
}
