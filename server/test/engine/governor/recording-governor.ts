import type { Governor } from '../../../src/engine/governor/governor.ts';

/** A governor that says what it was told of accounts; one that is not reached is silent until `silentUntil`. */
export function makeRecordingGovernor(silentUntil: Date): { governor: Governor; told: unknown[] } {
  const told: unknown[] = [];
  const governor: Governor = {
    acquire() {},
    pause: (one, silence) => void told.push({ silenced: one.key, ...silence }),
    pauseAfterFailure(one) {
      told.push({ unreached: one.key });
      return silentUntil;
    },
    report: (one, { kind }) => void told.push({ reported: one.key, kind }),
  };
  return { governor, told };
}
