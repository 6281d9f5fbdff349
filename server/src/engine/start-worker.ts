import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { PhoneDefaults } from '../domain/content/content.ts';
import type { InteractionTokens } from '../domain/events/interactions.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import type { RetentionDays } from '../domain/operations/retention.ts';
import type { Logger } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { isDistributed } from '../storage/cluster.ts';
import { makeWatchAlerts } from './monitoring/alerts.ts';
import type { WatchAlertsDependencies } from './monitoring/alerts.ts';
import { makeDeliverCallbacks } from './outbox/callbacks.ts';
import { makeNoteEventBatches, makePostEventBatches } from './outbox/event-streams.ts';
import { makeAttributeConversions } from './conversions.ts';
import { makeLoadCredentials } from './credentials.ts';
import type { AppsOfWorkspace } from './credentials.ts';
import type { Delivery } from '../providers/deliver.ts';
import type { Job, JobBook, JobDependencies, Rest, RunningJob } from './jobs/job.ts';
import type { NodeMeter } from './monitoring/node-meter.ts';
import type { Doorbell } from './doorbell.ts';
import { startJob } from './jobs/job.ts';
import { makeDeliverToDevices } from './fan-out/deliver-to-devices.ts';
import { makeContinueMendedRuns, makeProbeHeldKeys, makeEvidence } from './governor/provider-evidence.ts';
import { makeCorrectTurns } from './fan-out/correct-turns.ts';
import { makeCutAudiences } from './fan-out/cut-audiences.ts';
import { makeEndNamedCampaigns, makeEndRuns } from './fan-out/end-runs.ts';
import { makeReleaseRuns } from './fan-out/runs.ts';
import { makePersonaliseDevices } from './fan-out/compose-message.ts';
import { makeRetryDeliveries } from './fan-out/retry-deliveries.ts';
import { makeSendWindow } from './fan-out/send-window.ts';
import type { SendWindow } from './fan-out/send-window.ts';
import { startNamedRuns } from './fan-out/send-named-runs.ts';
import type { OwnRuns } from '../storage/runs/named-runs.ts';
import { makeWindowTurns, startChunkWorkers } from './fan-out/work-chunks.ts';
import { makeGovernor } from './governor/governor.ts';
import {
  makeArchiveEndedKeys,
  makeDropSegmentLeftovers,
  makeExpireSegments,
  makeRotateTokenSecrets,
} from './housekeeping/expiry.ts';
import { makeDropOldDays, makePrepareDays } from './housekeeping/days.ts';
import { makeDropOldReceipts, makeDropOldRecords, makeTrimOldRecords } from './housekeeping/old-records.ts';
import { makeEraseLogBodies } from './housekeeping/erase-log-bodies.ts';
import { makeEraseDueUsers } from './housekeeping/erase-users.ts';
import { makeRemoveTopics } from './housekeeping/remove-topics.ts';
import { makeRemovePictures } from './pictures/remove-pictures.ts';
import type { RemovePicturesDependencies } from './pictures/remove-pictures.ts';
import { makeWriteReportFiles } from './report-files.ts';
import type { ReadReport } from './report-files.ts';
import { makeSendLiveActivities } from './live-activities.ts';
import { makeSendTokenChallenges } from './token-challenges.ts';
import type { OutcomeBuffer } from './jobs/outcome-buffer.ts';
import { makeSendEmails } from './outbox/emails.ts';
import type { SmtpClient } from './outbox/emails.ts';
import { makeOutgoingClient, postOnce } from '../outgoing/client.ts';
import type { OutgoingProxy } from '../outgoing/proxy.ts';
import { makeFireDueCampaigns } from './scheduler.ts';
import { makeAdvanceJourneys } from './journeys/advance-journeys.ts';
import { makeReleaseDueTriggers } from './triggers.ts';
import { makeFillSegments, fillTurnLimits } from './segment-fill/fill-segments.ts';

