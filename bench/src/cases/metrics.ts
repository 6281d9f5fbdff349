import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeClock } from '../../../server/src/clock.ts';
import { makeNodeMeter } from '../../../server/src/engine/monitoring/node-meter.ts';
import { readProcessSeconds } from '../../../server/test/rig/processor-time.ts';
import { median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import {
  startBenchNode,
  insertWorkspaces,
  makePushes,
  passLimit,
  pushedUsers,
  startInstallation,
} from '../kit/installation.ts';
import type { BenchWorkspace, Installation } from '../kit/installation.ts';
import { paceCalls } from '../kit/load.ts';
import { processPath } from '../kit/peers.ts';

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

type Monitored = {
  bundle: Installation;
  workspaces: readonly BenchWorkspace[];
  apis: Record<Kind, Api>;
  /** Scrapes and spans so far. */
  counts: { scrapes: number; spans: number };
  stopScraping: () => void;
};

/**
 * The nodes are identical except for monitoring. Each is measured between two measurements of the plain node and compared with
 * their mean, so that the growth of the database has no effect. The plain node's difference from itself is noise. Processor
 * time is used and not a rate: a rate at which the machine is full differs from itself by a fifth within a minute.
 *
 * The noise of processor time is larger than metrics may cost, so these are also counted in isolation: a million recordings of
 * a call, and two hundred scrapes of an idle node.
 */
export const metricsCase: Case<'metrics', Monitored> = {
  async prepare(bench) {
    const { rate, seconds, workspaces: count } = bench.options;
    if (rate * (seconds + beginningSeconds) > count * 10_000)
      throw new Error('a workspace may push 10,000 times a minute');
    const counts = { scrapes: 0, spans: 0 };
    const tracing = await startCollector(bench, counts);
    const bundle = await startInstallation(bench, { devices: pushedUsers, windowDevices: 250, parallelChunks: 4 });
    await bundle.importDevices();
    const workspaces = await insertWorkspaces(bundle, count);
    const start = (settings: Record<string, string>): Promise<Api> => startApi(bench, { bundle, settings });
    const plain = await start({});
    const scraped = await start({ CARILLON_METRICS_PORT: '0' });
    const timer = scrapeEach(scraped, counts);
    bench.defer(() => clearInterval(timer));
    const apis: Record<Kind, Api> = {
      ...{ plain, scraped },
      'without traces': await start({ NODE_OPTIONS: `--import=${processPath('without-traces.ts')}` }),
      'one of 100 traced': await start(tracing),
    };
    const monitored = { bundle, workspaces, apis, counts, stopScraping: () => clearInterval(timer) };
    for (const api of Object.values(apis)) await measure(bench, { ...monitored, api, name: `warm-up ${api.url}` });
    return monitored;
  },

  async run(bench, monitored) {
    const plainCosts: number[] = [];
    const ratios = new Map<Kind, number[]>([...kinds, 'plain' as const].map((kind) => [kind, []]));
    for (let round = 1; round <= bench.options.rounds; round += 1) {
      // A different node starts in each round.
      const turned = kinds.map((_, index) => kinds[(index + round) % kinds.length]!);
      const order: Kind[] = ['plain', ...turned.flatMap((kind) => [kind, 'plain' as const])];
      const costs: number[] = [];
      for (const [index, kind] of order.entries())
        costs.push(
          await measure(bench, { ...monitored, api: monitored.apis[kind], name: `${kind} ${round}.${index}` }),
        );
      for (const [index, kind] of order.entries()) {
        const beside = kind === 'plain' ? 2 : 1;
        const [before, after] = [costs[index - beside], costs[index + beside]];
        if (before !== undefined && after !== undefined)
          ratios.get(kind)!.push(costs[index]! / Math.sqrt(before * after));
      }
      plainCosts.push(...costs.filter((_, index) => order[index] === 'plain'));
      bench.say(`round ${round}: ${order.map((kind, index) => `${kind} ${costs[index]!.toFixed(0)} µs`).join(', ')}`);
    }
    for (const [kind, each] of ratios) {
      const spread = `${Math.min(...each).toFixed(3)} to ${Math.max(...each).toFixed(3)}`;
      const name = kind === 'plain' ? 'noise: plain' : kind;
      bench.say(`${name}: ${median(each).toFixed(3)} × the plain node (${spread})`);
    }
    bench.say(`${monitored.counts.scrapes} scrapes, ${monitored.counts.spans} spans`);
    monitored.stopScraping();
    await countMetrics(bench, { ...monitored.apis, pushMicroseconds: median(plainCosts) });
  },
};

type Api = { url: string; pid: number; metrics?: string };

type Measuring = Pick<Monitored, 'bundle' | 'workspaces'> & { api: Api; name: string };

/** @returns microseconds of the node's processor time per push */
async function measure(bench: Bench<'metrics'>, { bundle, workspaces, api, name }: Measuring): Promise<number> {
  const { rate, connections, seconds } = bench.options;
  // A workspace may push 10,000 times a minute.
  await passLimit(bundle, 61_000);
  const pace = { rate, connections, words: '"status":"Success"' };
  const pushes = (named: string) => makePushes(named, { workspaces, count: rate * seconds });
  await paceCalls(api.url, { ...pace, seconds: beginningSeconds, requests: pushes(`${name} begins`) });
  const requests = pushes(name);
  const before = await readProcessSeconds(api.pid);
  await paceCalls(api.url, { ...pace, seconds, requests });
  return ((await readProcessSeconds(api.pid)) - before) * (1e6 / requests.length);
}

/**
 * Measures the recording of a push, a scrape, and the library's own monitoring separately, as a share of pushes at this rate.
 */
async function countMetrics(
  bench: Bench<'metrics'>,
  { plain, scraped, pushMicroseconds }: { plain: Api; scraped: Api; pushMicroseconds: number },
): Promise<void> {
  const { rate } = bench.options;
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
  const [ofPlain, ofScraped] = idleAfter.map((seconds, index) => ((seconds - idleBefore[index]!) / idleSeconds) * 1e6);
  const watching = Math.max(0, ofScraped! - ofPlain!);
  const share = note / pushMicroseconds + (scrape / scrapeSeconds + watching) / (rate * pushMicroseconds);
  bench.say(
    `noting a call ${note.toFixed(2)} µs; a scrape ${(scrape / 1000).toFixed(1)} ms of the node's processor time; a second ` +
      `without load ${(ofPlain! / 1000).toFixed(1)} ms, with metrics ${(ofScraped! / 1000).toFixed(1)} ms. With a scrape every ` +
      `${scrapeSeconds} s, of ${rate} pushes a second of ${Math.round(pushMicroseconds)} µs: ${(share * 100).toFixed(2)} %; ` +
      `goal ≤ 2 %: ${share <= 0.02 ? 'met' : 'MISSED'}`,
  );
}

async function startApi(
  bench: Bench<'metrics'>,
  { bundle, settings }: { bundle: Installation; settings: Record<string, string> },
): Promise<Api> {
  const environment = {
    DATABASE_URL: bundle.databaseUrl,
    CARILLON_DATA_DIR: await bench.makeFolder(),
    CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...settings,
  };
  return startBenchNode(bench, { parameters: ['--role', 'api', '--seed', '1'], settings: environment });
}

/** Scrapes the node from its start on, as Prometheus does with or without load. */
function scrapeEach(api: Api, counts: Monitored['counts']): NodeJS.Timeout {
  return setInterval(() => {
    fetch(api.metrics!)
      .then((answer) => answer.text())
      .then((text) => (counts.scrapes += text.includes('carillon_push_accept_duration_seconds_count') ? 1 : 0))
      .catch(() => {});
  }, scrapeMilliseconds);
}

/** Starts a collector that accepts everything and counts. @returns the settings of a node that sends to it */
async function startCollector(bench: Bench<'metrics'>, counts: Monitored['counts']): Promise<Record<string, string>> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      counts.spans += text.split('"spanId"').length - 1;
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  bench.defer(() => server.close());
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
}
