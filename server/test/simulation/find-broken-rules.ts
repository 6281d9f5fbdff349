import type { Clock } from '../../src/clock.ts';
import { maxDeliveryAttempts } from '../../src/domain/limits/delivery.ts';
import { isInUserZone, zoneSpanHours } from '../../src/domain/timing/local-send.ts';
import type { Database } from '../../src/storage/database.ts';
import { findMiscounts } from '../rig/audit.ts';
import type { AccountTroubles, TrueAnswer } from './simulated-answers.ts';
import type { SelfPause } from './simulated-store.ts';
import { isQuietTime } from './simulated-world.ts';
import type { World, WorldCampaign } from './simulated-world.ts';
import { findScopeFaults } from './find-scope-faults.ts';
import type { SimulatedProviders, SimulatedRequest, Wave } from './simulated-providers.ts';
import type { SimulatedWorker } from './simulated-worker.ts';

export type Facts = {
  database: Database;
  world: World;
  clock: Clock;
  providers: SimulatedProviders;
  troubles: AccountTroubles;
  selfPauses: readonly SelfPause[];
  lateSendMinutes: number;
  workers: () => SimulatedWorker[];
};

type StoredRun = {
  id: string;
  campaignId: string;
  occurrence: Date | null;
  status: string;
  reason: string | null;
  createdAt: Date;
  startedAt: Date | null;
  bound: string | null;
};
type StoredDelivery = { runId: string; deviceId: string; outcome: string; code: string | null; attempts: number };

type Seen = Facts & {
  runs: StoredRun[];
  deliveries: StoredDelivery[];
  gone: Set<string>;
  requestsOf: Map<string, SimulatedRequest[]>;
};

/** The promises of reliability R2 to R7, and who may wait for whose answer, after everything has come to rest. @returns those that were broken */
export async function findBrokenRules(facts: Facts): Promise<string[]> {
  const { database } = facts;
  const runs = await database<StoredRun[]>`
    select id, campaign_id as "campaignId", moment as occurrence, status, status_reason as reason,
      created_at as "createdAt", started_at as "startedAt", audience_bound as bound
    from runs order by created_at, id`;
  const deliveries = await database<StoredDelivery[]>`
    select run_id as "runId", device_id as "deviceId", outcome, code, attempts from readable_deliveries as deliveries`;
  const gone = await database<{ id: string; state: string }[]>`select id, state from devices where state <> 'ACTIVE'`;
  const requestsOf = Map.groupBy(facts.providers.requests, ({ runId, deviceId }) => `${runId}/${deviceId}`);
  const seen: Seen = { ...facts, runs, deliveries, gone: new Set(gone.map(({ id }) => id)), requestsOf };
  const faults = facts
    .workers()
    .flatMap(({ name, faults }) => faults.map((fault) => `${name} threw ${String((fault as Error).stack)}`));
  return [
    ...faults,
    ...findLost(seen),
    ...findUntrue(seen),
    ...findRepeats(seen),
    ...findHurried(seen),
    ...findUnwanted(seen),
    ...findOccurrences(seen),
    ...findLateStores(seen),
    ...findScopeFaults({
      ...seen,
      dropped: new Set(gone.flatMap(({ id, state }) => (state === 'GONE' ? [id] : []))),
      rejected: new Set(
        // Attempts that ended with their workers count, so only a first attempt is certain to have been given up early.
        deliveries.flatMap(({ runId, deviceId, outcome, attempts }) =>
          outcome === 'REJECTED' && attempts === 1 ? [`${runId}/${deviceId}`] : [],
        ),
      ),
    }),
    ...(await findMiscounted(seen)),
  ];
}

/** Everybody a finished run was to reach has one row of the ledger, with a final outcome (reliability R2). */
function findLost({ runs, deliveries, world, gone }: Seen): string[] {
  const rows = Map.groupBy(deliveries, ({ runId }) => runId);
  return runs.flatMap((run) => {
    const found = new Map((rows.get(run.id) ?? []).map((row) => [row.deviceId, row]));
    const name = world.nameOf(run.id, run.campaignId);
    const waiting = [...found.values()].filter(({ outcome }) => outcome === 'WAITING');
    const open =
      run.status === 'SENT' || run.status === 'STOPPED'
        ? waiting.map(({ deviceId }) => `${name} ${world.nameOf(deviceId)} still waits`)
        : [];
    if (run.status !== 'SENT') return open;
    const { users } = campaignOf(world, run);
    const wanted = world.devices.filter(
      ({ id, userId }) => id <= run.bound! && !gone.has(id) && (!users || users.has(userId)),
    );
    const lost = wanted
      .filter(({ id }) => !found.has(id))
      .map((device) => `${name} lost ${device.name} (reliability R2)`);
    const early = world.devices.filter(
      ({ id, userId }) => found.has(id) && (id > run.bound! || (users && !users.has(userId))),
    );
    return [...open, ...lost, ...early.map((device) => `${name} reached ${device.name}, who is not of its audience`)];
  });
}

