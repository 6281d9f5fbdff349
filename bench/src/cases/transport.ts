import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RequestHead } from '../../../server/src/providers/http2/requests.ts';
import { defaultSessionsPerTarget, makeHttp2Transport } from '../../../server/src/providers/http2/transport.ts';
import type { Answer } from '../../../server/src/providers/provider.ts';
import { makeLog } from '../../../server/src/log.ts';
import { inTurn, median } from '../kit/bench.ts';
import type { Case } from '../kit/bench.ts';
import { startNghttpd } from '../kit/nghttpd.ts';
import type { Nghttpd } from '../kit/nghttpd.ts';
import { processPath, runScript } from '../kit/peers.ts';

/** `cpuMicroseconds`: of the client's process per request. It does not change when others use the machine too. */
type Measured = { rate: number; cpuMicroseconds: number };

const streams = 1_000;
const goals = [
  ['lane', 'h2load', 0.8],
  ['lane', 'node:http2', 5],
  ['lane, TLS', 'h2load, TLS', 0.8],
  ['lane, TLS', 'node:http2, TLS', 5],
  ['lane, TLS', 'node-apn, TLS', 12],
] as const;

/** Each client in a separate process: ours (a lane, and a promise each), and the others. */
export const transportCase: Case<'transport', Nghttpd> = {
  prepare: startNghttpd,

  async run(bench, { folder, path, listen }) {
    const { requests, rounds } = bench.options;
    await writeFile(join(folder, 'body'), 'x'.repeat(400));
    const { origin: clear } = await listen('clear');
    const { origin: secure } = await listen('secure');
    const load = (origin: string) => () => runH2load({ folder, requests, url: `${origin}${path}` });
    const client = (name: string, origin: string) => () =>
      runScript([processPath('transport-client.ts'), name, origin, String(requests)], {
        NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
      }) as Promise<Measured>;
    const clients = {
      h2load: load(clear),
      lane: client('lane', clear),
      promises: client('promises', clear),
      'node:http2': client('node-http2', clear),
      'h2load, TLS': load(secure),
      'lane, TLS': client('lane', secure),
      'promises, TLS': client('promises', secure),
      'node:http2, TLS': client('node-http2', secure),
      'node-apn, TLS': client('node-apn', secure),
    };
    bench.say(`${requests} requests a client and round; each in turn, medians of ${rounds} rounds\n`);
    const all = await inTurn(rounds, clients);
    const rateOf = (name: keyof typeof clients): number => median(all[name].map(({ rate }) => rate));
    const cpuOf = (name: keyof typeof clients): number =>
      median(all[name].map(({ cpuMicroseconds }) => cpuMicroseconds));
    const row = (first: string, ...cells: string[]): void =>
      bench.say(`${first.padEnd(18)}${cells.map((cell) => cell.padStart(20)).join('')}`);
    row('client', 'requests/s', 'µs of CPU a request');
    for (const name of Object.keys(clients) as (keyof typeof clients)[])
      row(name, String(Math.round(rateOf(name))), cpuOf(name).toFixed(2));
    bench.say('');
    row('', 'times the rate', 'times by CPU', 'goal');
    for (const [one, other, goal] of goals) {
      const [byRate, byCpu] = [rateOf(one) / rateOf(other), cpuOf(other) / cpuOf(one)];
      row(`${one} : ${other}`, byRate.toFixed(2), byCpu.toFixed(2), String(goal));
    }
    bench.say('');
    for (const [one, other, goal] of goals) {
      const ratio = rateOf(one) / rateOf(other);
      const shown = (name: keyof typeof clients): string =>
        `${name} ${Math.round(rateOf(name))}/s, ${cpuOf(name).toFixed(1)} µs`;
      const work = `${requests} requests of 400 bytes, one connection`;
      bench.compare({ work, ours: shown(one), peer: shown(other), ratio, goal: `≥ ${goal} ×`, isMet: ratio >= goal });
    }
  },
};

