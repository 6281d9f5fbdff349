import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { Server } from 'node:net';
import { makeOutgoingClient } from '../../../src/outgoing/client.ts';
import type { OutgoingClient } from '../../../src/outgoing/client.ts';
import { DownloadFailedError } from '../../../src/engine/segment-fill/content-codings.ts';
import { downloadFile } from '../../../src/engine/segment-fill/download-file.ts';

/**
 * Started by outgoing-client.test.ts in a network namespace where every address of the internet is this machine, so a
 * connection that should not have been made arrives here. Prints one line of JSON: who was called, and what arrived.
 */

// Fault 3.4: places that are not the public internet, in every spelling a URL knows.
const spellings = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.000.000.001', '0177.0.0.1', '0x7f.0.0.1', '0x7f.1', '2130706433'],
  ...[
    '0x7f000001',
    '017700000001',
    '127.255.255.254',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '0x0',
    '１２７.0.0.1',
    '①②⑦.0.0.1',
  ],
  ...['127%2e0%2e0%2e1', '127。0。0。1', 'localhost', 'LOCALHOST'],
  ...[
    '10.0.0.1',
    '012.0.0.1',
    '167772161',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '3232235521',
  ],
  ...['169.254.169.254', '169.254.43518', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.170.2'],
  ...['100.64.0.1', '100.100.100.200', '168.63.129.16', '192.0.0.1', '192.0.0.192', '192.0.2.1', '198.18.0.1'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]'],
  ...['[::127.0.0.1]', '[::7f00:1]', '[::169.254.169.254]', '[fe80::1]', '[fc00::1]', '[fd00::1]', '[fd00:ec2::254]'],
  ...['[ff02::1]', '[64:ff9b::7f00:1]', '[64:ff9b::169.254.169.254]', '[64:ff9b:1::1]', '[2002:7f00:1::]'],
  ...['[2002:a9fe:a9fe::]', '[2001::1]', '[2001:db8::1]', '[fec0::1]'],
];

/** Names whose answers are chosen here; every other name goes to the machine's own resolver. */
const answersOfName: Record<string, string[][]> = {
  'private.example': [['10.0.0.1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'mixed.example': [['8.8.8.8', '127.0.0.1']],
  'mixed6.example': [['::1', '8.8.8.8']],
  // Public when it is checked, private ever after.
  'rebind.example': [['8.8.8.8'], ['127.0.0.1']],
};
const askedOfName = new Map<string, number>();

async function resolveFromTable(host: string): Promise<{ address: string }[]> {
  const answers = answersOfName[host]!;
  const asked = askedOfName.get(host) ?? 0;
  askedOfName.set(host, asked + 1);
  return answers[Math.min(asked, answers.length - 1)]!.map((address) => ({ address }));
}

/** The address of ours that each connection came in on, IPv4 unpacked. */
let arrivals: string[] = [];

function note<T extends Server>(server: T): T {
  // First of its listeners: one that destroys the socket leaves no address to read.
  server.prependListener('connection', (socket) =>
    arrivals.push((socket.localAddress ?? 'gone').replace(/^::ffff:(?=\d+\.)/, '')),
  );
  return server;
}

const http = note(
  createHttpServer((request, response) => {
    const location = request.url?.startsWith('/to-metadata') ? 'http://169.254.169.254/latest/meta-data/' : undefined;
    response.writeHead(location ? 302 : 200, location ? { location } : {}).end('reached');
  }),
);
// Speaks no TLS: that a connection arrives at all is what counts.
const https = note(createTcpServer((socket) => socket.on('error', () => {}).destroy()));

/** What arrived until now. Connections are accepted in order, so one of our own that arrived ends the wait. */
async function takeArrivals(): Promise<string[]> {
  for (const [server, port] of [
    [http, 80],
    [https, 443],
  ] as const) {
    const arrived = once(server, 'connection');
    const socket = connect(port, '127.0.0.9').on('error', () => {});
    await arrived;
    socket.destroy();
  }
  const taken = arrivals.filter((address) => address !== '127.0.0.9');
  arrivals = [];
  return taken;
}

/** The status, or the error's name. */
async function call(client: OutgoingClient, url: string): Promise<number | string> {
  try {
    const { status, body } = await client.open({ url, method: 'GET', headers: {} });
    body.destroy();
    return status;
  } catch (error) {
    return (error as Error).name;
  }
}

async function callAll(client: OutgoingClient, urls: string[]): Promise<Record<string, number | string>> {
  const outcomes: Record<string, number | string> = {};
  for (const url of urls) outcomes[url] = await call(client, url);
  return outcomes;
}

async function download(client: OutgoingClient, url: string): Promise<string> {
  try {
    for await (const _chunk of downloadFile(client, { url }));
    return 'downloaded';
  } catch (error) {
    return error instanceof DownloadFailedError ? error.kind : String(error);
  }
}

http.listen(80, '::');
https.listen(443, '::');
await Promise.all([once(http, 'listening'), once(https, 'listening')]);

const options = { connectMilliseconds: 3_000, silenceMilliseconds: 3_000 };
const closed = makeOutgoingClient({ ...options, allowedNetworks: [] });
const opened = makeOutgoingClient({ ...options, allowedNetworks: ['0.0.0.0/0', '::/0'] });
const named = makeOutgoingClient({ ...options, allowedNetworks: [], resolver: resolveFromTable });
const namedOpened = makeOutgoingClient({ ...options, allowedNetworks: ['0.0.0.0/0'], resolver: resolveFromTable });

const urls = spellings.map((host) => `http://${host}/`);
const names = Object.keys(answersOfName).filter((name) => name !== 'rebind.example');
const report = {
  closed: {
    outcomes: await callAll(closed, [...urls, ...spellings.map((host) => `https://${host}/`)]),
    arrivals: await takeArrivals(),
  },
  closedNames: {
    outcomes: await callAll(
      named,
      names.flatMap((name) => [`http://${name}/`, `https://${name}/`]),
    ),
    arrivals: await takeArrivals(),
  },
  opened: { outcomes: await callAll(opened, urls), arrivals: await takeArrivals() },
  openedName: { outcome: await call(namedOpened, 'http://private.example/'), arrivals: await takeArrivals() },
  // A proxy in the environment would show as an arrival at 127.0.0.1.
  public: {
    outcomes: await callAll(closed, ['http://8.8.8.8/', 'http://[2606:4700:4700::1111]/']),
    arrivals: await takeArrivals(),
  },
  rebound: {
    outcome: await call(named, 'http://rebind.example/'),
    second: await call(named, 'http://rebind.example/'),
    arrivals: await takeArrivals(),
  },
  redirected: { outcome: await download(closed, 'http://8.8.8.8/to-metadata'), arrivals: await takeArrivals() },
  redirectedOpen: { outcome: await download(opened, 'http://8.8.8.8/to-metadata'), arrivals: await takeArrivals() },
};
process.stdout.write(`${JSON.stringify(report)}\n`);

await Promise.all([closed, opened, named, namedOpened].map((client) => client.close()));
http.close();
http.closeAllConnections();
https.close();
