/**
 * Measures the cost of monitoring: a node's processor time per accepted push, at an even rate. The nodes are identical except
 * for monitoring and run in turn, each between two measurements of the plain node. Each is compared with the mean of those two,
 * so that the growth of the database has no effect. Results are medians of the rounds. One node is scraped three times as often
 * as in the sample configuration of Prometheus, one has no code for traces, and one sends every hundredth request to a
 * collector. The plain node's difference from itself is noise. Processor time is used and not a rate: a rate at which the
 * machine is full differs from itself by a fifth within a minute.
 *
 * The noise of processor time is larger than metrics may cost, so these are also counted in isolation: a million recordings of
 * a call, and two hundred scrapes of an idle node.
 *
 * Usage: npm run bench -- metrics [--rate 1200] [--connections 64] [--seconds 10] [--rounds 6] [--workspaces 12]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeClock } from '../../server/src/clock.ts';
import { signPush } from '../../server/src/domain/crypto/signatures.ts';
import { makeNodeMeter } from '../../server/src/engine/monitoring/node-meter.ts';
import { pushContent } from '../../server/test/rig/caller.ts';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import { readProcessSeconds } from '../../server/test/rig/processor-time.ts';
import { startNode } from '../../server/test/start/start-bundle.ts';
import type { Node } from '../../server/test/start/start-bundle.ts';
import { insertWorkspaces } from './insert-workspaces.ts';
import type { BenchWorkspace } from './insert-workspaces.ts';
import { median } from './median.ts';
import { paceCalls } from './pace-calls.ts';
import type { HttpRequest } from './run-wrk.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'metrics'),
  options: {
    rate: { type: 'string', default: '1200' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '6' },
    workspaces: { type: 'string', default: '12' },
  },
});
const [rate, connections, seconds, rounds, workspaceCount] = [
  values.rate,
  values.connections,
  values.seconds,
  values.rounds,
  values.workspaces,
].map(Number) as [number, number, number, number, number];
const users = 1_000;
const requestsPerRun = rate * seconds;
const scrapeMilliseconds = 5_000;
const countedCalls = 1_000_000;
const countedScrapes = 200;
const idleSeconds = 20;
// A node that waited for its turn has closed its connections, and opening them is not part of a push.
const beginningSeconds = 2;
/** As in deploy/prometheus/prometheus.yml. */
const scrapeSeconds = 15;

const kinds = ['scraped', 'without traces', 'one of 100 traced'] as const;
type Kind = (typeof kinds)[number] | 'plain';

if (rate * (seconds + beginningSeconds) > workspaceCount * 10_000)
  throw new Error('a workspace may push 10,000 times a minute');
process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const collector = await startCollector();
const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-metrics-'));
const bundle = await makeTortureBundle({ seed: 1, devices: users, rounds: 0, windowDevices: 250, parallelChunks: 4 });
const nodes: Node[] = [];
const scrapes: { done: number; timer?: NodeJS.Timeout } = { done: 0 };
try {
  await bundle.importDevices();
  const workspaces = await insertWorkspaces(bundle, workspaceCount);
  const plain = await startApi({});
  const measured: Record<Kind, Api> = {
    plain,
    scraped: await startScraped(),
    'without traces': await startApi({ NODE_OPTIONS: `--import=${join(import.meta.dirname, 'without-traces.ts')}` }),
    'one of 100 traced': await startApi(tracingEnvironment()),
  };
  for (const api of Object.values(measured)) await measure(`warm-up ${api.url}`, { api, workspaces });
  const plainCosts: number[] = [];
  const ratios = new Map<Kind, number[]>([...kinds, 'plain' as const].map((kind) => [kind, []]));
  for (let round = 1; round <= rounds; round += 1) {
    // A different node starts in each round.
    const turned = kinds.map((_, place) => kinds[(place + round) % kinds.length]!);
    const order: Kind[] = ['plain', ...turned.flatMap((kind) => [kind, 'plain' as const])];
    const costs: number[] = [];
    for (const [place, kind] of order.entries())
      costs.push(await measure(`${kind} ${round}.${place}`, { api: measured[kind], workspaces }));
    for (const [place, kind] of order.entries()) {
      const beside = kind === 'plain' ? 2 : 1;
      const [before, after] = [costs[place - beside], costs[place + beside]];
      if (before !== undefined && after !== undefined)
        ratios.get(kind)!.push(costs[place]! / Math.sqrt(before * after));
    }
    plainCosts.push(...costs.filter((_, place) => order[place] === 'plain'));
    const shown = order.map((kind, place) => `${kind} ${costs[place]!.toFixed(0)} µs`);
    process.stdout.write(`round ${round}: ${shown.join(', ')}\n`);
  }
  for (const [kind, each] of ratios) {
    const ratio = median(each);
    const spread = `${Math.min(...each).toFixed(3)} to ${Math.max(...each).toFixed(3)}`;
    const name = kind === 'plain' ? 'noise: plain' : kind;
    process.stdout.write(`${name}: ${ratio.toFixed(3)} × the plain node (${spread})\n`);
  }
  process.stdout.write(`${scrapes.done} scrapes, ${collector.spans()} spans\n`);
  clearInterval(scrapes.timer);
  await countMetrics(measured, median(plainCosts));
} finally {
  clearInterval(scrapes.timer);
  for (const node of nodes) {
    node.process.kill('SIGTERM');
    await node.exited;
  }
  await bundle.stop();
  collector.close();
  await rm(folder, { recursive: true, force: true });
}

