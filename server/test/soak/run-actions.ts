import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../rig/random.ts';
import type { Ledger } from './audit.ts';
import type { CallNode, SoakBundle } from './bundle.ts';
import type { SoakTally } from './report.ts';

/** One kind of thing that callers do, again and again. */
export type SoakAction = {
  name: string;
  everySeconds: number;
  /** @param ending aborted when the load ends */
  run(ending: AbortSignal): Promise<void>;
};

export type LoadContext = { bundle: SoakBundle; ledger: Ledger; time: SandboxTime };

type RunningLoad = { stop(): Promise<void> };

/**
 * Does every action at its own pace, from half to one and a half times its interval: no two runs fall into step, and a
 * seed repeats the choices. One that takes longer than its interval is not done twice at the same time.
 */
export function runLoad(actions: readonly SoakAction[], { random, tally }: { random: Random; tally: SoakTally }) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const lanes = actions.map(async ({ name, everySeconds, run }) => {
    while (!signal.aborted) {
      const milliseconds = everySeconds * (0.5 + random.next()) * 1_000;
      await wait(milliseconds, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await run(signal).catch((error: unknown) => tally.fault(`${name}: ${(error as Error).stack}`));
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  } satisfies RunningLoad;
}

/** The time of the installation, which the load itself moves. */
type SandboxTime = {
  now(): Date;
  /** Reads it again. */
  follow(): Promise<void>;
  /** Moves it forward, and comes back when it is there; what becomes due on the way is let run. */
  advance(seconds: number): Promise<void>;
};

type ClockState = { now: string; advancing: object | null };

export function makeSandboxTime(callNode: CallNode, pause: (seconds: number) => Promise<void>): SandboxTime {
  let aheadMilliseconds = 0;
  const take = (state: ClockState): void => {
    aheadMilliseconds = Date.parse(state.now) - Date.now();
  };
  const read = async (): Promise<ClockState | undefined> => {
    const answer = await callNode({ kind: 'clock', method: 'GET', path: '/sandbox/clock', expected: [200] });
    const state = answer?.status === 200 ? (answer.json() as ClockState) : undefined;
    if (state) take(state);
    return state;
  };
  return {
    now: () => new Date(Date.now() + aheadMilliseconds),
    async follow() {
      await read();
    },
    async advance(seconds) {
      const call = { kind: 'advance', method: 'POST', path: '/sandbox/clock', body: { advanceSeconds: seconds } };
      const answer = await callNode({ ...call, expected: [200] });
      if (answer?.status !== 200) return;
      for (let state: ClockState | undefined = answer.json(); state?.advancing; state = await read()) await pause(0.5);
      await read();
    },
  };
}

/** As the push API wants it: a day as MM/DD/YYYY and a time as hh:mm AM/PM, in UTC. */
export function asDelivery(at: Date): { date: string; time: string; timezone: string } {
  const text = at.toISOString();
  const hour = at.getUTCHours();
  const time = `${String(hour % 12 || 12).padStart(2, '0')}:${text.slice(14, 16)} ${hour < 12 ? 'AM' : 'PM'}`;
  return { date: `${text.slice(5, 7)}/${text.slice(8, 10)}/${text.slice(0, 4)}`, time, timezone: 'UTC' };
}
