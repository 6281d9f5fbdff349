import { inject } from 'vitest';
import { inTransaction } from '../src/storage/database.ts';
import type { Database, Fragment, Queryable } from '../src/storage/database.ts';

/**
 * A stand-in for a database that shows how a statement would be done, and answers that it found nothing. Of a cluster it
 * shows the plan of one task as its worker makes it, with the names that the coordinator has for tables and indexes. A
 * shard of a test is so small that it would be read and joined as a whole; there it is asked what indexes can do.
 */
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
      plans.push(inject('workerUrls') === null ? await readPlan(tx, query) : await readPlanOfCluster(tx, query));
      return answer(() => tx(strings, ...values));
    };
    return Object.assign(query, {
      then: (resolve: (rows: readonly unknown[]) => unknown, reject: (error: unknown) => unknown) =>
        explain().then(resolve, reject),
    });
  };
  return Object.assign(tag, { json: tx.json, unsafe: tx.unsafe }) as unknown as Queryable;
}

async function readPlan(tx: Queryable, query: Fragment): Promise<string> {
  const rows = await tx`explain (costs off) ${query}`;
  return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
}

async function readPlanOfCluster(on: Queryable, query: Fragment): Promise<string> {
  const read = async (tx: Queryable): Promise<string> => {
    // Repeated to the workers, as nothing is that set_config sets.
    for (const way of ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'])
      await tx.unsafe(`set local enable_${way} = off`);
    return readPlan(tx, query);
  };
  const plan = await ('kind' in on && on.kind === 'database' ? inTransaction(on as Database, read) : read(on));
  return nameByTables(plan, await readNames(on));
}

/** Names of tables and indexes, by the hash that stands in the name of a shard where that would be too long. */
async function readNames(tx: Queryable): Promise<Map<string, string>> {
  const rows = await tx<{ name: string; hash: string }[]>`
    select relname as name, lpad(to_hex(hashtext(relname::text)), 8, '0') as hash
    from pg_class where relnamespace = 'public'::regnamespace`;
  return new Map(rows.map(({ name, hash }) => [hash, name]));
}

/** A shard is named as its table or index with its number; of a long name the beginning and a hash stand before that. */
function nameByTables(plan: string, names: Map<string, string>): string {
  return plan.replaceAll(/\b([a-z]\w*?)(?:_([0-9a-f]{8}))?_\d{6,7}\b/g, (_shard, name: string, hash?: string) =>
    hash === undefined ? name : (names.get(hash) ?? `${name}_${hash}`),
  );
}