/** What the ledger says is what a provider answered, by the truth of the answer. */
function findUntrue({ runs, deliveries, world, requestsOf, providers }: Seen): string[] {
  const isSent = new Set(runs.filter(({ status }) => status === 'SENT').map(({ id }) => id));
  return deliveries.flatMap((row) => {
    const name = `${world.nameOf(row.runId)} ${world.nameOf(row.deviceId)}`;
    const requests = requestsOf.get(`${row.runId}/${row.deviceId}`) ?? [];
    const known = requests.filter((request) => request.answeredAt !== undefined && request.wave.end === 'stored');
    const last = known.at(-1)?.given;
    const isUnsure = requests.some(({ given, wave }) => wave.end === 'unsure' && isTold(row, given));
    if (isUnsure) return [];
    if (isEnd(row) && !(last && isTold(row, last)))
      return [`${name} is ${row.outcome}, and the last stored answer was ${last?.word}`];
    if (!isEnd(row) && last?.final !== undefined)
      return [`${name} is ${row.outcome}, and its provider said ${last.word}`];
    if (isEnd(row)) return [];
    // Whom three workers in a row died with, before a request of theirs had left, is not sent to by a fourth (fault F16).
    const isSetAside = row.code === 'SET_ASIDE' && providers.deathsBefore(row.runId, row.deviceId) >= 3;
    const isUntried =
      row.outcome === 'WITHHELD' || row.outcome === 'EXPIRED' || row.code === 'DEVICE_LEFT' || isSetAside;
    return requests.length > 0 || isUntried || !isSent.has(row.runId)
      ? []
      : [`${name} is ${row.outcome} without a request (reliability R2)`];
  });
}

/** An outcome that only an answer can bring. */
function isEnd({ outcome, code }: StoredDelivery): boolean {
  return outcome === 'ACCEPTED' || outcome === 'REJECTED' || (outcome === 'GONE' && code !== 'DEVICE_LEFT');
}

/** Whether such an answer may lead to such a row. Who was dropped wrongly is found by the state of the device. */
function isTold({ outcome }: StoredDelivery, { final, about }: TrueAnswer): boolean {
  if (final !== undefined) return outcome === final;
  return outcome !== 'ACCEPTED' && about !== 'passing';
}

/** A request is repeated after a crash or an answer that asks for it, under the same identity; tries are bounded (reliability R3). */
function findRepeats({ requestsOf, world }: Seen): string[] {
  return [...requestsOf.values()].flatMap((requests) => {
    const name = nameOf(world, requests[0]!);
    const broken: string[] = [];
    for (const [index, request] of requests.entries()) {
      const next = requests[index + 1];
      if (!next) break;
      if (request.given.final !== undefined && !isLost(request.wave))
        broken.push(
          `${name} was sent again at ${new Date(next.realAt).toISOString()} after ${request.given.word} was stored (reliability R3)`,
        );
      if (request.wave === next.wave) broken.push(`${name} was sent twice by one window (reliability R3)`);
      if (next.collapseId !== request.collapseId || next.messageId !== request.messageId)
        broken.push(`${name} was repeated under another identity (reliability R3)`);
    }
    const lost = requests.filter(({ wave }) => isLost(wave)).length;
    // An answer about the account says nothing of the device, and is no attempt of it.
    const uncounted = requests.filter(
      ({ given }) => given.about === 'account' || given.word === 'UNREACHABLE' || given.word.includes('sporadic'),
    ).length;
    if (requests.length > maxDeliveryAttempts + lost + uncounted)
      broken.push(`${name} was tried ${requests.length} times (reliability R5)`);
    return broken;
  });
}

/** Never before `Retry-After`, neither for the device nor, where the account is concerned, for anybody of it (reliability R5). */
function findHurried({ requestsOf, providers, world }: Seen): string[] {
  const own = [...requestsOf.values()].flatMap((requests) =>
    requests.slice(1).flatMap((request, index) => {
      const { given, wave, answeredAt, at } = requests[index]!;
      if (answeredAt === undefined || isLost(wave)) return [];
      const { waitSeconds = 0 } = given;
      return request.at - at >= waitSeconds * 1000
        ? []
        : [
            `${nameOf(world, request)} was tried after ${(request.at - at) / 1000} s, not ${waitSeconds} s (reliability R5)`,
          ];
    }),
  );
  const asked = providers.requests.filter(
    ({ given, answeredAt }) => answeredAt !== undefined && given.about === 'account' && given.waitSeconds !== undefined,
  );
  const ofAccount = asked.flatMap((refused) => {
    const { given, wave, answeredAt, account, at, realAt } = refused;
    const silentUntil = at + (answeredAt! - realAt) + given.waitSeconds! * 1000;
    return (
      providers.requests
        .filter((request) => request.account === account && request.realAt > answeredAt! && request.at < silentUntil)
        // Another node is told within a second; a worker that answers late is one that stood still.
        .filter((request) => request.wave.worker === wave.worker || request.at > at + (answeredAt! - realAt) + 1_000)
        .map(
          (request) =>
            `${nameOf(world, request)} was sent although ${account} was to wait ${given.waitSeconds} s since ${new Date(answeredAt!).toISOString()} (reliability R5)`,
        )
    );
  });
  return [...own, ...ofAccount];
}

