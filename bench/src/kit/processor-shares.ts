import { cpus } from 'node:os';

/** A part of the measured whole, with its processor time so far. */
export type ProcessorPart = { name: string; readSeconds(): Promise<number> };

/** The machine's usage by one measured piece of work. */
export type ProcessorShares = {
  /** Microseconds of processor time per item, by part; `others` is the rest of the machine. */
  microseconds: Record<string, number>;
  /** The idle share of all cores while it ran. If it is near zero, a rate is the machine's limit. */
  idleShare: number;
};

/**
 * Starts to record where the machine's processor time goes. The limit of a rate is visible only if every part is counted:
 * sender, database, receiver, and the kernel's idle time.
 *
 * @returns a function that returns the usage since then, for this many items
 */
export async function watchProcessor(
  parts: readonly ProcessorPart[],
): Promise<(items: number) => Promise<ProcessorShares>> {
  const read = async (): Promise<{ machine: Machine; seconds: number[] }> => ({
    machine: readMachine(),
    seconds: await Promise.all(parts.map((part) => part.readSeconds())),
  });
  const before = await read();
  return async (items) => {
    const after = await read();
    const used = parts.map((_, index) => after.seconds[index]! - before.seconds[index]!);
    const busy = after.machine.busySeconds - before.machine.busySeconds;
    const idle = after.machine.idleSeconds - before.machine.idleSeconds;
    const others = Math.max(0, busy - used.reduce((sum, seconds) => sum + seconds, 0));
    const ofItem = (seconds: number): number => (seconds / items) * 1e6;
    const named = parts.map(({ name }, index) => [name, ofItem(used[index]!)] as const);
    return {
      microseconds: { ...Object.fromEntries(named), others: ofItem(others) },
      idleShare: idle / (busy + idle),
    };
  };
}

/** Formats the shares as one line. */
export function presentShares({ microseconds, idleShare }: ProcessorShares): string {
  const parts = Object.entries(microseconds).map(([name, each]) => `${name} ${each.toFixed(1)}`);
  return `µs of CPU an item: ${parts.join(', ')}; ${(idleShare * 100).toFixed(0)} % of the machine idle`;
}

type Machine = { busySeconds: number; idleSeconds: number };

function readMachine(): Machine {
  let [busySeconds, idleSeconds] = [0, 0];
  for (const { times } of cpus()) {
    busySeconds += (times.user + times.nice + times.sys + times.irq) / 1000;
    idleSeconds += times.idle / 1000;
  }
  return { busySeconds, idleSeconds };
}
