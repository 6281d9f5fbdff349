import type { Clock } from '../../clock.ts';
import { slotsOfShare, turnShareOf } from '../../domain/campaigns/turn-shares.ts';
import type { Database, Lease } from '../../storage/database.ts';
import { claimChunks } from '../../storage/runs/chunks.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import { claimTurn, countTurn, keepTurn } from '../../storage/runs/turns.ts';

/** How often a worker looks, between windows, if others have work: after each window if a run waits. */
const lookMilliseconds = { waiting: 0, busy: 100, alone: 250 } as const;
/** After this time a chunk is given back if any other run has work. */
const turnMilliseconds = 1_000;
/** A window open for longer than this waits for a limit of its provider, or for a slow one. */
const slowMilliseconds = 1_000;

/** `usual`: one of the process's slots. `spare`: takes the place of a slot whose window is slow. */
export type SlotKind = 'usual' | 'spare';

export type FairSlotsDependencies = {
  database: Database;
  clock: Clock;
  owner: string;
  /** The usual slots for audiences. */
  slots: number;
  /** The part of the slots that one workspace may use. */
  workspacePercent: number;
  namedRuns?: 'apart' | undefined;
};

export type FairSlots = ReturnType<typeof makeFairSlots>;

/** Without `devices`, the chunk has no turn, such as one of named users; it is kept to its end. */
type Held = { shareId: string; kind: SlotKind; devices: number | undefined; windowSince: number | undefined };

/** A chunk in the hands of a slot. */
export type Turn = {
  /**
   * Returns true, between windows, if the chunk must be given back, because another run waits, or because this chunk had its turn
   * and another run has work.
   */
  mustEnd(): Promise<boolean>;
  /** Counts the turn for its workspace. */
  end(how: 'ended' | 'given back'): Promise<void>;
};

/**
 * Decides which chunk a slot for audiences sends next, and when it gives the chunk back (decision 0074). The order is in the
 * database; this process adds what it knows of its own slots: no workspace uses more than its part of them, and slots whose
 * window is slow are replaced by spare slots for other workspaces.
 */
export function makeFairSlots({ database, clock, owner, slots, workspacePercent, namedRuns }: FairSlotsDependencies) {
  const held = new Map<ClaimedChunk, Held>();
  const maxOfShare = slotsOfShare({ slots, percent: workspacePercent });
  let claims = 0;
  /** What the last look of any slot found. */
  let looked: { at: number; found: keyof typeof lookMilliseconds } = { at: 0, found: 'waiting' };
  const now = (): number => clock.realNow().getTime();
  const isSlow = ({ windowSince }: Held): boolean =>
    windowSince !== undefined && now() - windowSince >= slowMilliseconds;

  /** Workspaces whose chunks a slot of this kind does not claim. */
  function exceptOf(kind: SlotKind): string[] {
    const all = [...held.values()];
    const full = [...Map.groupBy(all, ({ shareId }) => shareId)]
      .filter(([, of]) => of.length >= maxOfShare && maxOfShare < slots)
      .map(([shareId]) => shareId);
    const slow = kind === 'spare' ? all.filter(isSlow).map(({ shareId }) => shareId) : [];
    return [...new Set([...full, ...slow])];
  }

  /** Returns how many spare slots may begin a chunk now; below 0: how many have to end. */
  function countSpare(): number {
    const all = [...held.values()];
    const slow = all.filter((of) => of.kind === 'usual' && isSlow(of)).length;
    return Math.min(slots, slow) - all.filter(({ kind }) => kind === 'spare').length;
  }

  return {
    /** Claims a chunk of an audience by turn; if there is none, one of any lane that has no turn yet. */
    async claim(kind: SlotKind, { at, lease }: { at: Date; lease: Lease }): Promise<ClaimedChunk | undefined> {
      const except = exceptOf(kind);
      claims += 1;
      const first = claims % 2 === 0 ? 'fair' : 'waiting';
      const claim = { owner, except, at, ...lease };
      const turn = await claimTurn(database, { ...claim, first });
      const chunk = turn ?? (await claimChunks(database, { ...claim, lastLane: 1, limit: 1, namedRuns }))[0];
      const devices = turn?.devices;
      if (chunk) held.set(chunk, { shareId: turnShareOf(chunk.workspaceId), kind, devices, windowSince: undefined });
      return chunk;
    },

    /** Call it when a claimed chunk is no longer worked on. */
    leave(chunk: ClaimedChunk): void {
      held.delete(chunk);
    },

    /** Runs a window of a chunk. */
    async noteWindow<Result>(chunk: ClaimedChunk, send: () => Promise<Result>): Promise<Result> {
      const of = held.get(chunk);
      if (of) of.windowSince = now();
      try {
        return await send();
      } finally {
        if (of) of.windowSince = undefined;
      }
    },

    countSpare,

    /** Begins the turn of a claimed chunk. */
    begin(chunk: ClaimedChunk): Turn {
      const of = held.get(chunk);
      const beganAt = now();
      return {
        async mustEnd() {
          const at = now();
          if (of?.devices === undefined || at - looked.at < lookMilliseconds[looked.found]) return false;
          const except = exceptOf(of.kind).filter((shareId) => shareId !== of.shareId);
          const { isWaiting, isAny } = await keepTurn(database, { runId: chunk.runId, except, at: new Date(at) });
          looked = { at, found: isWaiting ? 'waiting' : isAny ? 'busy' : 'alone' };
          if (of.kind === 'spare' && countSpare() < 0) return true;
          return isWaiting || (isAny && at - beganAt >= turnMilliseconds);
        },
        async end(how) {
          if (of?.devices === undefined) return;
          const endedDevices = how === 'ended' ? of.devices : 0;
          await countTurn(database, { runId: chunk.runId, milliseconds: now() - beganAt, endedDevices });
        },
      };
    },
  };
}
