/** A resource in the cycle of a window: cores, a thread, the streams of a connection. */
export type Station = {
  name: string;
  /** Equal resources that share the windows evenly: one for each node, or one for each database worker. */
  copies: number;
  /** `own`: the windows of a node use only its copy. */
  windows: 'own' | 'all';
  /** Servers of each copy: the cores of a host; 1 for a thread. */
  servers: number;
  /** Milliseconds that a window needs of all copies together. */
  milliseconds: number;
};

const iterations = 200;

/**
 * Returns how many windows end in a millisecond if `open` windows are always under way, by mean value analysis: a window finds
 * the mean queue of the others at each station (Schweitzer 1979). A station with several servers is one that is as much faster,
 * and a delay for the rest of its time (Seidmann 1987). With one window it gives 1 / the sum of all times; with many it
 * approaches the bound of the busiest station. Assumes even service times: of the window that is being served, half of its time
 * is left on average.
 */
export function solveClosed(
  stations: readonly Station[],
  { open, delayMilliseconds }: { open: number; delayMilliseconds: number },
): number {
  const each = stations.map(({ copies, servers, milliseconds }) => milliseconds / copies / servers);
  const delays = stations.map(({ servers, milliseconds }) => (milliseconds * (servers - 1)) / servers);
  const fixed = delays.reduce((sum, delay) => sum + delay, delayMilliseconds);
  let queues = stations.map(() => 0);
  let perMillisecond = 0;
  for (let round = 0; round < iterations; round += 1) {
    const times = stations.map(({ copies, windows }, index) => {
      const sharing = windows === 'own' ? open / copies : open;
      const others = Math.max(0, sharing - 1) / Math.max(1, sharing);
      const used = Math.min(1, perMillisecond * each[index]!);
      return each[index]! * (1 + Math.max(0, queues[index]! - used / 2) * others);
    });
    const cycle = times.reduce((sum, time, index) => sum + time * stations[index]!.copies, fixed);
    perMillisecond = open / cycle;
    // The mean with the queues before keeps a busy network from swinging.
    queues = queues.map((queue, index) => (queue + perMillisecond * times[index]!) / 2);
  }
  return Math.min(perMillisecond, ...stations.map(boundOf));
}

/** Returns the windows in a millisecond that a station allows: its capacity / their demand. */
export function boundOf({ copies, servers, milliseconds }: Station): number {
  return milliseconds === 0 ? Number.POSITIVE_INFINITY : (copies * servers) / milliseconds;
}

/**
 * Returns the share of the time in which a log is being flushed. Commits during a flush share the next one, so a disk never
 * limits a rate: it only makes each commit wait.
 */
export function flushShare({ commits, flushMilliseconds }: { commits: number; flushMilliseconds: number }): number {
  if (commits === 0 || flushMilliseconds === 0) return 0;
  const idle = Math.exp(-commits * flushMilliseconds) / commits;
  return flushMilliseconds / (flushMilliseconds + idle);
}

/** The distance of the 99th percentile of a normal distribution from its median, in deviations. */
const deviationsTo99th = 2.326;

/** Response times as a lognormal distribution, by its median and by how many times that its 99th percentile is. */
export type Latency = { median: number; spread: number };

export function meanLatency({ median, spread }: Latency): number {
  return median * Math.exp((Math.log(spread) / deviationsTo99th) ** 2 / 2);
}

/** Requests whose last one is sent after `sentAfter` milliseconds. */
export type Requests = { count: number; sentAfter: number; latency: Latency };

/** Returns the expected milliseconds until the last of all responses: the integral of the chance that one is missing. */
export function expectLastResponse(all: readonly Requests[]): number {
  const isAllThere = (at: number): number =>
    all.reduce((chance, { count, sentAfter, latency }) => {
      const deviation = Math.log(latency.spread) / deviationsTo99th;
      const since = at - sentAfter;
      if (since <= 0) return 0;
      if (deviation === 0) return since >= latency.median ? chance : 0;
      return chance * normalShare(Math.log(since / latency.median) / deviation) ** count;
    }, 1);
  const greatest = Math.max(0, ...all.map(({ latency, sentAfter }) => sentAfter + latency.median));
  const step = Math.max(0.25, greatest / 400);
  let expected = 0;
  for (let at = 0; at < greatest * 100; at += step) {
    const missing = 1 - isAllThere(at + step / 2);
    expected += missing * step;
    if (missing < 1e-6 && at > greatest) break;
  }
  return expected;
}

/** Returns the share of a normal distribution below this deviation (Abramowitz and Stegun 26.2.17, within 1e-7). */
export function normalShare(deviation: number): number {
  if (deviation < 0) return 1 - normalShare(-deviation);
  const t = 1 / (1 + 0.2316419 * deviation);
  const factors = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = factors.reduceRight((rest, factor) => t * (factor + rest), 0);
  return 1 - (Math.exp(-(deviation ** 2) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}
