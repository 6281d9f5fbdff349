import { cpus } from 'node:os';

/** A part of the measured whole, with its processor time so far. */
export type ProcessorPart = { name: string; readSeconds(): Promise<number> };

/** What one measured piece of work took of the machine. */
export type ProcessorShares = {
  /** Microseconds of processor time an item, by part; `others` is what the machine did beside the parts. */
  microseconds: Record<string, number>;
  /** Of all cores, while it ran. A rate is the machine's limit when this is near nought. */
  idleShare: number;
};

/**
 * Begins to watch where the machine's processor time goes. What limits a rate shows only when every part is counted: sender,
 * database, receiver, and the kernel's idle time.
 *
 * @returns what was used since then, for so many items
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

/** As one line. */
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
