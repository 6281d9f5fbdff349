import { makeFaultSwitch } from '../../domain/sandbox/fault-switch.ts';
import type { Struck } from '../../domain/sandbox/fault-switch.ts';
import type { Fault } from '../../domain/sandbox/faults.ts';

/** The faults of this node's own API, for callers who try what they do then. */
export type ApiFaults = {
  set(faults: Fault[]): void;
  /** The one that strikes a request, if one does. */
  strike(request: Struck): Fault | undefined;
};

export function makeApiFaults(): ApiFaults {
  let faults: Fault[] = [];
  let strike = makeFaultSwitch([]);
  return {
    set(next) {
      faults = next;
      strike = makeFaultSwitch(faults);
    },
    strike: (request) => (faults.length === 0 ? undefined : strike(request)),
  };
}