async function runH2load({
  folder,
  requests,
  url,
}: {
  folder: string;
  requests: number;
  url: string;
}): Promise<Measured> {
  const words = ['-n', String(requests), '-c', '1', '-m', String(streams), '-d', join(folder, 'body'), url];
  // The shell's last line is its children's usage: minutes and seconds, user and system.
  const child = spawn('/bin/sh', ['-c', '"$@" && times', 'sh', '/usr/bin/h2load', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0 || !printed.includes(` ${requests} succeeded`))
    throw new Error(`h2load ended with ${code}: ${printed}`);
  const used = printed.trimEnd().split('\n').at(-1)!.split(' ');
  const seconds = used.map((text) => Number(text.split('m')[0]) * 60 + Number.parseFloat(text.split('m')[1]!));
  return {
    rate: Number(/, ([\d.]+) req\/s/.exec(printed)![1]),
    cpuMicroseconds: ((seconds[0]! + seconds[1]!) * 1e6) / requests,
  };
}

/** The maximum growth of kept memory, from the first quarter of the time to the last. */
const maxGrowthMegabytes = 2;

/** Unsent requests must be sent again, and only those in flight when the server ended may stay unknown. */
export const transportSoakCase: Case<'transport-soak', Nghttpd> = {
  prepare: startNghttpd,

  async run(bench, server) {
    const { requests } = bench.options;
    const [startedAt, usage] = [performance.now(), process.cpuUsage()];
    const { memory, faults, unknown, resent, restarted } = await soak(server, bench.options);
    const { user, system } = process.cpuUsage(usage);
    const quarter = Math.floor(memory.length / 4);
    const [first, last] = [Math.max(...memory.slice(0, quarter)), Math.max(...memory.slice(-quarter))];
    if (last > first + maxGrowthMegabytes) faults.push('memory grows');
    if (unknown > restarted * streams * defaultSessionsPerTarget) faults.push('more unknown than were in flight');
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = ((user + system) / requests).toFixed(2);
    bench.say(`${requests} requests in ${seconds.toFixed(1)} s, ${cpu} µs of CPU each`);
    bench.say(`server restarted ${restarted} times: ${unknown} unknown, ${resent} unsent and sent again`);
    bench.say(`kept in memory: ${first.toFixed(1)} MB at most in the first quarter, ${last.toFixed(1)} MB in the last`);
    bench.say(`resident: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB at most`);
    bench.say(faults.length === 0 ? 'each told once' : [`${faults.length} faults`, ...faults.slice(0, 20)].join('\n'));
    if (faults.length > 0) bench.fail();
  },
};

type Soaked = { memory: number[]; faults: string[]; unknown: number; resent: number; restarted: number };

async function soak(server: Nghttpd, { requests, restarts }: { requests: number; restarts: number }): Promise<Soaked> {
  const { listener, transport } = await openTransport(server);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const soaked: Soaked = { memory: [], faults: [], unknown: 0, resent: 0, restarted: 0 };
  const hasEnded = new Uint8Array(requests);
  const unsent: number[] = [];
  let [next, ended] = [0, 0];
  let lastEnd: () => void = () => {};
  const allEnded = new Promise<void>((resolve) => (lastEnd = resolve));

  const end = (ticket: number): void => {
    if (hasEnded[ticket] !== 0) soaked.faults.push(`request ${ticket} was told twice`);
    hasEnded[ticket] = 1;
    ended += 1;
    if (ended === requests) lastEnd();
    if (ended % Math.ceil(requests / 40) === 0) soaked.memory.push(keptMegabytes(collectGarbage));
    if (restarts > 0 && ended % Math.ceil(requests / (restarts + 1)) === 0) {
      soaked.restarted += 1;
      void listener.restart();
    }
  };
  const owner = {
    reads: 'failures' as const,
    onAccepted(ticket: number, status: number) {
      if (status !== 200) soaked.faults.push(`status ${status}`);
      end(ticket);
    },
    onAnswer(ticket: number, answer: Answer) {
      if (answer.kind === 'failure' && answer.certainty === 'unsent') {
        soaked.resent += 1;
        unsent.push(ticket);
        return;
      }
      if (answer.kind === 'failure' && answer.reason === 'reset') soaked.unknown += 1;
      else soaked.faults.push(JSON.stringify(answer));
      end(ticket);
    },
    onSpace: sendMore,
    // The server will listen again shortly.
    onUnreachable: () => void setTimeout(sendMore, 20),
  };
  const head = new RequestHead([['apns-push-type', 'alert']], ['apns-id']);
  const outgoing = { head, path: server.path, values: [''], body: Buffer.alloc(400, 'x'), ticket: 0, listener: owner };
  const lane = transport.openLane({ key: 'soak', origin: listener.origin, isGuarded: false }, owner);
  function sendMore(): void {
    for (;;) {
      const ticket = unsent.pop() ?? next;
      if (ticket >= requests) return;
      outgoing.ticket = ticket;
      outgoing.values[0] = String(ticket);
      if (lane.send(outgoing)) {
        if (ticket === next) next += 1;
        continue;
      }
      if (ticket < next) unsent.push(ticket);
      return;
    }
  }

  // Requests that were given back while nothing else was open get no `onSpace` call.
  const again = setInterval(sendMore, 100);
  sendMore();
  await allEnded;
  clearInterval(again);
  await transport.close();
  return soaked;
}

async function openTransport(server: Nghttpd) {
  const certificate = await readFile(join(server.folder, 'cert.pem'), 'utf8');
  setDefaultCACertificates([...getCACertificates(), certificate]);
  const listener = await server.listen('secure');
  const log = makeLog({ level: 'error', pretty: false });
  return { listener, transport: makeHttp2Transport({ log, allowedNetworks: [] }) };
}

/** Returns the memory after a collection, in the heap and outside it. */
function keptMegabytes(collectGarbage: () => void): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
