import type { Clock } from '../../clock.ts';
import { deliverySettings, queueUntil } from '../../domain/campaigns/delivery-settings.ts';
import type { Platform, BadgeSetting } from '../../domain/content/content.ts';
import { badgeOf } from '../../domain/content/message.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import {
  makeDecideEligibility,
  eligibilityRulesOf,
  needsMessages,
  needsOpens,
  needsZone,
} from '../../domain/eligibility.ts';
import type { Eligibility, EligibilityRules } from '../../domain/eligibility.ts';
import { bestTimeDays } from '../../domain/limits/campaigns.ts';
import { localSendOf } from '../../domain/timing/local-send.ts';
import { bestTimeOfTiming, fromStoredTiming } from '../../domain/timing/timing.ts';
import { topicCodes, topicRefusal } from '../../domain/topics.ts';
import type { TopicCode } from '../../domain/topics.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { countBadges } from '../../storage/devices/device-badges.ts';
import type { BadgeStep } from '../../storage/devices/device-badges.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findTopicChoices } from '../../storage/users/topic-choices.ts';
import {
  findUsersForEligibility,
  reserveUserMessages,
  noOpens,
  withdrawUserMessages,
} from '../../storage/users/user-messages.ts';
import type { StoredEligibilityUser } from '../../storage/users/user-messages.ts';
import type { PersonaliseDevices, Recipient } from './compose-message.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import { makeRunControlGroupOf, deliverVariants, makeRunVariationOf } from './experiments.ts';
import { runLimitOf, seatUsers } from './seats.ts';
import { failRecipient } from './settle-outcome.ts';
import type { DeviceToDeliver, DeviceResult } from './settle-outcome.ts';

export type DeliverToEligibleDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  personaliseDevices: PersonaliseDevices;
  deliverToDevices: DeliverToDevices;
};

/** Delivers to devices of one run concurrently and returns the results in the order of the devices. */
export type DeliverToEligible = (run: RunToSend, devices: DeviceToDeliver[]) => Promise<DeviceResult[]>;

/**
 * Delivers to the devices of a window whose users are in no control group, are in the topic and are eligible now, and reports the
 * reason for the others. The control group is checked first, so that its users are neither counted nor held for later, and that it
 * stays comparable with the others, some of whom are not in the topic either. Texts are rendered for eligible users only.
 * Messages are recorded before they are sent: after a crash a message may be counted but never sent, but
 * no message is sent without being counted. A run without a topic and delivery controls makes no query.
 */
export function makeDeliverToEligible(deps: DeliverToEligibleDependencies): DeliverToEligible {
  const { database } = deps;
  const deliver = (run: RunToSend, admitted: DeviceToDeliver[]) => deliverContent(deps, { run, admitted });
  return async (run, devices) => {
    const controlGroupOf = makeRunControlGroupOf(run);
    const leftOut = new Map(controlGroupOf ? devices.map(({ device }) => [device, controlGroupOf(device.userId)]) : []);
    const meant = controlGroupOf ? devices.filter(({ device }) => !leftOut.get(device)) : devices;
    const topicRefusalOf = await makeRunTopicRefusalOf(database, { run, users: meant.map(({ device }) => device) });
    const inTopic = topicRefusalOf ? meant.filter(({ device }) => !topicRefusalOf(device.userId)) : meant;
    const eligibilities = await admitUsers(deps, { run, devices: inTopic });
    const refusalOf = (device: AudienceDevice): Refusal | undefined => {
      const code = leftOut.get(device) ?? topicRefusalOf?.(device.userId);
      if (code) return { kind: 'withhold', code };
      const eligibility = eligibilities?.get(keyOf(device));
      return eligibility?.kind === 'send' ? undefined : eligibility;
    };
    const admitted = eligibilities ? inTopic.filter(({ device }) => !refusalOf(device)) : inTopic;
    const variationOf = await makeRunVariationOf(database, { run, users: meant.map(({ device }) => device) });
    const sent = await deliverVariants({ database, run, devices: admitted, variationOf, deliver });
    if (admitted.length === devices.length) return sent;
    const results = sent.values();
    return devices.map((device) => {
      const refusal = refusalOf(device.device);
      if (!refusal) return results.next().value!;
      const { delivery } = toResult(device, refusal);
      // A user that was eligible for a variation counts for it, even though no message was sent.
      if (!variationOf || leftOut.get(device.device)) return { delivery };
      return { delivery: { ...delivery, variant: { variation: variationOf(device.device), locale: 0 } } };
    });
  };
}

