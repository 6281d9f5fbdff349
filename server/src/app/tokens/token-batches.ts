import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { insertTokens } from '../../storage/keys/tokens.ts';
import type { NewTokens } from '../../storage/keys/tokens.ts';
import { findLimitWindows } from '../../storage/limits/limit-windows.ts';
import type { LimitSubject } from '../../storage/limits/limit-windows.ts';
import { lookUpBatches, makeWorkTogether, requestBatches } from '../push/work-together.ts';

export type TokenBatches = {
  /** Resolves when the tokens are durable. @returns whether there still was the key */
  storeTokens(tokens: NewTokens): Promise<boolean>;
  /** As `findLimitWindows`. */
  findWindows(subjects: readonly LimitSubject[]): Promise<Date[][]>;
};

/** What token requests that come at the same time store and look for together. */
export function makeTokenBatches({ database }: { database: Database }): TokenBatches {
  return {
    storeTokens: makeWorkTogether(
      (tokens: NewTokens[]) => inTransaction(database, (tx) => insertTokens(tx, tokens)),
      requestBatches,
    ),
    findWindows: makeWorkTogether(async (asks: (readonly LimitSubject[])[]) => {
      const found = await findLimitWindows(database, asks.flat());
      let place = 0;
      return asks.map(({ length }) => found.slice(place, (place += length)));
    }, lookUpBatches),
  };
}