/** Nothing goes out after a stop or in a pause but windows that were under way, in quiet hours, or before its time. */
function findUnwanted({ providers, world, runs }: Seen): string[] {
  const campaignOfRun = new Map(runs.map((run) => [run.id, campaignOf(world, run)]));
  const deviceOf = new Map(world.devices.map((device) => [device.id, device]));
  return providers.requests.flatMap((request, index) => {
    const campaign = campaignOfRun.get(request.runId)!;
    const name = nameOf(world, request);
    const last = campaign.changes.findLast((change) => change.requestsBefore <= index);
    const isStopped = last !== undefined && last.action !== 'resume' && request.wave.beganAt > last.realAt;
    const { timeZone } = deviceOf.get(request.deviceId)!;
    const isQuiet =
      world.hasQuietHours && !campaign.settings.bypassesQuietHours && isQuietTime(localTimeOf(request.at, timeZone));
    return [
      ...(isStopped ? [`${name} was sent after ${last.action}`] : []),
      ...(isQuiet ? [`${name} was sent in quiet hours`] : []),
    ];
  });
}

/** One run of each occurrence, or a row that says it was missed and rightly so (reliability R4). */
function findOccurrences({ runs, world, lateSendMinutes }: Seen): string[] {
  return world.campaigns.flatMap((campaign) => {
    const own = runs.filter(({ campaignId, occurrence }) => campaignId === campaign.id && occurrence !== null);
    const got = own.map(({ occurrence }) => occurrence!.getTime());
    const invented = got
      .filter((at) => !campaign.occurrences.includes(at))
      .map(
        (at) => `${campaign.name} was fired at ${new Date(at).toISOString()}, which is no occurrence (reliability R4)`,
      );
    const twice =
      got.length === new Set(got).size ? [] : [`${campaign.name} fired an occurrence twice (reliability R4)`];
    // A recurring campaign goes on after a pause with its next occurrence; one that is stopped has none.
    const missing =
      campaign.changes.length > 0
        ? []
        : campaign.occurrences
            .filter((at) => !got.includes(at))
            .map((at) => `${campaign.name} skipped ${new Date(at).toISOString()} silently (reliability R4)`);
    const lateMilliseconds = (lateSendMinutes + (isInUserZone(campaign.timing) ? zoneSpanHours * 60 : 0)) * 60_000;
    const wrong = own.flatMap(({ status, occurrence, createdAt }) => {
      const late = createdAt.getTime() - occurrence!.getTime();
      const hasLater = campaign.occurrences.some((at) => at > occurrence!.getTime() && at <= createdAt.getTime());
      const mayMiss = late > lateMilliseconds || hasLater;
      // Late by less than a minute more is not later in the words of the rule.
      if (status === 'MISSED' && !mayMiss)
        return [`${campaign.name} missed ${occurrence!.toISOString()} for nothing (reliability R4)`];
      return status !== 'MISSED' && late > lateMilliseconds + 60_000
        ? [`${campaign.name} was ${late / 60_000} minutes late (reliability R4)`]
        : [];
    });
    return [...invented, ...twice, ...missing, ...wrong];
  });
}

/** A chunk changes hands only after its worker died, stood still for a lease, or gave it back. */
function findLateStores({ workers, world, providers }: Seen): string[] {
  const hasSent = new Map(providers.requests.map((request) => [request.wave, request]));
  return workers().flatMap(({ name, process, waves }) =>
    waves
      .filter((wave) => wave.end === 'lost' && hasSent.has(wave) && process.state === 'alive' && !process.outlivedLease)
      .map((wave) => `${name} lost the window of ${nameOf(world, hasSent.get(wave)!)} although it held its lease`),
  );
}

async function findMiscounted({ database, world }: Seen): Promise<string[]> {
  return (await findMiscounts(database)).map(
    ({ runId, outcome, counted, stored }) =>
      `${world.nameOf(runId)} counts ${counted} ${outcome}, and the ledger has ${stored}`,
  );
}

function isLost(wave: Wave): boolean {
  return wave.end !== 'stored';
}

function campaignOf(world: World, { campaignId }: { campaignId: string }): WorldCampaign {
  return world.campaigns.find(({ id }) => id === campaignId)!;
}

function nameOf(world: World, { runId, deviceId }: { runId: string; deviceId: string }): string {
  return `${world.nameOf(runId)} ${world.nameOf(deviceId)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** By Intl, so that this is not the arithmetic it checks. */
function localTimeOf(at: number, timeZone: string): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  formats.set(timeZone, format);
  return format.format(at);
}
