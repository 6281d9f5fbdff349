import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/pool.ts';
import { makeAcceptPush } from './accept-push.ts';
import type { AcceptPush } from './accept-push.ts';
import { makeAdmitPush } from './admit-push.ts';
import type { AdmitPush } from './admit-push.ts';

export type PushUseCases = { admitPush: AdmitPush; acceptPush: AcceptPush };

/** The push use cases with their dependencies bound. */
export function makePushUseCases(deps: {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Interface 8 unless a test says otherwise. */
  requestsPerMinute?: number;
}): PushUseCases {
  return { admitPush: makeAdmitPush(deps), acceptPush: makeAcceptPush(deps) };
}
