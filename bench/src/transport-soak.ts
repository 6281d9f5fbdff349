/**
 * Sends many requests through one lane over TLS, to a server that is ended repeatedly with open connections. Checks that each
 * request gets exactly one outcome, that unsent requests are sent again, that only requests in flight when the server ended
 * stay unknown, and that memory does not grow. Exits with 1 if a check fails.
 *
 * Usage: npm run bench -- transport-soak [--requests 10000000] [--restarts 20]. Needs nghttpd (Debian: nghttp2).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { defaultSessionsPerTarget, makeHttp2Transport } from '../../server/src/providers/http2/transport.ts';
import { RequestHead } from '../../server/src/providers/http2/requests.ts';
import type { Answer } from '../../server/src/providers/provider.ts';
import { makeLog } from '../../server/src/log.ts';
import { startNghttpd } from './start-nghttpd.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'transport-soak'),
  options: { requests: { type: 'string', default: '10000000' }, restarts: { type: 'string', default: '20' } },
});
const requests = Number(values.requests);
const restarts = Number(values.restarts);
/** The server's limit per connection. */
const maxStreams = 1_000;
/** The maximum growth of kept memory, from the first quarter of the time to the last. */
const maxGrowthMegabytes = 2;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const server = await startNghttpd();
try {
  await soak();
} finally {
  await server.stop();
}

async function soak(): Promise<void> {
  const certificate = await readFile(join(server.folder, 'cert.pem'), 'utf8');
  setDefaultCACertificates([...getCACertificates(), certificate]);
  const listener = await server.listen('secure');
  const transport = makeHttp2Transport({ log: makeLog({ level: 'error', pretty: false }), allowedNetworks: [] });
  const told = new Uint8Array(requests);
  const unsent: number[] = [];
  const memory: number[] = [];
  const faults: string[] = [];
  let [next, ended, unknown, resent, restarted] = [0, 0, 0, 0, 0];
  let lastEnd: () => void = () => {};
  const allEnded = new Promise<void>((resolve) => (lastEnd = resolve));

  const end = (ticket: number): void => {
    if (told[ticket] !== 0) faults.push(`request ${ticket} was told twice`);
    told[ticket] = 1;
    ended += 1;
    if (ended === requests) lastEnd();
    if (ended % Math.ceil(requests / 40) === 0) memory.push(keptMegabytes());
    if (restarts > 0 && ended % Math.ceil(requests / (restarts + 1)) === 0) {
      restarted += 1;
      void listener.restart();
    }
  };
  const owner = {
    reads: 'failures' as const,
    onAccepted(ticket: number, status: number) {
      if (status !== 200) faults.push(`status ${status}`);
      end(ticket);
    },
    onAnswer(ticket: number, answer: Answer) {
      if (answer.kind === 'failure' && answer.certainty === 'unsent') {
        resent += 1;
        unsent.push(ticket);
        return;
      }
      if (answer.kind === 'failure' && answer.reason === 'reset') unknown += 1;
      else faults.push(JSON.stringify(answer));
      end(ticket);
    },
    onSpace: sendMore,
    // The server will listen again shortly.
    onUnreachable: () => void setTimeout(sendMore, 20),
  };
  const outgoing = {
    head: new RequestHead([['apns-push-type', 'alert']], ['apns-id']),
    path: server.path,
    values: [''],
    body: Buffer.alloc(400, 'x'),
    ticket: 0,
    listener: owner,
  };
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

  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  // Requests that were given back while nothing else was open get no `onSpace` call.
  const again = setInterval(sendMore, 100);
  sendMore();
  await allEnded;
  clearInterval(again);
  const { user, system } = process.cpuUsage(usage);
  await transport.close();

  const quarter = Math.floor(memory.length / 4);
  const [first, last] = [Math.max(...memory.slice(0, quarter)), Math.max(...memory.slice(-quarter))];
  if (last > first + maxGrowthMegabytes) faults.push('memory grows');
  if (unknown > restarted * maxStreams * defaultSessionsPerTarget) faults.push('more unknown than were in flight');
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(
    [
      `${requests} requests in ${seconds.toFixed(1)} s, ${((user + system) / requests).toFixed(2)} µs of CPU each`,
      `server restarted ${restarted} times: ${unknown} unknown, ${resent} unsent and sent again`,
      `kept in memory: ${first.toFixed(1)} MB at most in the first quarter, ${last.toFixed(1)} MB in the last`,
      `resident: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB at most`,
      ...(faults.length === 0 ? ['each told once'] : [`${faults.length} faults`, ...faults.slice(0, 20)]),
      '',
    ].join('\n'),
  );
  if (faults.length > 0) process.exitCode = 1;
}

/** Returns the memory after a collection, in the heap and outside it. */
function keptMegabytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