export type WorkerDependencies = {
  database: Database;
  /** The database URL that the doorbell listens on. */
  sessionUrl: string;
  doorbell: Doorbell;
  clock: Clock;
  log: Logger;
  /** Records the last result of each job. */
  book?: JobBook;
  encryption: Encryption;
  delivery: Delivery;
  /** Signs the tokens in devices' interaction reports. */
  interactionTokens: InteractionTokens;
  phoneDefaults: PhoneDefaults;
  /** Receives the apps of a workspace before messages are sent to their devices. */
  onApps?: ((of: AppsOfWorkspace) => Promise<void>) | undefined;
  /** Identifies this process in leases; unique per start. */
  owner: string;
  parallelChunks: number;
  /** The part of the chunks, in percent, that one workspace may use at the same time. */
  workspacePercent: number;
  windowDevices: number;
  /** A scheduled send found later than this is recorded as missed (decision D37). */
  lateSendMinutes: number;
  inboxMessages: number;
  retention: RetentionDays;
  /** Private networks that addresses chosen by callers may lead to (decision D29). */
  allowedNetworks: readonly string[];
  proxy?: OutgoingProxy | undefined;
  /** Sends reports by SMTP. If undefined, they are kept to be read in the console. */
  smtpClient: SmtpClient | undefined;
  segmentUsersPerDay: number;
  pictures: Pick<RemovePicturesDependencies, 'objects' | 'keptDays'>;
  /** The service's abbreviation, as used in header names. */
  abbreviation: string;
  /** How long an event waits before it is counted as a conversion. */
  conversionSettleSeconds: number;
  readReport: ReadReport;
  /** Enables alerts. If undefined, no alerts are opened. */
  alerts?: Pick<WatchAlertsDependencies, 'readAlertIssues' | 'recheck' | 'consoleUrl'>;
  outcomes: OutcomeBuffer;
  rest?: Rest | undefined;
  /** Wraps each window in a trace span. */
  traceWindows?: ((sendWindow: SendWindow) => SendWindow) | undefined;
  /** Counts callbacks and segment fills. */
  meter?: Pick<NodeMeter, 'noteCallback' | 'noteFill'> | undefined;
};

export type Worker = {
  /** Sends pushes that this node has just accepted. */
  ownRuns: OwnRuns;
  /** Wakes every job now, because the clock was moved. */
  wake(): void;
  /** Wakes the jobs whose work is due at a specific time. The remaining jobs are cleanup, which has no fixed time. */
  wakeDue(): void;
  /** Lets open windows finish, releases the chunks, then stops everything. */
  stop(): Promise<void>;
};

/** Each file being read holds a session. */
export const workerSessions = fillTurnLimits.total;
// Two dedicated slots keep transactional sends fast while campaigns fill the others.
const transactionalChunks = 2;

/** Starts everything that a node with role `worker` does. */
export async function startWorker(deps: WorkerDependencies): Promise<Worker> {
  const { database, log, doorbell } = deps;
  const fanOut = startFanOut(deps);
  const segments = startReceiverJobs(deps, { onFilled: fanOut.wakeRelease });
  const dueKeeping = startJobs(
    [makeExpireSegments({ database }), makeEraseDueUsers({ database }), makeEraseLogBodies({ database })],
    deps,
  );
  const housekeeping = startHousekeeping(deps);
  const schedules = startSchedules(deps, { onFired: doorbell.ring, onReleased: fanOut.wakeRelease });
  const journeys = startJobs([makeAdvanceJourneys({ database, log, lateSendMinutes: deps.lateSendMinutes })], deps);
  const wakeDue = (): void => {
    journeys.wake();
    schedules.wake();
    fanOut.wake();
    segments.wake();
    dueKeeping.wake();
  };
  const wakes = {
    ...{ 'fan-out': fanOut.wake, 'named-runs': fanOut.wakeNamed, segments: segments.wake },
    journeys: journeys.wake,
  };
  const answering = await doorbell.answer({ url: deps.sessionUrl, log, wakes });
  return {
    ownRuns: fanOut.ownRuns,
    wakeDue,
    wake() {
      wakeDue();
      housekeeping.wake();
    },
    async stop() {
      deps.outcomes.noteStopping();
      await answering.stop();
      await Promise.all([journeys, schedules, fanOut, segments, dueKeeping, housekeeping].map((part) => part.stop()));
    },
  };
}

