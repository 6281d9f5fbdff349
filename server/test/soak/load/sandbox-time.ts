import type { CallNode } from '../call-node.ts';

/** The time of the installation, which the load itself moves. */
export type SandboxTime = {
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
