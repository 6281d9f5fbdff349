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
import { findAcceptedDevices } from '../../storage/devices/suspected-devices.ts';
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

/** The key of a batch, and whose it is. */
export type BatchKey = EvidenceKey & Omit<EvidenceOwner, 'key'>;

/** An ambiguous code of a window. */
export type AmbiguousCode = {
  code: string;
  detail: string;
  effect: AccountEffect;
  /** The code drops its device when it concerns the device. */
  isDrop: boolean;
  /** How long the provider asked to wait; undefined if it did not say. */
  retryAfterSeconds: number | undefined;
};

export type Judgement = {
  verdict: Verdict;
  /** True if the key's other devices show that its credential works: only then a suspicion counts. */
  isHealthy: boolean;
  /** The hold, if the verdict is `account`. */
  hold?: Hold;
};

/**
 * What each credential's devices got lately, on all nodes: it decides whom an ambiguous answer concerns, and which
 * credentials are held (decision 0064). Never rejects: without the database a node decides by what it saw itself.
 */
export type Evidence = {
  /** The holds in force, at most a second old. */
  findHolds(): Promise<ReadonlyMap<string, Hold>>;
  /** Accepted devices of a window. */
  noteAccepted(key: BatchKey, deviceIds: readonly string[]): void;
  /** Decides about the ambiguous codes of a window, from all of its answers and the remembered ones. Holds the key if need be. */
  judge(
    key: BatchKey,
    window: { answers: readonly Seen[]; codes: readonly AmbiguousCode[] },
  ): Promise<Map<string, Judgement>>;
  /** Holds a key whose credential the provider refuses for sure. */
  hold(key: BatchKey, refusal: { code: string; detail: string }): Promise<void>;
  /** A message to this device did not find a held key to work: the next one goes to another device. */
  noteFailed(key: BatchKey, failed: { deviceId: string; code: string }): Promise<void>;
  /** Those of a few devices that a provider has ever accepted a message for, as far as the ledger reaches back. */
  findAccepted(devices: readonly LedgerDevice[]): Promise<Set<string>>;
  /** True if a message to this device may find out whether a held key works again: one every five seconds on all nodes. */
  mayProbe(hold: Hold, deviceId: string): Promise<boolean>;
  /** A device of a held key was accepted. */
  release(key: string): Promise<void>;
};

export type EvidenceDependencies = { database: Database; clock: Clock; log: Logger };

const freshMilliseconds = 1_000;
/** A quiet key is stored with each send, a busy one this often. */
const storeMilliseconds = 60_000;
/** One message of a held key goes this often. */
export const probeMilliseconds = 5_000;
const defaultPauseSeconds = 60;
// Keys are as many as credentials, bundles and push services; subscriptions name the last, so there is a bound.
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
    async release(key) {
      holds.remove(key);
      log.info({ key }, 'a held credential works again: its devices are sent to');
      await memory.release(key);
    },
  };
}

/** The holds in force, read from the database once a second; without it, as they were known. */
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
    /** @returns true if the key was not held before, as far as this node knew */
    add(hold: Hold): boolean {
      const isNew = !holds.has(hold.key);
      holds.set(hold.key, hold);
      return isNew;
    },
    remove: (key: string): boolean => holds.delete(key),
  };
}

/** `remembered`: answers that this node has not stored yet. */
type Known = { remembered: Seen[]; storedAt: number };

/** The remembered answers of keys: those of all nodes in the database, and the latest of this one. */
function makeMemory({ database, clock, log }: EvidenceDependencies) {
  const known = new Map<string, Known>();

  function knownOf(key: string): Known {
    let found = known.get(key);
    if (!found) {
      found = { remembered: [], storedAt: Number.NEGATIVE_INFINITY };
      known.set(key, found);
      if (known.size > maxKeys) known.delete(known.keys().next().value!);
    }
    return found;
  }

  /** Adds answers to a key's row, and what this node has not stored yet. @returns what was remembered before the answers */
  async function storeIn(
    tx: Transaction,
    { key, answers }: { key: BatchKey; answers: readonly Seen[] },
  ): Promise<Seen[]> {
    const at = clock.now();
    const now = at.getTime();
    const own = knownOf(key.text);
    const mine = own.remembered;
    own.remembered = [];
    const stored = await lockEvidence(tx, { ...ownerOf(key), at });
    const before = rememberAnswers(stored, { answers: mine, now });
    const after = answers.length === 0 ? before : rememberAnswers(before, { answers, now });
    await storeEvidence(tx, { key: key.text, remembered: after, at });
    return before;
  }

  async function inEvidence<T>(work: (tx: Transaction) => Promise<T>, instead: T): Promise<T> {
    try {
      return await inTransaction(database, work);
    } catch (error) {
      log.warn({ err: error }, 'evidence of provider answers is not shared');
      return instead;
    }
  }

  const store = async (key: BatchKey, answers: readonly Seen[]): Promise<void> =>
    void (await inEvidence((tx) => storeIn(tx, { key, answers }), []));

  return {
    store,
    note(key: BatchKey, answers: readonly Seen[]): void {
      const now = clock.now().getTime();
      const own = knownOf(key.text);
      own.remembered = rememberAnswers(own.remembered, { answers, now });
      if (Math.abs(now - own.storedAt) < storeMilliseconds) return;
      own.storedAt = now;
      void store(key, []);
    },
    async judge(key: BatchKey, window: Omit<Window, 'remembered' | 'now'>): Promise<Map<string, Judgement>> {
      const now = clock.now();
      const own = knownOf(key.text);
      const mine = own.remembered;
      own.storedAt = now.getTime();
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
/** More than a key remembers, so that one of them has not failed lately. */
const waitingDevices = 25;

/**
 * The job that finds out whether held credentials work again: every five seconds it makes one message of each due, to a device
 * that has not failed lately. The worker that claims the message asks for the turn (`mayProbe`), so of several nodes one
 * sends. The first accepted message releases the key.
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
 * The job that sends the messages that wait for a refused credential when there is another one, when a device of the held key
 * was accepted, or when the provider accepted the credential as it was checked again. Messages that workers held meanwhile,
 * by what they remembered, are found the next time.
 */
export function makeContinueMendedRuns({ database, clock, onContinued }: ContinueMendedRunsDependencies): Job {
  return {
    name: 'continue-mended-runs',
    intervalMilliseconds: 2_000,
    async runOnce() {
      await releaseCheckedKeys(database, clock.now());
      const continued = await continueMendedRuns(database, clock.now());
      if (continued > 0) onContinued();
      // Not again at once: for two seconds a worker may still know what was refused, and would be refused again and again.
      return 0;
    },
  };
}