/**
 * Returns a function that gives the reason why a user of the window is not in the run's topic. Undefined if the campaign names none,
 * and for a test of a campaign, which its receivers asked for. One statement for the whole window, and again for every
 * attempt: a user who leaves the topic while a message waits does not get it.
 */
export async function makeRunTopicRefusalOf(
  database: Database,
  { run, users: asked }: { run: RunToSend; users: readonly UserKey[] },
): Promise<((userId: string) => TopicCode | undefined) | undefined> {
  const { topic } = deliverySettings(run.settings);
  if (!topic || run.isTest || asked.length === 0) return undefined;
  const users = [...new Map(asked.map((user) => [keyOf(user), toUser(user)])).values()];
  const choices = await inTransaction(database, async (tx) => {
    await planByValues(tx);
    return findTopicChoices(tx, { workspaceId: run.workspaceId, topicId: topic.id, users });
  });
  return (userId) => topicRefusal(topic, choices.get(userId));
}

/** Delivers the content of a run to the admitted devices. */
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

/** `fault`: the decision failed for this user. Other users are not affected. */
type Decision = Eligibility | { kind: 'fault' };

type Asked = { run: RunToSend; devices: DeviceToDeliver[] };

/**
 * Returns the decision for each user of the devices, keyed by `keyOf`, and records the users to send to. Returns undefined if the
 * run has no controls and no limit: it sends to all users and makes no query. Two campaigns may reach a cap at the same time, so
 * the decision is repeated for users that another node has changed in the meantime.
 */
export async function admitUsers(
  { database, clock, log }: { database: Database; clock: Clock; log: Logger },
  { run, devices }: Asked,
): Promise<Map<string, Decision> | undefined> {
  const rules = eligibilityRulesOfRun(run);
  const limit = runLimitOf(run);
  if (!rules && !limit) return undefined;
  const now = clock.now();
  const decide = rules && makeDecideEligibility(rules, { run: eligibilityRunOf(run), now });
  const decideOne = (user: StoredEligibilityUser): Decision => {
    try {
      return decide ? decide(user) : { kind: 'send' };
    } catch (error) {
      log.error({ err: error, runId: run.id, userId: user.userId }, 'recipient failed');
      return { kind: 'fault' };
    }
  };
  const decisions = new Map<string, Decision>();
  const isSentTo = (user: UserKey): boolean => decisions.get(keyOf(user))!.kind === 'send';
  let undecided = [...new Map(devices.map(({ device }) => [keyOf(device), toUser(device)])).values()];
  while (undecided.length > 0) {
    // One transaction per pass. Each acquires its locks in the same order, and no lock is held while waiting for another pass.
    undecided = await inTransaction(database, async (tx) => {
      await planByValues(tx);
      const users = await findForEligibility(tx, { run, rules, users: undecided });
      for (const user of users) decisions.set(keyOf(user), decideOne(user));
      if (limit) {
        const { refused, eligibility } = await seatUsers(tx, { run, limit, users: users.filter(isSentTo), now });
        for (const user of refused) decisions.set(keyOf(user), eligibility);
      }
      const isNew = ({ messages, ...user }: StoredEligibilityUser): boolean =>
        isSentTo(user) && !messages.some(({ runId }) => runId === run.id);
      return recordMessages(tx, { run, record: rules?.record ?? null, users: users.filter(isNew), now });
    });
  }
  return decisions;
}

function eligibilityRunOf(run: RunToSend) {
  const { id, campaignId, startedAt, createdAt, sendUntil, settings } = run;
  return {
    ...{ id, campaignId, startedAt: startedAt ?? createdAt, start: startOf(run), sendUntil },
    queueUntil: queueUntil(deliverySettings(settings), sendUntil),
  };
}

export function eligibilityRulesOfRun(run: RunToSend): EligibilityRules | undefined {
  const { controls, isTest } = run;
  const timing = fromStoredTiming(run.timing);
  const [localSend, bestTime] = [localSendOf(timing, run.occurrence), bestTimeOfTiming(timing)];
  return eligibilityRulesOf({ settings: deliverySettings(run.settings), controls, localSend, bestTime, isTest });
}

type EligibilityQuery = { run: RunToSend; rules: EligibilityRules | undefined; users: UserKey[] };

async function findForEligibility(
  tx: Transaction,
  { run, rules, users }: EligibilityQuery,
): Promise<StoredEligibilityUser[]> {
  if (!rules) return users.map((user) => ({ ...user, timeZone: null, messages: [], opens: noOpens, revision: 0 }));
  return findUsersForEligibility(tx, {
    workspaceId: run.workspaceId,
    users,
    zoneAttribute: needsZone(rules) ? rules.zone.attribute : null,
    withMessages: needsMessages(rules) ? 'yes' : 'no',
    opensOf: needsOpens(rules) ? opensOfRun(run) : undefined,
  });
}

