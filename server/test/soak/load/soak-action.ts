import type { SoakBundle } from '../soak-bundle.ts';
import type { Ledger } from '../soak-ledger.ts';
import type { SandboxTime } from './sandbox-time.ts';

/** One kind of thing that callers do, again and again. */
export type SoakAction = {
  name: string;
  everySeconds: number;
  /** @param ending aborted when the load ends */
  run(ending: AbortSignal): Promise<void>;
};

export type LoadContext = { bundle: SoakBundle; ledger: Ledger; time: SandboxTime };
