import type { Queryable } from '../database.ts';

/** The ids of runs, by their numbers in the ledger. Index: runs_number_key. */
export async function findRunIds(tx: Queryable, numbers: readonly number[]): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await tx<{ id: string; number: number }[]>`
    select id, number from runs where number = any(${[...new Set(numbers)]}::bigint[])`;
  return new Map(rows.map(({ id, number }) => [number, id]));
}
