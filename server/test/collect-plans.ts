import type { Queryable } from '../src/storage/database.ts';

/** A stand-in for a database that shows how a statement would be done, and answers that it found nothing. */
export function collectPlans(tx: Queryable, plans: string[]): Queryable {
  return explainFirst(tx, { plans, answer: async () => [] });
}

/** The same, and a statement is sent after it was shown: for those that others follow. */
export function collectPlansOfSent(tx: Queryable, plans: string[]): Queryable {
  return explainFirst(tx, { plans, answer: (statement) => statement() });
}

type Answer = (statement: () => PromiseLike<readonly unknown[]>) => PromiseLike<readonly unknown[]>;

function explainFirst(tx: Queryable, { plans, answer }: { plans: string[]; answer: Answer }): Queryable {
  const tag = (strings: TemplateStringsArray, ...values: never[]) => {
    const query = tx(strings, ...values);
    if (!Array.isArray(strings?.raw)) return query;
    // Fragments are put into others; what is waited for is the statement.
    const explain = async () => {
      const rows = await tx`explain (costs off) ${query}`;
      plans.push(rows.map((row) => String(row['QUERY PLAN'])).join('\n'));
      return answer(() => tx(strings, ...values));
    };
    return Object.assign(query, {
      then: (resolve: (rows: readonly unknown[]) => unknown, reject: (error: unknown) => unknown) =>
        explain().then(resolve, reject),
    });
  };
  return Object.assign(tag, { json: tx.json, unsafe: tx.unsafe }) as unknown as Queryable;
}