type Api = { url: string; pid: number; metrics?: string };
type Measured = { api: Api; workspaces: readonly BenchWorkspace[] };

/** @returns microseconds of the node's processor time per push */
async function measure(name: string, { api, workspaces }: Measured): Promise<number> {
  // A workspace may push 10,000 times a minute; the nodes see the moved clock within a second.
  await bundle.advanceClock(61_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const pace = { rate, connections, words: '"status":"Success"' };
  await paceCalls(api.url, {
    ...pace,
    seconds: beginningSeconds,
    requests: makeRequests(`${name} begins`, workspaces),
  });
  const requests = makeRequests(name, workspaces);
  const before = await readProcessSeconds(api.pid);
  await paceCalls(api.url, { ...pace, seconds, requests });
  return ((await readProcessSeconds(api.pid)) - before) * (1e6 / requests.length);
}

/**
 * Measures the recording of a push, a scrape, and the library's own monitoring separately, as a share of pushes at this rate.
 */
async function countMetrics({ plain, scraped }: Record<Kind, Api>, pushMicroseconds: number): Promise<void> {
  const meter = makeNodeMeter({ clock: makeClock() });
  const call = { method: 'POST', route: '/v2.1/transaction/sendpush', status: 200, errorName: undefined };
  const begun = process.cpuUsage();
  for (let number = 0; number < countedCalls; number += 1)
    meter.noteCall({ ...call, durationMilliseconds: number % 100 });
  const { user, system } = process.cpuUsage(begun);
  const note = (user + system) / countedCalls;
  if (meter.readTotals().counts.pushes !== countedCalls) throw new Error('not every call was counted');
  const before = await readProcessSeconds(scraped.pid);
  for (let number = 0; number < countedScrapes; number += 1) await (await fetch(scraped.metrics!)).text();
  const scrape = (((await readProcessSeconds(scraped.pid)) - before) * 1e6) / countedScrapes;
  const both = [plain, scraped];
  const idleBefore = await Promise.all(both.map(({ pid }) => readProcessSeconds(pid)));
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  const idleAfter = await Promise.all(both.map(({ pid }) => readProcessSeconds(pid)));
  const [ofPlain, ofScraped] = idleAfter.map((seconds, place) => ((seconds - idleBefore[place]!) / idleSeconds) * 1e6);
  const watching = Math.max(0, ofScraped! - ofPlain!);
  const share = note / pushMicroseconds + (scrape / scrapeSeconds + watching) / (rate * pushMicroseconds);
  process.stdout.write(
    `noting a call ${note.toFixed(2)} µs; a scrape ${(scrape / 1000).toFixed(1)} ms of the node's processor time; a second ` +
      `without load ${(ofPlain! / 1000).toFixed(1)} ms, with metrics ${(ofScraped! / 1000).toFixed(1)} ms. With a scrape every ` +
      `${scrapeSeconds} s, of ${rate} pushes a second of ${Math.round(pushMicroseconds)} µs: ${(share * 100).toFixed(2)} %; ` +
      `goal ≤ 2 %: ${share <= 0.02 ? 'met' : 'MISSED'}\n`,
  );
}

async function startApi(more: Record<string, string>): Promise<Api> {
  const environment = {
    DATABASE_URL: bundle.databaseUrl,
    CARILLON_DATA_DIR: join(folder, String(nodes.length)),
    CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    CARILLON_LOG_LEVEL: 'error',
    ...more,
  };
  const node = startNode(['--role', 'api', '--port', '0', '--json', '--seed', '1'], environment);
  nodes.push(node);
  const line = await node.firstLine;
  if (line === undefined) throw new Error(`api: ${(await node.exited).stderr}`);
  return { ...(JSON.parse(line) as { url: string; metrics?: string }), pid: node.process.pid! };
}

/** Scrapes the node from its start on, as Prometheus does with or without load. */
async function startScraped(): Promise<Api> {
  const api = await startApi({ CARILLON_METRICS_PORT: '0' });
  scrapes.timer = setInterval(() => {
    fetch(api.metrics!)
      .then((answer) => answer.text())
      .then((text) => (scrapes.done += text.includes('carillon_push_accept_duration_seconds_count') ? 1 : 0))
      .catch(() => {});
  }, scrapeMilliseconds);
  return api;
}

function tracingEnvironment(): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
}

/** Starts a collector that accepts everything and counts. */
async function startCollector() {
  let spans = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      spans += text.split('"spanId"').length - 1;
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans: () => spans, close: () => server.close() };
}

function makeRequests(name: string, workspaces: readonly BenchWorkspace[]): HttpRequest[] {
  return Array.from({ length: requestsPerRun }, (_, number) => {
    const { id: appId, pushKey: key } = workspaces[number % workspaces.length]!;
    const attributeValue = `demo-user-${(number * 7919) % users}`;
    const target = { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue };
    const asked = { requestId: `${name} ${number}`, campaignName: name, targetAudience: 'User' };
    return {
      path: '/v2.1/transaction/sendpush',
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-APPKEY': appId,
        'X-SVC-PushAPI-Signature': signPush({ appId, campaignName: name, key }),
        'X-SVC-Query-Type': 'user',
      },
      body: JSON.stringify({ ...asked, targetUserAttributes: target, ...pushContent }),
    };
  });
}
