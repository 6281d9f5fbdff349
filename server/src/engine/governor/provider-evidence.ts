import type { Clock } from '../../clock.ts';
import {
  canProbe,
  isHealthy,
  judgeAnswer,
  maxEvidenceDevices,
  rememberAnswers,
  weighEvidence,
} from '../../domain/delivery/evidence.ts';
import type { AccountEffect, EvidenceKey, Hold, Seen, Verdict } from '../../domain/delivery/evidence.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { findAcceptedDevices, findAppDevices } from '../../storage/devices/suspected-devices.ts';
import type { LedgerDevice } from '../../storage/devices/suspected-devices.ts';
import { listWaitingForKey, makeDue } from '../../storage/ledger/due-deliveries.ts';
import {
  claimProbe,
  holdKey,
  listHolds,
  lockEvidence,
  releaseKey,
  storeEvidence,
  listKeysToProbe,
  releaseCheckedKeys,
} from '../../storage/limits/governor.ts';
import type { EvidenceOwner, HeldKey } from '../../storage/limits/governor.ts';
import { continueMendedRuns } from '../../storage/runs/run-refusals.ts';
import type { Job } from '../jobs/job.ts';

/** The key of a batch, and its owner. */
export type BatchKey = EvidenceKey & Omit<EvidenceOwner, 'key'>;

/** An ambiguous code in a window. */
export type AmbiguousCode = {
  code: string;
  detail: string;
  effect: AccountEffect;
  /** The code drops its device if it concerns the device. */
  isDrop: boolean;
  /** How long the provider asked to wait, in seconds. Undefined if it did not say. */
  retryAfterSeconds: number | undefined;
};

export type Judgement = {
  verdict: Verdict;
  /** True if the key's other devices show that its credential works. A suspicion only counts if this is true. */
  isHealthy: boolean;
  /** The hold, if the verdict is `account`. */
  hold?: Hold;
};

/**
 * The recent outcomes of each credential's devices, on all nodes. They decide whether an ambiguous response concerns the device
 * or the credential, and which credentials are held (decision 0064). Never rejects: without the database a node decides by its
 * own observations.
 */
export type Evidence = {
  /** The holds in force, at most a second old. */
  findHolds(): Promise<ReadonlyMap<string, Hold>>;
  /** Records accepted devices of a window. */
  noteAccepted(key: BatchKey, deviceIds: readonly string[]): void;
  /** Judges the ambiguous codes of a window by all of its responses and the remembered ones. Holds the key if necessary. */
  judge(
    key: BatchKey,
    window: { answers: readonly Seen[]; codes: readonly AmbiguousCode[] },
  ): Promise<Map<string, Judgement>>;
  /** Holds a key if its provider definitely refuses the credential. */
  hold(key: BatchKey, refusal: { code: string; detail: string }): Promise<void>;
  /** Records that a message to this device failed while the key was held. The next probe goes to another device. */
  noteFailed(key: BatchKey, failed: { deviceId: string; code: string }): Promise<void>;
  /**
   * Returns the devices that a provider has ever accepted a message for, as far back as the ledger goes. Meant for a few
   * devices.
   */
  findAccepted(devices: readonly LedgerDevice[]): Promise<Set<string>>;
  /**
   * Returns the devices that registered themselves through a public route and were never accepted. A stranger may have made
   * them up, so their failures say nothing about a credential.
   */
  findUnproven(sent: SentDevices): Promise<Set<string>>;
  /**
   * True if a message to this device may probe whether a held key works again. One probe every five seconds across all nodes.
   */
  mayProbe(hold: Hold, deviceId: string): Promise<boolean>;
  /** Releases a held key, because one of its devices was accepted. */
  release(key: string): Promise<void>;
};

export type SentDevices = { workspaceId: string; devices: readonly LedgerDevice[] };

export type EvidenceDependencies = { database: Database; clock: Clock; log: Logger };

const freshMilliseconds = 1_000;
/** A rarely used key is stored with each send, a busy key at this interval. */
const storeMilliseconds = 60_000;
/** One message of a held key is sent per interval. */
export const probeMilliseconds = 5_000;
const defaultPauseSeconds = 60;
// Keys are credentials, bundles and push services. Subscriptions name the push services, so the number must be bounded.
const maxKeys = 10_000;

