/** Simulated events in order of time, on a clock that jumps from one event to the next. */
export type EventQueue = {
  /** Milliseconds since the simulation began. */
  now(): number;
  /** Events at the same instant run in the order of their registration. */
  after(milliseconds: number, happen: () => void): void;
  /** Runs events until none is left or `isOver`. */
  run(isOver: () => boolean): void;
  happened(): number;
};

type Event = { at: number; number: number; happen: () => void };

/** A binary heap: windows, waits and polls of a whole cluster are a few thousand events at any time. */
export function makeEventQueue(): EventQueue {
  const heap: Event[] = [];
  let now = 0;
  let asked = 0;
  let happened = 0;

  function add(event: Event): void {
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[place] = heap[parent]!;
      place = parent;
    }
    heap[place] = event;
  }

  function takeFirst(): Event {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = last;
    return first;
  }

  return {
    now: () => now,
    after(milliseconds, happen) {
      if (!(milliseconds >= 0)) throw new RangeError(`an event in ${milliseconds} ms`);
      add({ at: now + milliseconds, number: (asked += 1), happen });
    },
    run(isOver) {
      while (heap.length > 0 && !isOver()) {
        const event = takeFirst();
        now = event.at;
        happened += 1;
        event.happen();
      }
    },
    happened: () => happened,
  };
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
