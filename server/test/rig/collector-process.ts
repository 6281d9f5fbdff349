/**
 * The simulated providers in a process, which is never killed and counts what devices receive. Argument: the address at which
 * gates make them reachable from other network namespaces as well; empty for none.
 */
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { startCollector } from './collector.ts';
import type { CollectorCommand, CollectorReply } from './collector.ts';
import { startGate } from './gate.ts';

const host = process.argv[2]!;
const collector = await startCollector(
  await openInstallation(readConfig({ environment: process.env, arguments: [] }), {
    clock: makeClock(),
    log: makeLog({ level: 'error', pretty: false }),
  }),
);
const { endpoints: here } = collector;
const relay = async (origin: string): Promise<string> => (await startGate(origin, host)).origin;
const relayed =
  host === ''
    ? undefined
    : {
        fcm: { messagesOrigin: await relay(here.fcm.messagesOrigin), tokenOrigin: await relay(here.fcm.tokenOrigin) },
        apns: await relay(here.apns),
        webpush: { ...here.webpush, connectTo: await relay(here.webpush.connectTo) },
      };

process.on('message', (command: CollectorCommand) => void carryOut(command).then((reply) => process.send?.(reply)));
// The process that started it has ended.
process.on('disconnect', () => process.exit(0));
process.send?.({ here, relayed });

async function carryOut(command: CollectorCommand): Promise<CollectorReply> {
  const { id } = command;
  switch (command.kind) {
    case 'reached': {
      const { campaignId } = command;
      return { id, reached: campaignId === undefined ? collector.reached() : collector.of(campaignId).size };
    }
    case 'faults':
      await collector.setFaults(command.faults);
      return { id };
    case 'received':
      await collector.settle();
      return { id, received: command.campaignIds.map((campaignId) => [campaignId, [...collector.of(campaignId)]]) };
  }
}
