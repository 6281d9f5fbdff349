/**
 * Every route of the server's own OpenAPI document against hostile requests: never a fault of ours, always a body that can
 * be read, of the shape that is documented. Prints what it sent and what it found, and ends with 1 if there was something.
 *
 * Usage: npm run test:fuzz -- --seed 1 --requests 51200; one request again: --seed 1 --first 4711 --requests 1
 */
import { parseArgs } from 'node:util';
import { fuzzRoutes } from './fuzz-routes.ts';
import type { Finding } from './fuzz-routes.ts';
import { presentReport } from './present-report.ts';
import { startFuzzNode } from './start-fuzz-node.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    requests: { type: 'string', default: '51200' },
    only: { type: 'string' },
  },
});
const [seed, first, requests] = [values.seed, values.first, values.requests].map(Number) as [number, number, number];
if (![seed, first, requests].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write('test:fuzz: --seed, --first and --requests take whole numbers\n');
  process.exit(2);
}
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(
  `seed ${seed}, requests ${first} to ${first + requests - 1}${values.only === undefined ? '' : `, of ${values.only}`}`,
);

const counts = new Map<string, number>();
function tell({ number, what, request, answer }: Finding): void {
  const kind = `${request.operation.name}: ${what}`;
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.get(kind)! > 2) return;
  say(`\nFOUND ${kind} (--seed ${seed} --first ${number} --requests 1)`);
  say(`  ${request.method} ${request.path.slice(0, 300)}`);
  say(`  ${JSON.stringify(request.headers).slice(0, 600)}`);
  say(`  ${JSON.stringify(String(request.body ?? '')).slice(0, 900)}`);
  say(`  → ${answer.status} ${answer.headers['content-type']} ${answer.text.slice(0, 400)}`);
}

const target = await startFuzzNode();
let report;
try {
  const onRound = (sent: number): void => void process.stderr.write(`${sent} sent\n`);
  report = await fuzzRoutes(target, { seed, first, requests, only: values.only, onFinding: tell, onRound });
} finally {
  await target.stop();
}
const { isClean, lines } = presentReport(report);
for (const line of lines) say(line);
for (const [kind, count] of counts) say(`FOUND ${count} × ${kind}`);
process.exit(isClean ? 0 : 1);
