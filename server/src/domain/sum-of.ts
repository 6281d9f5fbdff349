/** The sum of one number of each row; 0 of none. */
export function sumOf<Name extends string>(rows: readonly Record<Name, number>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
