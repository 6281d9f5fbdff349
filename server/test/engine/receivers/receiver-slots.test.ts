import { describe, expect, test } from 'vitest';
import { makeReceiverSlots } from '../../../src/engine/outbox/receiver-slots.ts';
import type { ContactKind, Receiver, ReceiverSlots, Slot } from '../../../src/engine/outbox/receiver-slots.ts';

const limits = { total: 16, perWorkspace: 8, perHost: 12, perReceiver: 4 };
const receiver = (workspaceId: string, host: string): Receiver => ({ workspaceId, key: `https://${host}`, host });
const hosts = (workspaceId: string, count: number): Receiver[] =>
  Array.from({ length: count }, (_, number) => receiver(workspaceId, `host-${number}.example`));
const countBy = (slots: Slot[], of: (receiver: Receiver) => string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const slot of slots) counts[of(slot.receiver)] = (counts[of(slot.receiver)] ?? 0) + 1;
  return counts;
};

/** Lets attempts at a receiver end, one after another. */
function end(slots: ReceiverSlots, to: Receiver, ...contacts: [ContactKind, number][]): void {
  for (const [kind, milliseconds] of contacts) {
    const [slot, ...others] = slots.take([to]);
    for (const other of others) slots.giveBack(other, { kind: 'none', milliseconds: 0 });
    slots.giveBack(slot!, { kind, milliseconds });
  }
}

describe('a receiver', () => {
  const one = receiver('a', 'one.example');

  test.each<{ contacts: [ContactKind, number][]; slots: number }>([
    { contacts: [], slots: 1 },
    { contacts: [['answered', 10]], slots: 2 },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['answered', 10],
      ],
      slots: 4,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 3_000],
      ],
      slots: 2,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['answered', 9_000],
      ],
      slots: 2,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['silent', 15_000],
      ],
      slots: 1,
    },
    {
      contacts: [
        ['answered', 10],
        ['none', 0],
      ],
      slots: 2,
    },
  ])('gets $slots slots after $contacts', ({ contacts, slots: expected }) => {
    const slots = makeReceiverSlots(limits);
    end(slots, one, ...contacts);
    expect(slots.take([one])).toHaveLength(expected);
  });

  test('gets no more while it holds what it may', () => {
    const slots = makeReceiverSlots(limits);
    const [held] = slots.take([one]);
    expect(slots.take([one])).toEqual([]);
    slots.giveBack(held!, { kind: 'none', milliseconds: 0 });
    expect(slots.take([one])).toHaveLength(1);
  });
});

describe('slots', () => {
  test('go to workspaces in turn, those that hold the fewest first', () => {
    const slots = makeReceiverSlots(limits);
    slots.take(hosts('a', 3));
    const taken = slots.take([...hosts('a', 20).slice(3), ...hosts('b', 20), ...hosts('c', 1)]);
    expect(countBy(taken, ({ workspaceId }) => workspaceId)).toEqual({ a: 5, b: 7, c: 1 });
    expect(slots.free()).toBe(0);
  });

  test('of a workspace are limited, whatever the number of its receivers', () => {
    const slots = makeReceiverSlots(limits);
    expect(slots.take(hosts('a', 20))).toHaveLength(8);
    expect(slots.free()).toBe(8);
  });

  test('of a host are limited, whatever the number of workspaces that post to it', () => {
    const slots = makeReceiverSlots(limits);
    const relay = Array.from({ length: 20 }, (_, number) => receiver(`workspace-${number}`, 'relay.example'));
    expect(slots.take(relay)).toHaveLength(12);
    expect(slots.take([receiver('other', 'other.example')])).toHaveLength(1);
  });

  test('are held by doubtful receivers up to half: of the workspace, of the host, and of all', () => {
    const slots = makeReceiverSlots(limits);
    const silent = ['a', 'b', 'c'].flatMap((workspaceId) => hosts(workspaceId, 8));
    for (const each of silent) end(slots, each, ['silent', 15_000]);
    const taken = slots.take(silent);
    expect(taken).toHaveLength(8);
    expect(Math.max(...Object.values(countBy(taken, ({ workspaceId }) => workspaceId)))).toBeLessThanOrEqual(4);
    // Workspace `a` has room for a receiver that nothing is known of, and so has each host.
    expect(slots.take([receiver('a', 'new.example')])).toHaveLength(1);
    expect(slots.take([receiver('d', 'host-0.example')])).toHaveLength(1);
  });

  test('of a doubtful receiver that answers again are given back as doubtful ones', () => {
    const slots = makeReceiverSlots(limits);
    const silent = hosts('a', 8);
    for (const each of silent) end(slots, each, ['silent', 15_000]);
    for (let round = 0; round < 3; round += 1) {
      const taken = slots.take(silent);
      expect(taken.filter(({ isDoubtful }) => isDoubtful).length).toBeLessThanOrEqual(4);
      for (const slot of taken) slots.giveBack(slot, { kind: 'answered', milliseconds: 5 });
      expect(slots.free()).toBe(limits.total);
    }
  });
});
