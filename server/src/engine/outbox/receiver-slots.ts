/** A third-party server that messages of one workspace are posted to. */
export type Receiver = {
  workspaceId: string;
  /** Identifies the receiver within its workspace. */
  key: string;
  host: string;
};

/** How an attempt to post to a receiver ended. `none`: nothing was posted. */
export type ContactKind = 'answered' | 'silent' | 'none';

/** The right to post one message, until it is released. */
export type Slot = { receiver: Receiver; isDoubtful: boolean };

export type ReceiverSlots = {
  free(): number;
  /**
   * Assigns the free slots. Workspaces take turns, those with the fewest slots first, and each workspace's receivers take
   * turns. `receivers` are in the order in which they are due.
   */
  take(receivers: readonly Receiver[]): Slot[];
  /** Releases a slot and records what the attempt shows about the receiver. */
  giveBack(slot: Slot, contact: { kind: ContactKind; milliseconds: number }): void;
};

export type SlotLimits = { total: number; perWorkspace: number; perHost: number; perReceiver: number };

/**
 * Limits of one node, for receivers of callbacks and, separately, for receivers of event streams. An attempt is a waiting
 * socket, so slots are cheap. A receiver that never responds may hold each of them for 15 s. Many workspaces may share a host
 * (a webhook relay), so the limit per host is above the limit per workspace.
 */
export const receiverSlotLimits: SlotLimits = { total: 256, perWorkspace: 32, perHost: 64, perReceiver: 8 };

/** A response within this time doubles the number of concurrent requests to a receiver. */
const quickMilliseconds = 2_000;
/** A response slower than this halves the number of concurrent requests, and the receiver counts as doubtful. */
const slowMilliseconds = 5_000;
/** The maximum number of receivers kept in memory. The state of other receivers is only in the database. */
const maxRemembered = 10_000;

type Tally = { held: number; doubtful: number };
type Known = { held: number; max: number; isDoubtful: boolean };

/**
 * Shares the slots of this node among receivers. A receiver begins with one request at a time. It gets more as it responds
 * quickly, and goes back to one when it does not respond. A receiver is doubtful if its last attempt got no response or a slow
 * one. Doubtful receivers together get at most half of all slots, and half of those of their workspace and host, so that other
 * receivers always find free slots.
 */
export function makeReceiverSlots(limits: SlotLimits = receiverSlotLimits): ReceiverSlots {
  const total: Tally = { held: 0, doubtful: 0 };
  const workspaces = new Map<string, Tally>();
  const hosts = new Map<string, Tally>();
  const receivers = new Map<string, Known>();

  const tallyOf = (tallies: Map<string, Tally>, key: string): Tally => tallies.get(key) ?? { held: 0, doubtful: 0 };
  const knownOf = (receiver: Receiver): Known =>
    receivers.get(keyOf(receiver)) ?? { held: 0, max: 1, isDoubtful: false };

  function mayTake(receiver: Receiver): boolean {
    const { held, max, isDoubtful } = knownOf(receiver);
    const isBelow = (tally: Tally, limit: number): boolean =>
      tally.held < limit && (!isDoubtful || tally.doubtful < Math.ceil(limit / 2));
    return (
      held < max &&
      isBelow(total, limits.total) &&
      isBelow(tallyOf(workspaces, receiver.workspaceId), limits.perWorkspace) &&
      isBelow(tallyOf(hosts, receiver.host), limits.perHost)
    );
  }

  function count({ receiver, isDoubtful }: Slot, by: 1 | -1): void {
    const add = (tally: Tally): Tally => {
      tally.held += by;
      if (isDoubtful) tally.doubtful += by;
      return tally;
    };
    add(total);
    for (const [tallies, key] of [[workspaces, receiver.workspaceId] as const, [hosts, receiver.host] as const]) {
      const tally = add(tallyOf(tallies, key));
      if (tally.held === 0) tallies.delete(key);
      else tallies.set(key, tally);
    }
    const known = knownOf(receiver);
    // Inserted again: the newest come last, so that the first entries are the least recently used.
    receivers.delete(keyOf(receiver));
    receivers.set(keyOf(receiver), { ...known, held: known.held + by });
  }

  function forget(): void {
    for (const [key, { held }] of receivers) {
      if (receivers.size <= maxRemembered) return;
      if (held === 0) receivers.delete(key);
    }
  }

  return {
    free: () => limits.total - total.held,
    take(due) {
      const queues = [...Map.groupBy(due, ({ workspaceId }) => workspaceId)]
        .map(([workspaceId, queue]) => ({ queue, held: tallyOf(workspaces, workspaceId).held }))
        .toSorted((one, other) => one.held - other.held)
        .map(({ queue }) => queue.toSorted((one, other) => knownOf(one).held - knownOf(other).held));
      return takeInTurns(queues, (receiver) => {
        if (!mayTake(receiver)) return undefined;
        const slot = { receiver, isDoubtful: knownOf(receiver).isDoubtful };
        count(slot, 1);
        return slot;
      });
    },
    giveBack(slot, { kind, milliseconds }) {
      count(slot, -1);
      const known = knownOf(slot.receiver);
      receivers.set(keyOf(slot.receiver), { ...known, ...updateKnown(known, { kind, milliseconds, limits }) });
      forget();
    },
  };
}

/** Takes a slot for each queue in turn, until no queue has a receiver that may take one. */
function takeInTurns(queues: Receiver[][], takeSlot: (receiver: Receiver) => Slot | undefined): Slot[] {
  const slots: Slot[] = [];
  let left = queues;
  // Each pass assigns a slot to every queue or drops the queue. Passes are bounded by the slots and by the receivers without a
  // free slot.
  while (left.length > 0)
    left = left.filter((queue) => {
      for (let receiver = queue.shift(); receiver; receiver = queue.shift()) {
        const slot = takeSlot(receiver);
        if (!slot) continue;
        slots.push(slot);
        queue.push(receiver);
        return true;
      }
      return false;
    });
  return slots;
}

type Ended = { kind: ContactKind; milliseconds: number; limits: SlotLimits };

function updateKnown({ max, isDoubtful }: Known, { kind, milliseconds, limits }: Ended): Omit<Known, 'held'> {
  if (kind === 'none') return { max, isDoubtful };
  if (kind === 'silent') return { max: 1, isDoubtful: true };
  if (milliseconds > slowMilliseconds) return { max: Math.max(1, Math.floor(max / 2)), isDoubtful: true };
  return { max: milliseconds > quickMilliseconds ? max : Math.min(limits.perReceiver, max * 2), isDoubtful: false };
}

function keyOf({ workspaceId, key }: Receiver): string {
  return `${workspaceId} ${key}`;
}
