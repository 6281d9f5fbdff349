import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/database.ts';
import type { DataOperation } from './data-limits.ts';
import type { EnsureToday } from './ensure-today.ts';

export type DataDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  ensureToday: EnsureToday;
  /** Other limits than the documented ones. */
  limits?: Partial<Record<DataOperation, number>>;
  /** How long after the request a user is erased; 24 unless given (fact 5). */
  erasureDelayHours?: number;
};

/** What makes a repeat of a call known, and the answer that a repeat with the same Idempotency-Key gets again. */
export type Once = { key: string | undefined; rawBody: string } & DataAnswer;

export type DataAnswer = { requestId: string };
