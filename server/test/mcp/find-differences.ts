/** Members that change from call to call, whatever happens: times, and the rounds of a node that is running. */
const moving = /^(now|at|work|since|lastSeenAt|seenAt)$/;

/**
 * Compares what a tool returned with the response of the console: every number and text must be equal, and a member may be
 * missing only if agents never get it.
 */
export function findDifferences(got: unknown, shown: unknown): { differences: string[]; compared: number } {
  const differences: string[] = [];
  let compared = 0;
  const walk = (left: unknown, right: unknown, path: string): void => {
    if (right === null || typeof right !== 'object') {
      if (typeof right === 'number') compared += 1;
      if (left !== right) differences.push(`${path}: ${JSON.stringify(left)} is ${JSON.stringify(right)}`);
      return;
    }
    if (left === null || typeof left !== 'object') return void differences.push(`${path}: ${JSON.stringify(left)}`);
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    for (const name of names) {
      // The agent has a name that tells it from its account.
      if (path === '.account' && name === 'name') continue;
      if (moving.test(name) || /^(curl|url|pushId)$/.test(name)) continue;
      walk((left as any)[name], (right as any)[name], `${path}.${name}`);
    }
  };
  walk(got, shown, '');
  return { differences, compared };
}
