import type { Clock } from '../../src/clock.ts';
import type { ProviderCredentials, ProviderName } from '../../src/domain/delivery/providers.ts';
import { providerOf } from '../../src/domain/delivery/providers.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { setImmediate } from 'node:timers/promises';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeSingleBatch } from '../../src/providers/batch.ts';
import type { DeliveryRequest } from '../../src/providers/provider.ts';
import { makeDeliverToDevices } from '../../src/engine/fan-out/deliver-to-devices.ts';
import type { DeviceResult } from '../../src/engine/fan-out/settle-outcome.ts';
import type { DeliverToDevices } from '../../src/engine/fan-out/deliver-to-devices.ts';
import {
  makeContinueMendedRuns,
  makeProbeHeldKeys,
  makeEvidence,
} from '../../src/engine/governor/provider-evidence.ts';
import { makeEndRuns } from '../../src/engine/fan-out/end-runs.ts';
import { makeReleaseRuns } from '../../src/engine/fan-out/runs.ts';
import { makePersonaliseDevices } from '../../src/engine/fan-out/compose-message.ts';
import { makeRetryDeliveries } from '../../src/engine/fan-out/retry-deliveries.ts';
import { makeSendWindow } from '../../src/engine/fan-out/send-window.ts';
import type { SendWindow } from '../../src/engine/fan-out/send-window.ts';
import { chunkLeaseMilliseconds } from '../../src/engine/jobs/leased-job.ts';
import { makeNamedRunSender } from '../../src/engine/fan-out/send-named-runs.ts';
import { makeChunkWorker, makeWindowTurns } from '../../src/engine/fan-out/work-chunks.ts';
import { makeGovernor } from '../../src/engine/governor/governor.ts';
import type { Job } from '../../src/engine/jobs/job.ts';
import { makeFireDueCampaigns } from '../../src/engine/scheduler.ts';
import { makeLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { isDistributed } from '../../src/storage/cluster.ts';
import type { History } from '../rig/history.ts';
import type { SimulatedProcess, SimulatedProviders, Wave } from './simulated-providers.ts';

export type WorkerParts = {
  database: Database;
  clock: Clock;
  providers: SimulatedProviders;
  history: History;
  windowDevices: number;
  lateSendMinutes: number;
  /** Spreads retries. One value for all that happens at an instant, so that its order does not matter. */
  spread: () => number;
  credentials: ProviderCredentials;
  /** What tells the credentials of a provider from those that take their place. */
  credentialVersion: (provider: ProviderName) => string;
};

export type JobName = 'fire' | 'release' | 'end' | 'mend' | 'probe';
export type TaskName = 'chunk' | 'retry';
export type SimulatedWorker = ReturnType<typeof makeSimulatedWorker>;

const log = makeLog({ level: 'silent', pretty: false });

/** A node's engine as start-worker.ts composes it, without its loops: each step is taken by the simulation. */
export function makeSimulatedWorker(name: string, parts: WorkerParts) {
  const { database, clock, providers, history } = parts;
  const process: SimulatedProcess = {
    name,
    state: 'alive',
    stalledUntil: 0,
    stallMilliseconds: undefined,
    requestsToDeath: undefined,
    outlivedLease: false,
  };
  const waves: Wave[] = [];
  const faults: unknown[] = [];
  const tasks = new Set<TaskName>();
  let isStopping = false;
  let beatAt = clock.realNow().getTime();

  const outcomes = makeOutcomeBuffer({ log, pause: () => setImmediate() });
  const governor = makeGovernor({ database, clock, log, pause: async () => {} });
  const evidence = makeEvidence({ database, clock, log });
  const personaliseDevices = makePersonaliseDevices({ database });
  const openWave = (kind: Wave['kind']): Wave => {
    const number = history.nextNumber();
    const wave: Wave = { number, worker: process, kind, beganAt: clock.realNow().getTime(), end: 'open' };
    waves.push(wave);
    return wave;
  };
  const endWave = (wave: Wave, end: Wave['end']): void => {
    wave.end = end;
    if (end === 'stored') history.note({ kind: 'stored', wave: wave.number });
  };
  const makeDeliver = (waveOf: (request: DeliveryRequest) => Wave): DeliverToDevices => {
    const deliver = makeDeliverToDevices({
      clock,
      log,
      governor,
      evidence,
      random: parts.spread,
      interactionTokens: makeInteractionTokens(Buffer.alloc(32, 1)),
      phoneDefaults: { dataPrefix: 'svc', publicUrl: undefined },
      loadCredentials: async () => ({
        find: (device) => ({
          credentials: parts.credentials,
          name: {
            provider: providerOf(device),
            appId: 'default',
            version: parts.credentialVersion(providerOf(device)),
          },
        }),
        apps: [],
      }),
      delivery: { openBatch: makeSingleBatch((request) => providers.deliver(request, waveOf(request))) },
    });
    return async (run, addressees) => {
      const [begunAt, before] = [clock.now(), providers.requests.length];
      const results = await deliver(run, addressees);
      if (begunAt < run.sendUntil) notePutOffs({ runId: run.id, results, before });
      return results;
    };
  };
  /** What was due and not sent, by the decision of the product. */
  const notePutOffs = ({
    runId,
    results,
    before,
  }: {
    runId: string;
    results: DeviceResult[];
    before: number;
  }): void => {
    const asked = new Set(
      providers.requests.slice(before).flatMap((one) => (one.runId === runId ? [one.deviceId] : [])),
    );
    const [at, realAt] = [clock.now().getTime(), clock.realNow().getTime()];
    for (const { delivery } of results) {
      const { deviceId, outcome, code, retryAt } = delivery;
      if (asked.has(deviceId) || (outcome !== 'WAITING' && outcome !== 'EXPIRED')) continue;
      providers.putOffs.push({ runId, deviceId, at, realAt, until: retryAt?.getTime(), code });
    }
  };

  let window: Wave | undefined;
  const deliverWindow = makeDeliver(() => window!);
  const inner = makeSendWindow({
    database,
    clock,
    log,
    outcomes,
    windowDevices: parts.windowDevices,
    personaliseDevices,
    deliverToDevices: deliverWindow,
  });
  const sendWindow: SendWindow = async (given) => {
    const wave = openWave('window');
    window = wave;
    const result = await inner(given);
    endWave(wave, result.kind === 'lost' ? 'lost' : 'stored');
    return result;
  };
  const working = {
    ...{ database, clock, log, owner: name, outcomes, turns: makeWindowTurns() },
    onChunkEnded: () => {},
  };
  const slots = { sendWindow, parallelChunks: 1, transactionalChunks: 0, namedRuns: 'apart' } as const;
  const chunks = makeChunkWorker({ ...working, ...slots }, { isStopping: () => isStopping, onClaimed: () => {} });

  const ofRuns = new Map<string, Wave>();
  const named = makeNamedRunSender(
    {
      ...{ ...working, personaliseDevices, windowDevices: parts.windowDevices, lingerMilliseconds: 0 },
      onChunksLeft: () => {},
      onRunsEnded: () => {},
      deliverToDevices: (to, devices) =>
        makeDeliver(() => {
          const wave = ofRuns.get(to.id) ?? openWave('window');
          ofRuns.set(to.id, wave);
          return wave;
        })(to, devices),
    },
    { isStopping: () => isStopping, onFreed: () => {} },
  );
  /** Sends a batch of runs to named users, or if there is none a chunk. */
  const sendNext = async (): Promise<unknown> => {
    if ((await named.sendNext()) === 0) return chunks.workNextChunk(1);
    await named.settled();
    for (const wave of ofRuns.values()) endWave(wave, hasOutlivedLease(wave) ? 'unsure' : 'stored');
    ofRuns.clear();
    return undefined;
  };
  /** Nothing says what another worker took over: after a lease it may have been this. */
  const hasOutlivedLease = (wave: Wave): boolean => clock.realNow().getTime() - wave.beganAt >= chunkLeaseMilliseconds;

  // One for each message: on a cluster several batches are sent side by side, and stored each by itself.
  const retried = new Map<string, Wave>();
  const keyOf = (runNumber: number, deviceId: string): string => `${runNumber}/${deviceId}`;
  const deliverBatch: DeliverToDevices = (to, devices) =>
    makeDeliver(({ device }) => {
      const key = keyOf(to.number, device.deviceId);
      const wave = retried.get(key) ?? openWave('retry');
      retried.set(key, wave);
      return wave;
    })(to, devices);
  const retry = makeRetryDeliveries({
    ...{ database, clock, log, outcomes, personaliseDevices, deliverToDevices: deliverBatch },
    isCluster: () => isDistributed(database, 'deliveries'),
    onSettled(due) {
      for (const { runNumber, deviceId } of due) {
        const wave = retried.get(keyOf(runNumber, deviceId));
        retried.delete(keyOf(runNumber, deviceId));
        if (wave) endWave(wave, hasOutlivedLease(wave) ? 'unsure' : 'stored');
      }
    },
  });
  const run: Record<TaskName, () => Promise<unknown>> = {
    chunk: sendNext,
    retry: () => retry.runOnce(clock.now()),
  };
  const jobs: Record<JobName, Job> = {
    fire: makeFireDueCampaigns({ database, log, lateSendMinutes: parts.lateSendMinutes, onFired() {} }),
    release: makeReleaseRuns({ database, log, wakeWorkers: () => {} }),
    end: makeEndRuns({ database, clock, log }),
    mend: makeContinueMendedRuns({ database, clock, onContinued: () => {} }),
    probe: makeProbeHeldKeys({ database, clock, onDue: () => {} }),
  };

  return {
    name,
    process,
    waves,
    /** What a task threw; nothing here may. */
    faults,
    isFree: (task: TaskName): boolean => !tasks.has(task) && process.state === 'alive' && !isStopping && !isStalled(),
    isIdle: (): boolean => tasks.size === 0,
    isStalled,
    runJob: (job: JobName): Promise<number> => jobs[job].runOnce(clock.now()),
    /** Begins a task, which goes on whenever the providers answer. */
    begin(task: TaskName): void {
      tasks.add(task);
      run[task]()
        .catch((error: unknown) => faults.push(error))
        .finally(() => tasks.delete(task));
    },
    /** Ends after the windows under way, and gives chunks back. */
    stop(): void {
      isStopping = true;
    },
    /** It has stopped: nobody asks it for anything any more. */
    retire(): void {
      process.state = 'dead';
    },
    /** Heartbeats as of the timer: a process that stands still has none. */
    async beat(): Promise<void> {
      const now = clock.realNow().getTime();
      if (process.state === 'dead' || isStalled() || now - beatAt < heartbeatMilliseconds) return;
      beatAt = now;
      await Promise.all([chunks.renewLeases(), named.renewLeases()]);
    },
    stall(milliseconds: number): void {
      process.stallMilliseconds = milliseconds;
      process.outlivedLease ||= milliseconds >= chunkLeaseMilliseconds - heartbeatMilliseconds;
    },
  };

  function isStalled(): boolean {
    return process.stalledUntil > clock.realNow().getTime();
  }
}

export const heartbeatMilliseconds = 10_000;