export function makeEvidence(deps: EvidenceDependencies): Evidence {
  const { database, clock, log } = deps;
  const holds = makeHolds(deps);
  const memory = makeMemory(deps);
  return {
    findHolds: holds.find,
    noteAccepted(key, deviceIds) {
      const at = clock.now().getTime();
      memory.note(
        key,
        deviceIds.map((deviceId) => ({ deviceId, code: null, at })),
      );
    },
    async judge(key, window) {
      const judgements = await memory.judge(key, window);
      for (const { hold } of judgements.values())
        if (hold && holds.add(hold))
          log.warn({ key: hold.key, code: hold.code, until: hold.until }, 'a credential is held: its devices wait');
      return judgements;
    },
    async hold(key, { code, detail }) {
      const hold = { key: key.text, code, detail, until: null };
      holds.add({ ...hold, remembered: await memory.hold(key, hold) });
    },
    noteFailed: (key, { deviceId, code }) => memory.store(key, [{ deviceId, code, at: clock.now().getTime() }]),
    async mayProbe(hold, deviceId) {
      const at = clock.now();
      if (!canProbe(hold, { deviceId, now: at.getTime() })) return false;
      const before = new Date(at.getTime() - probeMilliseconds);
      return claimProbe(database, { key: hold.key, at, before }).catch(() => false);
    },
    findAccepted: (devices) =>
      findAcceptedDevices(database, devices).catch((error: unknown) => {
        log.debug({ err: error }, 'accepted devices were not read');
        return new Set<string>();
      }),
    findUnproven: (sent) =>
      findUnproven(database, sent).catch((error: unknown) => {
        log.debug({ err: error }, 'self-registered devices were not read');
        return new Set<string>();
      }),
    async release(key) {
      holds.remove(key);
      log.info({ key }, 'a held credential works again: its devices are sent to');
      await memory.release(key);
    },
  };
}

/** Of many devices only an even sample is searched in the ledger: as many as a key remembers. The others stay unproven. */
async function findUnproven(database: Database, sent: SentDevices): Promise<Set<string>> {
  const ofApps = await findAppDevices(database, sent);
  const own = sent.devices.filter(({ id }) => ofApps.has(id));
  const step = Math.max(1, own.length / maxEvidenceDevices);
  const sample = own.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
  const accepted = await findAcceptedDevices(database, sample);
  return new Set([...ofApps].filter((id) => !accepted.has(id)));
}

/** The holds in force, read from the database once a second. If the database is unavailable, the last known holds. */
function makeHolds({ database, clock, log }: EvidenceDependencies) {
  let holds = new Map<string, Hold>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  return {
    async find(): Promise<ReadonlyMap<string, Hold>> {
      const now = clock.realNow().getTime();
      if (Math.abs(now - readAt) < freshMilliseconds) return holds;
      reading ??= listHolds(database, clock.now())
        .then((rows) => {
          holds = new Map(rows.map((hold) => [hold.key, hold]));
        })
        .catch((error: unknown) => log.debug({ err: error }, 'holds were not read'))
        .finally(() => {
          readAt = now;
          reading = undefined;
        });
      await reading;
      return holds;
    },
    /** @returns true if this node did not know of a hold on the key before */
    add(hold: Hold): boolean {
      const isNew = !holds.has(hold.key);
      holds.set(hold.key, hold);
      return isNew;
    },
    remove: (key: string): boolean => holds.delete(key),
  };
}

/** `remembered`: responses that this node has not stored yet. */
type Known = { remembered: Seen[]; storedAt: number };

/** The remembered responses of keys: those of all nodes in the database, and this node's latest. */
function makeMemory({ database, clock, log }: EvidenceDependencies) {
  const known = new Map<string, Known>();
  const inEvidence = makeInEvidence({ database, log });

  /**
   * Adds responses to a key's row, including those that this node has not stored yet. @returns what was remembered before
   * `answers`
   */
  async function storeIn(
    tx: Transaction,
    { key, answers }: { key: BatchKey; answers: readonly Seen[] },
  ): Promise<Seen[]> {
    const at = clock.now();
    const now = at.getTime();
    const own = knownOf(known, key.text);
    const mine = own.remembered;
    own.remembered = [];
    const stored = await lockEvidence(tx, { ...ownerOf(key), at });
    const before = rememberAnswers(stored, { answers: mine, now });
    const after = answers.length === 0 ? before : rememberAnswers(before, { answers, now });
    await storeEvidence(tx, { key: key.text, remembered: after, at });
    return before;
  }

  const store = async (key: BatchKey, answers: readonly Seen[]): Promise<void> =>
    void (await inEvidence((tx) => storeIn(tx, { key, answers }), []));

  return {
    store,
    note(key: BatchKey, answers: readonly Seen[]): void {
      const now = clock.now().getTime();
      const own = knownOf(known, key.text);
      own.remembered = rememberAnswers(own.remembered, { answers, now });
      if (Math.abs(now - own.storedAt) < storeMilliseconds) return;
      own.storedAt = now;
      void store(key, []);
    },
    async judge(key: BatchKey, window: Omit<Window, 'remembered' | 'now'>): Promise<Map<string, Judgement>> {
      const now = clock.now();
      const own = knownOf(known, key.text);
      const mine = own.remembered;
      // Other nodes may be judging the same code: the first acceptance after responses without one must reach them at once.
      const hasAccepted = window.answers.some(({ code }) => code === null);
      own.storedAt = hasAccepted ? now.getTime() : Number.NEGATIVE_INFINITY;
      const judgements = await inEvidence<Map<string, Judgement> | undefined>(async (tx) => {
        const remembered = await storeIn(tx, { key, answers: window.answers });
        const judged = judgeCodes(key, { ...window, remembered, now });
        for (const { hold } of judged.values()) if (hold) await holdKey(tx, { ...hold, at: now, isSure: false });
        return judged;
      }, undefined);
      if (judgements) return judgements;
      own.remembered = rememberAnswers(mine, { answers: window.answers, now: now.getTime() });
      return judgeCodes(key, { ...window, remembered: mine, now });
    },
    hold: (key: BatchKey, hold: Omit<Hold, 'remembered'>): Promise<Seen[]> =>
      inEvidence(async (tx) => {
        const at = clock.now();
        const remembered = await lockEvidence(tx, { ...ownerOf(key), at });
        await holdKey(tx, { ...hold, at, isSure: true });
        return remembered;
      }, []),
    async release(key: string): Promise<void> {
      known.delete(key);
      await inEvidence((tx) => releaseKey(tx, { key, at: clock.now() }), undefined);
    },
  };
}

