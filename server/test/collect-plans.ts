import type { Queryable } from '../src/storage/pool.ts';

/** A stand-in for a database that shows how a statement would be done; fragments of one are left alone. */
export function collectPlans(tx: Queryable, plans: string[]): Queryable {
  const tag = (strings: TemplateStringsArray, ...values: never[]) => {
    if (!Array.isArray(strings?.raw) || !/^\s*(select|with|insert|update)\b/.test(strings[0]!))
      return tx(strings, ...values);
    return tx`explain (costs off) ${tx(strings, ...values)}`.then((rows) => {
      plans.push(rows.map((row) => String(row['QUERY PLAN'])).join('\n'));
      return [];
    });
  };
  return Object.assign(tag, { json: tx.json }) as unknown as Queryable;
}
