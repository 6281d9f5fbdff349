/** What Citus says of a statement that it has no plan for, or may not carry out; other errors are what tests provoke. */
const refusing =
  /not supported|only supported|complex join|FOR UPDATE\/SHARE|repartition|STABLE functions|IMMUTABLE|is not distributed|placements|distributed|colocated|partition column/;

/**
 * Reads the coordinator's log: a test that asks a route sees no more of a refusal than that the response is a 500. Each
 * message is counted, with the beginning of one of its statements.
 */
export function makeRefusalCounter(
  refusals: Map<string, { count: number; statement: string }>,
): (line: string) => void {
  let last: string | undefined;
  let isInStatement = false;
  return (line) => {
    const message = /ERROR:\s+(.*)/.exec(line)?.[1]?.replaceAll(/\d+/g, '#');
    if (message !== undefined) {
      isInStatement = false;
      last = refusing.test(message) ? message : undefined;
      if (last !== undefined)
        refusals.set(last, { statement: '', ...refusals.get(last), count: (refusals.get(last)?.count ?? 0) + 1 });
      return;
    }
    isInStatement ||= line.includes('STATEMENT:');
    const known = last === undefined ? undefined : refusals.get(last);
    const text = line.replace(/^.*STATEMENT:/, '').trim();
    if (isInStatement && known?.statement === '') known.statement = text.slice(0, 160);
  };
}
