import type { Clock } from '../../clock.ts';
import { deliverySettings, queueUntil } from '../../domain/campaigns/delivery-settings.ts';
import { makeDecideEligibility } from '../../domain/eligibility/decide-eligibility.ts';
import type { Eligibility } from '../../domain/eligibility/decide-eligibility.ts';
import {
  eligibilityRulesOf,
  needsMessages,
  needsOpens,
  needsZone,
} from '../../domain/eligibility/eligibility-rules.ts';
import type { EligibilityRules } from '../../domain/eligibility/eligibility-rules.ts';
import { bestTimeOfTiming } from '../../domain/timing/timing.ts';
import { bestTimeDays } from '../../domain/timing/limits.ts';
import { localSendOf } from '../../domain/timing/local-send.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Logger } from '../../log.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findUsersForEligibility, reserveUserMessages } from '../../storage/users/user-messages.ts';
import type { StoredEligibilityUser } from '../../storage/users/user-messages.ts';
import { noOpens } from '../../storage/users/open-hours.ts';
import type { DeviceToDeliver } from './device-to-deliver.ts';
import { runLimitOf, seatUsers } from './seat-users.ts';

/** `fault`: it could not be decided, which is the user's outcome and nobody else's. */
export type Decision = Eligibility | { kind: 'fault' };

type Asked = { run: RunToSend; devices: DeviceToDeliver[] };

/**
 * Decides about the users of devices and records who is sent to, by `keyOf`; undefined when everybody is: a run without
 * controls and limit makes no query. Repeated for users whom another node changed in between, because two campaigns may reach a
 * cap together.
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
  let open = [...new Map(devices.map(({ device }) => [keyOf(device), toUser(device)])).values()];
  while (open.length > 0) {
    // One transaction per attempt: locks are taken in one order, and none is held while waiting for others.
    open = await inTransaction(database, async (tx) => {
      await planByValues(tx);
      const users = await findForEligibility(tx, { run, rules, users: open });
      for (const user of users) decisions.set(keyOf(user), decideOne(user));
      if (limit) {
        const { refused, eligibility } = await seatUsers(tx, { run, limit, users: users.filter(isSentTo), now });
        for (const user of refused) decisions.set(keyOf(user), eligibility);
      }
      const isNew = ({ messages, ...user }: StoredEligibilityUser): boolean =>
        isSentTo(user) && !messages.some(({ runId }) => runId === run.id);
      return writeDown(tx, { run, record: rules?.record ?? null, users: users.filter(isNew), now });
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

/** Opens before its start, whenever it is asked: what is opened meanwhile moves nobody. */
function opensOfRun(run: RunToSend): { since: Date; start: Date } {
  const start = startOf(run);
  return { since: new Date(start.getTime() - bestTimeDays * 86_400_000), start };
}

function startOf({ occurrence, startedAt, createdAt }: RunToSend): Date {
  return occurrence ?? startedAt ?? createdAt;
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

export function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}

function toUser({ bucket, userId }: UserKey): UserKey {
  return { bucket, userId };
}
