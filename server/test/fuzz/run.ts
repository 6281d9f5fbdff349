/**
 * Every route of the server's own OpenAPI document against hostile requests: never a fault of ours, always a body that can
 * be read, of the shape that is documented. Prints what it sent and what it found, and ends with 1 if there was something.
 *
 * Usage: npm run test:fuzz -- --seed 1 --requests 51200; one request again: --seed 1 --first 4711 --requests 1
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/storage/database.ts';
import { startKillableDatabase } from '../rig/databases.ts';
import type { Usage } from '../rig/measure-usage.ts';
import { nodeEnvironment, startRigNode } from '../rig/processes.ts';
import { readNumbers } from '../rig/report.ts';
import { fuzzRoutes, presentReport } from './fuzz-routes.ts';
import type { Finding, FuzzTarget } from './fuzz-routes.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    requests: { type: 'string', default: '51200' },
    only: { type: 'string' },
  },
});
const { seed, first, requests } = readNumbers(
  { seed: values.seed, first: values.first, requests: values.requests },
  { command: 'test:fuzz', min: 0 },
);
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

/** Starts a node in a process, so that its memory is not mixed with that of the fuzz, on its own database. */
async function startFuzzNode(): Promise<FuzzTarget & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-fuzz-'));
  const postgres = await startKillableDatabase(join(folder, 'postgres'));
  const node = await startRigNode(nodeEnvironment(folder, postgres), { parameters: ['--seed', '7'] });
  const ended = node.exited.then(({ code }) => {
    throw new Error(`the node ended by itself: ${String(code)}`);
  });
  ended.catch(() => {});
  const database = openDatabase({ url: postgres.ownerUrl, connections: 2, name: 'fuzz' });
  return {
    ...{ url: node.url, workspaceId: node.workspaceId, keys: node.keys!, database },
    async measure() {
      const measured = once(node.process, 'message') as Promise<[Usage]>;
      node.process.send('measure');
      return (await Promise.race([measured, ended]))[0];
    },
    async stop() {
      node.process.kill('SIGTERM');
      await node.exited;
      await database.end();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
