import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import type { TokenBatches } from './token-batches.ts';

/** What checking a key or an access token takes; every route family has it. */
export type AuthenticationDependencies = { database: Queryable; clock: Clock };

export type TokenDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Waits for the given milliseconds; tests pass one that only records them. */
  wait(milliseconds: number): Promise<unknown>;
  batches: TokenBatches;
  random?: Random;
};

/** A request that may be sent again under the same Idempotency-Key (decision D4). */
export type Repeatable = { idempotencyKey: string | undefined; rawBody: string };