/** Selects message opens before the start of the run, so that later opens do not change a user's best time. */
function opensOfRun(run: RunToSend): { since: Date; start: Date } {
  const start = startOf(run);
  return { since: new Date(start.getTime() - bestTimeDays * 86_400_000), start };
}

function startOf({ occurrence, startedAt, createdAt }: RunToSend): Date {
  return occurrence ?? startedAt ?? createdAt;
}

type Writing = { run: RunToSend; record: EligibilityRules['record']; users: StoredEligibilityUser[]; now: Date };

/** @returns the users to decide about again, because another node recorded a message to them in the meantime */
async function recordMessages(tx: Transaction, { run, record, users, now }: Writing): Promise<UserKey[]> {
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

export function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}

function toUser({ bucket, userId }: UserKey): UserKey {
  return { bucket, userId };
}

/**
 * Returns the recipients with their badge numbers, counted before anything is sent. After a crash a badge may be counted but
 * never sent; the app's next report corrects it. A run whose content has no badge makes no query.
 */
export async function countRunBadges<Device extends Recipient>(
  database: Database,
  { run, recipients }: { run: RunToSend; recipients: readonly Device[] },
): Promise<readonly (Device & Recipient)[]> {
  if (!hasBadge(run)) return recipients;
  const steps: BadgeStep[] = [];
  const cleared = new Set<string>();
  for (const recipient of recipients) {
    const badge = badgeOf(contentOf(run, recipient));
    if (badge === undefined) continue;
    if (badge.operation === 'clear') cleared.add(recipient.id);
    const value = badge.operation === 'clear' ? 0 : badge.value;
    const { bucket, id: deviceId } = recipient;
    steps.push({ bucket, deviceId, adds: badge.operation === 'increment', value });
  }
  if (steps.length === 0) return recipients;
  // The same order in every transaction prevents deadlocks.
  steps.sort((one, other) => one.bucket - other.bucket || (one.deviceId < other.deviceId ? -1 : 1));
  const { workspaceId, number: runNumber } = run;
  const counted = await inTransaction(database, async (tx) => {
    await planByValues(tx);
    return countBadges(tx, { workspaceId, runNumber, steps });
  });
  return recipients.map((recipient) => {
    const value = counted.get(recipient.id);
    if (value === undefined) return recipient;
    const badge: BadgeSetting = cleared.has(recipient.id) ? { operation: 'clear' } : { operation: 'set', value };
    return { ...recipient, badge };
  });
}

function hasBadge({ content }: RunToSend): boolean {
  return Object.values(content).some((own) => badgeOf(own) !== undefined || badgeOf(own.fallback) !== undefined);
}

/** Returns the content that will be shown. A fallback has a separate badge. */
function contentOf(run: RunToSend, { platform, personal }: Recipient): OwnContent[Platform] | undefined {
  if (personal) return 'content' in personal ? personal.content : undefined;
  // The badge is the same in all languages.
  return run.content[platform];
}

type Settled = { run: RunToSend; chunk: 'HELD' | 'ENDED'; results: DeviceResult[] };

const failures = new Set(['GONE', 'REJECTED', 'EXPIRED', 'FAILED']);
const topicRefusals: ReadonlySet<string | null> = new Set(topicCodes);

/** True if the device will not get the message. A user may have left the topic after the message was recorded. */
function isUnsent({ outcome, code }: DeviceResult['delivery']): boolean {
  return failures.has(outcome) || (outcome === 'WITHHELD' && topicRefusals.has(code));
}

/**
 * Withdraws messages that no device of a user accepted, so that they count against no cap. Runs in the transaction that stores
 * the outcomes. A run whose messages are not recorded makes no query.
 */
export async function withdrawUnsent(tx: Transaction, { run, chunk, results }: Settled): Promise<void> {
  if (!eligibilityRulesOfRun(run)?.record) return;
  const users = new Map<string, UserKey>();
  for (const { delivery } of results)
    if (isUnsent(delivery))
      users.set(`${delivery.bucket}/${delivery.userId}`, { bucket: delivery.bucket, userId: delivery.userId });
  if (users.size === 0) return;
  await planByValues(tx);
  const { workspaceId, day, id: runId, number: runNumber } = run;
  await withdrawUserMessages(tx, { workspaceId, runId, runNumber, day, chunk, users: [...users.values()] });
}
