/**
 * The simulated providers in a process of their own, which is never harmed and counts what devices receive. Argument: the
 * address at which they are also to be reached, by relays, from other network namespaces; empty for none.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { startCollector } from './collector.ts';
import type { CollectorCommand, CollectorReply } from './collector.ts';

const address = process.argv[2]!;
const clock = makeClock();
const log = makeLog({ level: 'error', pretty: false });
const installation = await openInstallation(readConfig({ environment: process.env, arguments: [] }), { clock, log });
const collector = await startCollector({
  ...installation,
  database: installation.acrossWorkspaces,
  clock,
  log,
  secret: installation.secretFor('simulator'),
});
const { endpoints } = collector;
const relayed =
  address === ''
    ? undefined
    : {
        fcm: {
          messagesOrigin: await relay(endpoints.fcm.messagesOrigin),
          tokenOrigin: await relay(endpoints.fcm.tokenOrigin),
        },
        apns: await relay(endpoints.apns),
        webpush: { ...endpoints.webpush, connectTo: await relay(endpoints.webpush.connectTo) },
      };

process.on('message', (command: CollectorCommand) => void carryOut(command).then((reply) => process.send?.(reply)));
// Whoever started it has ended.
process.on('disconnect', () => process.exit(0));
process.send?.({ endpoints, relayed });

async function carryOut(command: CollectorCommand): Promise<CollectorReply> {
  const { id } = command;
  if (command.kind === 'reached')
    return {
      id,
      reached: command.campaignId === undefined ? collector.reached() : collector.of(command.campaignId).size,
    };
  if (command.kind === 'faults') {
    await collector.setFaults(command.faults);
    return { id };
  }
  await collector.settle();
  return { id, received: command.campaignIds.map((campaignId) => [campaignId, [...collector.of(campaignId)]]) };
}

/** Passes on what comes to that address. @returns the origin to ask instead */
async function relay(origin: string): Promise<string> {
  const to = new URL(origin);
  const server = createServer((incoming) => {
    const outgoing = connect(Number(to.port), to.hostname);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  }).listen(0, address);
  await once(server, 'listening');
  return `http://${address}:${(server.address() as AddressInfo).port}`;
}