/** What every part needs that sends to providers. */
function makeProviding({ database, clock, log, delivery, encryption, onApps }: WorkerDependencies) {
  return {
    ...{ clock, log, delivery, random: Math.random },
    loadCredentials: makeLoadCredentials({ database, encryption, clock, onApps }),
    governor: makeGovernor({ database, clock, log, pause: (milliseconds) => setTimeout(milliseconds) }),
    evidence: makeEvidence({ database, clock, log }),
  };
}

/** Starts the chunk workers and the jobs that release, continue, retry and end runs. */
function startFanOut(deps: WorkerDependencies) {
  const { database, clock, log, outcomes, rest } = deps;
  const looping = { clock, log, book: deps.book, rest };
  const personaliseDevices = makePersonaliseDevices({ database });
  const providing = makeProviding(deps);
  const deliverToDevices = makeDeliverToDevices({
    ...providing,
    interactionTokens: deps.interactionTokens,
    phoneDefaults: deps.phoneDefaults,
  });
  const end = startJob(makeEndRuns({ database, clock, log }), looping);
  const sendWindow = makeSendWindow({
    ...{ database, clock, log, windowDevices: deps.windowDevices },
    ...{ personaliseDevices, deliverToDevices, outcomes },
  });
  const working = {
    ...{ database, clock, log, owner: deps.owner, rest, outcomes },
    sendWindow: deps.traceWindows?.(sendWindow) ?? sendWindow,
    turns: makeWindowTurns(),
    onChunkEnded: end.wake,
  };
  const { parallelChunks, workspacePercent } = deps;
  const slots = { parallelChunks, workspacePercent, transactionalChunks };
  const chunks = startChunkWorkers({ ...working, ...slots, namedRuns: 'apart' });
  const correcting = startJob(makeCorrectTurns({ database, clock, wakeWorkers: chunks.wake }), looping);
  const named = startNamedRuns({
    ...{ ...working, personaliseDevices, deliverToDevices, windowDevices: deps.windowDevices },
    onRunsEnded: makeEndNamedCampaigns({ database, clock, log }),
    onChunksLeft: chunks.wake,
  });
  const cutting = startJob(makeCutAudiences({ database, clock, log, wakeWorkers: chunks.wake }), looping);
  const onReleased = (): void => {
    chunks.wake();
    cutting.wake();
  };
  const release = startJob(makeReleaseRuns({ database, log, wakeWorkers: onReleased }), looping);
  const sending = { personaliseDevices, deliverToDevices, outcomes };
  const isCluster = () => isDistributed(database, 'deliveries');
  const retrying = makeRetryDeliveries({ database, clock, log, ...sending, isCluster, onSettled: end.wake });
  const retry = startJob(retrying, looping);
  const liveJob = makeSendLiveActivities({ database, outcomes, ...providing });
  const live = startJob(liveJob, looping);
  const challengeJob = makeSendTokenChallenges({ database, outcomes, phoneDefaults: deps.phoneDefaults, ...providing });
  const challenges = startJob(challengeJob, looping);
  const onContinued = (): void => {
    chunks.wake();
    retry.wake();
  };
  const continuing = startJob(makeContinueMendedRuns({ database, clock, onContinued }), looping);
  const probing = startJob(makeProbeHeldKeys({ database, clock, onDue: retry.wake }), looping);
  const parts = [named, release, cutting, chunks, correcting, retry, continuing, probing, live, challenges];
  return {
    wakeRelease: release.wake,
    wakeNamed: named.wake,
    ownRuns: named.ownRuns,
    wake(): void {
      for (const part of [...parts, end]) part.wake();
    },
    /** Stops the parts, then the job that ends runs, because the last outcomes may end some runs. */
    async stop(): Promise<void> {
      await Promise.all(parts.map((part) => part.stop()));
      await Promise.all([liveJob.settled(), challengeJob.settled()]);
      await end.stop();
    },
  };
}