function knownOf(known: Map<string, Known>, key: string): Known {
  let found = known.get(key);
  if (!found) {
    found = { remembered: [], storedAt: Number.NEGATIVE_INFINITY };
    known.set(key, found);
    if (known.size > maxKeys) known.delete(known.keys().next().value!);
  }
  return found;
}

/** Returns a function that runs a transaction, and returns `instead` if the database is unavailable. */
function makeInEvidence({ database, log }: Pick<EvidenceDependencies, 'database' | 'log'>) {
  return async <T>(work: (tx: Transaction) => Promise<T>, instead: T): Promise<T> => {
    try {
      return await inTransaction(database, work);
    } catch (error) {
      log.warn({ err: error }, 'evidence of provider answers is not shared');
      return instead;
    }
  };
}

function ownerOf({ text, workspaceId, provider, appId }: BatchKey): EvidenceOwner {
  return { key: text, workspaceId, provider, appId };
}

type Window = {
  remembered: readonly Seen[];
  answers: readonly Seen[];
  codes: readonly AmbiguousCode[];
  now: Date;
};

function judgeCodes(key: BatchKey, { remembered, answers, codes, now }: Window): Map<string, Judgement> {
  const judgements = new Map<string, Judgement>();
  for (const { code, detail, effect, isDrop, retryAfterSeconds } of codes) {
    const weighed = weighEvidence(remembered, { answers, code, now: now.getTime() });
    const verdict = judgeAnswer({ weighed, effect, isDrop, canHold: key.canHold });
    const seconds = retryAfterSeconds ?? defaultPauseSeconds;
    const until = effect === 'pause' ? new Date(now.getTime() + seconds * 1000) : null;
    judgements.set(code, {
      verdict,
      isHealthy: isHealthy(weighed),
      ...(verdict === 'account' && {
        hold: { key: key.text, code, detail, until, remembered: answers.slice(-maxEvidenceDevices) },
      }),
    });
  }
  return judgements;
}

export type ProbeHeldKeysDependencies = { database: Database; clock: Clock; onDue: () => void };

const maxKeysToProbe = 100;
/** More than a key remembers, so that at least one of them has not failed recently. */
const waitingDevices = 25;

/**
 * The job that probes whether held credentials work again. Every five seconds it makes one message of each held key due, for a
 * device that has not failed recently. The worker that claims the message requests the probe (`mayProbe`), so that only one of
 * several nodes sends. The first accepted message releases the key.
 */
export function makeProbeHeldKeys({ database, clock, onDue }: ProbeHeldKeysDependencies): Job {
  return {
    name: 'probe-held-keys',
    intervalMilliseconds: probeMilliseconds,
    async runOnce(now) {
      const before = new Date(now.getTime() - probeMilliseconds);
      const keys = await listKeysToProbe(database, { before, limit: maxKeysToProbe });
      let due = 0;
      for (const key of keys) due += await probe({ database, clock }, key);
      if (due > 0) onDue();
      return 0;
    },
  };
}

async function probe(
  { database, clock }: Pick<ProbeHeldKeysDependencies, 'database' | 'clock'>,
  { key, code, remembered }: HeldKey,
): Promise<0 | 1> {
  const now = clock.now();
  const waiting = await listWaitingForKey(database, { key, code, limit: waitingDevices });
  const hold = { key, code, detail: '', until: null, remembered };
  const next = waiting.find(({ deviceId }) => canProbe(hold, { deviceId, now: now.getTime() }));
  if (!next) return 0;
  await makeDue(database, { ...next, at: now });
  return 1;
}

export type ContinueMendedRunsDependencies = { database: Database; clock: Clock; onContinued: () => void };

/**
 * The job that sends messages that wait for a refused credential once it is replaced, a device of the held key was accepted, or
 * a recheck showed that the provider accepts it. Messages that workers held in the meantime, because of cached refusals, are
 * found in the next run.
 */
export function makeContinueMendedRuns({ database, clock, onContinued }: ContinueMendedRunsDependencies): Job {
  return {
    name: 'continue-mended-runs',
    intervalMilliseconds: 2_000,
    async runOnce() {
      await releaseCheckedKeys(database, clock.now());
      const continued = await continueMendedRuns(database, clock.now());
      if (continued > 0) onContinued();
      // Not again immediately: for two seconds a worker may still have the refusal cached, and the messages would be refused
      // repeatedly.
      return 0;
    },
  };
}
