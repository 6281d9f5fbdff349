import type { EventQueue } from './event-queue.ts';

/** A limited resource: cores, a thread, the disk of a log, a lock. */
export type Station = {
  name: string;
  /** Uses one of its servers for this long, after earlier work. */
  work(milliseconds: number, done: () => void): void;
  /** Returns the busy time of all its servers so far. */
  busyMilliseconds(): number;
  servers: number;
};

export type StationOptions = {
  name: string;
  servers: number;
  /** Longer work alternates with other work, as processes on a core do; if absent, work is done in one piece. */
  sliceMilliseconds?: number;
};

type Work = { left: number; done: () => void };

/** First come, first served. */
export function makeStation(queue: EventQueue, { name, servers, sliceMilliseconds }: StationOptions): Station {
  const slice = sliceMilliseconds ?? Number.POSITIVE_INFINITY;
  const waiting = makeLine<Work>();
  let working = 0;
  let busy = 0;

  function begin(work: Work): void {
    working += 1;
    const piece = Math.min(work.left, slice);
    queue.after(piece, () => {
      working -= 1;
      busy += piece;
      work.left -= piece;
      if (work.left > 0) waiting.push(work);
      const next = waiting.shift();
      if (next) begin(next);
      if (work.left <= 0) work.done();
    });
  }

  return {
    name,
    servers,
    work(milliseconds, done) {
      const work = { left: milliseconds, done };
      if (working < servers) begin(work);
      else waiting.push(work);
    },
    busyMilliseconds: () => busy,
  };
}

/**
 * The single thread of a process: it works in order, on a core of its host. Only its working time counts, not the time it waits
 * for a core.
 */
export function makeThread(name: string, host: Station): Station {
  const waiting = makeLine<Work>();
  let isWorking = false;
  let busy = 0;

  function begin({ left, done }: Work): void {
    isWorking = true;
    host.work(left, () => {
      busy += left;
      isWorking = false;
      const next = waiting.shift();
      if (next) begin(next);
      done();
    });
  }

  return {
    name,
    servers: 1,
    work(milliseconds, done) {
      const work = { left: milliseconds, done };
      if (isWorking) waiting.push(work);
      else begin(work);
    },
    busyMilliseconds: () => busy,
  };
}

/** The flushes of a write-ahead log: requests during a flush share the next one, which is one write for all. */
export type LogDisk = Station & { flushes(): number };

export function makeLogDisk(
  queue: EventQueue,
  { name, flushMilliseconds }: { name: string; flushMilliseconds: number },
) {
  let next: (() => void)[] = [];
  let isFlushing = false;
  let busy = 0;
  let flushes = 0;

  function flush(): void {
    isFlushing = true;
    const together = next;
    next = [];
    queue.after(flushMilliseconds, () => {
      busy += flushMilliseconds;
      flushes += 1;
      isFlushing = false;
      if (next.length > 0) flush();
      for (const done of together) done();
    });
  }

  const disk: LogDisk = {
    name,
    servers: 1,
    work(_milliseconds, done) {
      next.push(done);
      if (!isFlushing) flush();
    },
    busyMilliseconds: () => busy,
    flushes: () => flushes,
  };
  return disk;
}

/** A queue that removes its front in constant time. */
function makeLine<Item>() {
  let items: Item[] = [];
  let first = 0;
  return {
    push: (item: Item): void => void items.push(item),
    shift(): Item | undefined {
      if (first === items.length) return undefined;
      const item = items[first]!;
      first += 1;
      if (first > 1_000 && first * 2 > items.length) {
        items = items.slice(first);
        first = 0;
      }
      return item;
    },
  };
}
