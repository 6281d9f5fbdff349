import type { StandbyState } from '../../storage/installation/database-clock.ts';

/** Whether a standby may answer. Not until it was looked at once. */
export type StandbyHealth = {
  isUsable(): boolean;
  /** After a fault: until the next look finds it well. */
  noteFault(): void;
  /** What a look found; undefined when it did not answer. Returns what is wrong, if anything. */
  note(state: StandbyState | undefined): string | undefined;
};

/** Three reports of a node. What lists from a standby may be behind. */
export const maxLagSeconds = 15;

export function makeStandbyHealth(): StandbyHealth {
  let isUsable = false;
  return {
    isUsable: () => isUsable,
    noteFault() {
      isUsable = false;
    },
    note(state) {
      const fault = findFault(state);
      isUsable = fault === undefined;
      return fault;
    },
  };
}

function findFault(state: StandbyState | undefined): string | undefined {
  if (state === undefined) return 'it does not answer';
  if (!state.isStandby) return 'it is no standby';
  if (state.lagSeconds === undefined) return 'it has replayed nothing yet';
  if (state.lagSeconds > maxLagSeconds) return `it is ${Math.round(state.lagSeconds)} s behind`;
  return undefined;
}
