/**
 * A node of role `worker` as start/node/engine.ts composes it, but for one part: the simulated providers are those of the
 * process that started it, which outlives this one and counts every request. Arguments: their origins as JSON.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { makeClock } from '../../src/clock.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { conversionSettleSeconds } from '../../src/domain/limits/campaigns.ts';
import { makeShareProviderToken } from '../../src/engine/credentials.ts';
import { makeDoorbell } from '../../src/engine/doorbell.ts';
import { makeFollowDatabaseClock } from '../../src/engine/housekeeping/database-clock.ts';
import { startJob } from '../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { startWorker } from '../../src/engine/start-worker.ts';
import { makeLog } from '../../src/log.ts';
import { makeDelivery } from '../../src/providers/deliver.ts';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { phoneDefaultsOf, readConfig, retentionOf } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';

const simulators = JSON.parse(process.argv[2]!) as SimulatorEndpoints;
const config = readConfig({ environment: process.env, arguments: [] });
const clock = makeClock();
const log = makeLog({ level: config.logLevel, pretty: false });
const started: { stop(): Promise<void> }[] = [];
// Before the first chunk is claimed, so that no signal can find one without a stop.
closeWithGrace({ delay: 90_000, logger: false }, async ({ err }) => {
  if (err) process.stderr.write(`unexpected fault; stopping: ${err.stack}\n`);
  for (const part of started.toReversed()) await part.stop();
});
// The process that counts is gone.
process.on('disconnect', () => process.exit(1));

const installation = await openInstallation(config, { clock, log });
started.push({ stop: installation.close });
const { acrossWorkspaces: database, sessionUrl, encryption } = installation;
const endpoints = { ...realProviderEndpoints, simulators };
const shareToken = makeShareProviderToken({ database, encryption, log });
const delivery = makeDelivery({ clock, log, allowedNetworks: [], endpoints, shareToken });
started.push({ stop: () => delivery.close() });
// Sending to this device ends the process, like a message that the runtime cannot bear.
const deadly = process.env.TORTURE_DEADLY_ADDRESS;
const openBatch: typeof delivery.openBatch = (batch) => {
  const send = delivery.openBatch(batch);
  if (deadly === undefined) return send;
  return (place) => {
    if (batch.devices[place]!.pushId === deadly) process.kill(process.pid, 'SIGKILL');
    send(place);
  };
};
const followClock = makeFollowDatabaseClock({ database, clock, onMoved: () => worker.wake() });
const worker = await startWorker({
  database,
  sessionUrl,
  doorbell: makeDoorbell({ database }),
  clock,
  log,
  encryption,
  delivery: { ...delivery, openBatch },
  interactionTokens: makeInteractionTokens(installation.secretFor('interactions')),
  phoneDefaults: phoneDefaultsOf(config),
  // The process id shows which worker holds a lease.
  owner: `${process.pid}-${randomBytes(9).toString('base64url')}`,
  parallelChunks: config.workerChunks,
  workspacePercent: config.workspacePercent,
  windowDevices: config.windowDevices,
  lateSendMinutes: config.lateSendMinutes,
  inboxMessages: config.inboxMessages,
  retention: retentionOf(config),
  allowedNetworks: config.allowedNetworks,
  smtpClient: undefined,
  outcomes: makeOutcomeBuffer({ log, pause: (milliseconds) => setTimeout(milliseconds) }),
  abbreviation: config.headerPrefix,
  segmentUsersPerDay: config.segmentUsersPerDay,
  pictures: { objects: undefined, keptDays: config.keepPicturesDays },
  async *readReport() {},
  conversionSettleSeconds,
});
started.push(worker);
started.push(startJob(followClock, { clock, log }));

// The clock was moved: followed at once instead of within five seconds.
process.on('message', () => void followClock.runOnce(clock.now()).then(() => process.send?.('moved')));
process.send?.('started');
