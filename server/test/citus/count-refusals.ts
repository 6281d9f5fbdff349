/** What the cluster refused to plan or to carry out: each message with how often, and the beginning of one statement. */
export type Refusals = Map<string, { count: number; statement: string }>;

/**
 * Citus refuses what it has no plan for as a feature that is not supported (0A000). The words are those of refusals under
 * other codes.
 */
const refusing =
  /not supported|only supported|complex join|cannot push down|could not (?:run|create|plan|execute)|FOR UPDATE\/SHARE|repartition|STABLE functions|is not distributed|placements|colocated|partition column/;

/** PostgreSQL's own, which tests provoke: a prepared statement whose table was changed is parsed again by the pool. */
const expected = /^cached plan must not change result type/;

/** Each line of a server's log begins with its time, process and SQLSTATE. */
export const logLinePrefix = '%m [%p] %e ';

/**
 * Reads the log of one server: a test that calls a route sees no more of a refusal than a 500, and work that is tried
 * again, or left out, shows none. Other errors are what tests provoke.
 */
export function makeRefusalCounter(refusals: Refusals): (line: string) => void {
  let last: string | undefined;
  let isInStatement = false;
  return (line) => {
    const [, code, text] = /\] (\w{5}) ERROR:\s+(.*)/.exec(line) ?? [];
    if (text !== undefined) {
      isInStatement = false;
      const isRefused = (code === '0A000' || refusing.test(text)) && !expected.test(text);
      last = isRefused ? text.replaceAll(/\d+/g, '#') : undefined;
      if (last !== undefined)
        refusals.set(last, { statement: '', ...refusals.get(last), count: (refusals.get(last)?.count ?? 0) + 1 });
      return;
    }
    isInStatement ||= line.includes('STATEMENT:');
    const known = last === undefined ? undefined : refusals.get(last);
    const words = line.replace(/^.*STATEMENT:/, '').trim();
    if (isInStatement && known?.statement === '') known.statement = words.slice(0, 160);
  };
}

/** How many statements were refused, then each message, the most frequent first. */
export function listRefusals(refusals: Refusals): string[] {
  const counted = [...refusals].sort(([, left], [, right]) => right.count - left.count);
  const all = counted.reduce((sum, [, { count }]) => sum + count, 0);
  return [
    `Statements refused: ${all}`,
    ...counted.flatMap(([message, { count, statement }]) => [`  ${count} × ${message}`, `      ${statement}`]),
  ];
}
