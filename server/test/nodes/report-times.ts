import { until } from '../rig/fleet.ts';
import type { Fleet } from '../rig/fleet.ts';

/** What was seen in a round, and the promises that were broken. */
export type Report = { numbers: Record<string, number | string>; broken: string[] };

export type Times = ReturnType<typeof startTimes>;

/** Far above every limit: what comes late is measured too. */
const patienceSeconds = 240;

/** Seconds from a call of `measure` until something is so, several at a time; each kind has a limit. */
export function startTimes<Kind extends string>(limits: Record<Kind, number>) {
  const seen: { what: string; seconds: number; limit: number }[] = [];
  const measured: Promise<void>[] = [];
  return {
    measure(kind: Kind, what: string, isSo: () => Promise<boolean>): void {
      const begin = performance.now();
      const note = (): void =>
        void seen.push({ what, seconds: (performance.now() - begin) / 1000, limit: limits[kind] });
      const look = async (): Promise<true | undefined> => ((await isSo()) ? true : undefined);
      measured.push(until(what, { seconds: patienceSeconds, look }).then(note, note));
    },
    async settled(): Promise<void> {
      await Promise.all(measured);
    },
    numbers: (): Report['numbers'] =>
      Object.fromEntries(seen.map(({ what, seconds }) => [`${what}, after s`, Math.round(seconds * 10) / 10])),
    broken: (): string[] =>
      seen.flatMap(({ what, seconds, limit }) => (seconds > limit ? [`${what} within ${limit} s`] : [])),
  };
}

/** Nothing is under way any more. */
export async function settleAll({ observer }: Pick<Fleet, 'observer'>): Promise<void> {
  await until('the end of every run', {
    seconds: 240,
    async look() {
      const rows = await observer`select 1 from runs where status in ('QUEUED', 'SENDING') limit 1`;
      return rows.length === 0 ? true : undefined;
    },
  });
}
