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

/** Who calls a token endpoint, before anything is proved. */
export type TokenCaller = {
  /** Whatever was sent as client_id. */
  clientId: string;
  /** Address of the caller, or of the trusted proxy's client. */
  address: string;
  /** Data center of the host that was called, if it names one (decision D1). */
  dataCenter?: string | undefined;
};

/** A request that may be sent again under the same Idempotency-Key (decision D4). */
export type Repeatable = { idempotencyKey: string | undefined; rawBody: string };