/** Starts the cleanup jobs, which have no fixed time. */
function startHousekeeping(deps: WorkerDependencies): RunningJob {
  const { database, clock, log, retention } = deps;
  const jobs = [
    makeArchiveEndedKeys({ database }),
    makeRotateTokenSecrets({ database, clock, encryption: deps.encryption, log }),
    makeDropOldRecords({ database, clock, inboxMessages: deps.inboxMessages }),
    makeDropOldReceipts({ database, clock }),
    makeDropSegmentLeftovers({ database }),
    makePrepareDays({ database, log }),
    makeDropOldDays({ database, clock, log, retention }),
    makeTrimOldRecords({ database, clock, log, retention }),
    makeRemovePictures({ database, clock, log, ...deps.pictures }),
    makeRemoveTopics({ database }),
    makeAttributeConversions({ database, settleSeconds: deps.conversionSettleSeconds }),
  ];
  return startJobs(jobs, deps);
}

/** Starts the jobs that create runs when a campaign or a trigger is due. */
function startSchedules(
  deps: WorkerDependencies,
  listeners: { onFired: () => void; onReleased: () => void },
): RunningJob {
  const { database, lateSendMinutes, log } = deps;
  const jobs = [
    makeFireDueCampaigns({ database, log, lateSendMinutes, onFired: listeners.onFired }),
    makeReleaseDueTriggers({ database, log, lateSendMinutes, onReleased: listeners.onReleased }),
  ];
  return startJobs(jobs, deps);
}

/** Starts jobs that are woken and stopped together. */
function startJobs(jobs: readonly Job[], deps: JobDependencies): RunningJob {
  const running = jobs.map((job) => startJob(job, deps));
  return {
    wake() {
      for (const job of running) job.wake();
    },
    async stop() {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}

/**
 * Starts the jobs that contact third-party receivers: event streams, alerts, and everything that follows a file operation. The
 * file fills a segment; then the callback and the report are sent, and runs that waited for the segment continue.
 */
function startReceiverJobs(deps: WorkerDependencies, { onFilled }: { onFilled: () => void }) {
  const { database, clock, log, smtpClient, allowedNetworks, proxy } = deps;
  const looping = { clock, log, book: deps.book, rest: deps.rest };
  const outgoing = makeOutgoingClient({ allowedNetworks, proxy });
  const callbackJob = makeDeliverCallbacks({
    database,
    clock,
    encryption: deps.encryption,
    log,
    post: (request) => postOnce(outgoing, request),
    outcomes: deps.outcomes,
    onAttempt: deps.meter?.noteCallback,
    onFreed: () => callbacks.wake(),
  });
  const callbacks = startJob(callbackJob, looping);
  const eventJob = makePostEventBatches({
    ...{ database, clock, log, encryption: deps.encryption, outcomes: deps.outcomes },
    post: (request) => postOnce(outgoing, request),
    abbreviation: deps.abbreviation,
    onFreed: () => events.wake(),
  });
  const events = startJob(eventJob, looping);
  const noted = startJob(makeNoteEventBatches({ database, onNoted: events.wake }), looping);
  const emails = startJob(makeSendEmails({ database, clock, smtpClient, outcomes: deps.outcomes }), looping);
  const emailState = smtpClient ? 'PENDING' : 'KEPT';
  const onNotified = (): void => {
    callbacks.wake();
    emails.wake();
  };
  const alerts = deps.alerts && [makeWatchAlerts({ database, clock, log, emailState, onNotified, ...deps.alerts })];
  const watching = (alerts ?? []).map((job) => startJob(job, looping));
  const fillJob = makeFillSegments({
    database,
    clock,
    log,
    outgoing,
    outcomes: deps.outcomes,
    owner: deps.owner,
    usersPerDay: deps.segmentUsersPerDay,
    emailState,
    onEnded(result) {
      deps.meter?.noteFill(result);
      callbacks.wake();
      emails.wake();
      onFilled();
    },
    onFreed: () => fills.wake(),
  });
  const fills = startJob(fillJob, looping);
  const reports = startJob(makeWriteReportFiles({ database, clock, log, readReport: deps.readReport }), looping);
  const jobs = [fills, callbacks, noted, events, emails, reports, ...watching];
  return {
    wake() {
      for (const job of jobs) job.wake();
    },
    async stop() {
      fillJob.abort();
      await Promise.all(jobs.map((job) => job.stop()));
      await Promise.all([callbackJob.settled(), eventJob.settled(), fillJob.settled()]);
      await outgoing.close();
      smtpClient?.close();
    },
  };
}
