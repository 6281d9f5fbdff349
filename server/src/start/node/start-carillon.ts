import { makeClock } from '../../clock.ts';
import { makeLog } from '../../log.ts';
import type { Logger } from '../../log.ts';
import { makeOutgoingProxy } from '../../outgoing/proxy.ts';
import { realProviderEndpoints } from '../../providers/registry.ts';
import { openSimulatorThread } from '../../providers/simulator/simulator-thread.ts';
import type { SimulatorThread } from '../../providers/simulator/simulator-thread.ts';
import { carillonVersion } from '../carillon-version.ts';
import { isTracingAsked, proxySettingsOf } from '../config.ts';
import type { Config } from '../config.ts';
import { openInstallation } from '../database/open-installation.ts';
import type { Composition } from './composition.ts';
import type { RunningNode } from './roles.ts';
import { startTracing } from './tracing.ts';

export type Carillon = RunningNode & {
  /** Settles with the reason when the embedded database ends; undefined with an external database. */
  databaseExited: Promise<string> | undefined;
  log: Logger;
  /** Stops everything in order: requests, windows, doorbell, simulators, pools, database. */
  stop(): Promise<void>;
};

export type StartOptions = Partial<Pick<Composition, 'providers' | 'simulatorsRunIn' | 'rest' | 'stopRequested'>>;

/**
 * Composes one node: configuration → database, clock, encryption → use cases → roles.
 *
 * @throws StartError and the errors that `toStartError` handles, or the reason of `stopRequested`; parts that had started are
 *   stopped again
 */
export async function startCarillon(
  config: Config,
  {
    providers = realProviderEndpoints,
    simulatorsRunIn = 'own thread',
    rest,
    stopRequested = new AbortController().signal,
  }: StartOptions = {},
): Promise<Carillon> {
  const clock = makeClock();
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const proxy = makeOutgoingProxy(proxySettingsOf(config), log);
  const started: Composition['started'] = [];
  const node = { version: carillonVersion, role: config.role, mode: config.mode };
  log.info(node, 'node starts');
  const tracing = isTracingAsked() ? await startTracing(config) : undefined;
  if (tracing) started.push(tracing);
  let stopped: Promise<void> | undefined;
  const stopParts = async (): Promise<void> => {
    log.info('node stops');
    for (const part of started.toReversed())
      await part.stop().catch((error: unknown) => log.error({ err: error }, 'stop failed'));
    log.info('node stopped');
  };
  // A signal and a fault may both request it.
  const stop = (): Promise<void> => (stopped ??= stopParts());
  try {
    // Loaded while waiting for the database; most failing starts are reported before that.
    const loadRoles = () => import('./roles.ts');
    let loading: ReturnType<typeof loadRoles> | undefined;
    const needsThread = config.mode === 'sandbox' && simulatorsRunIn === 'own thread';
    let simulatorThread: SimulatorThread | undefined;
    const onWaiting = (): void => {
      if (loading) return;
      if (needsThread) started.push({ stop: (simulatorThread = openSimulatorThread()).end });
      loading = loadRoles();
      // Its error is handled by the `await` below. Until then an unhandled rejection would end the process without a message.
      loading.catch(() => {});
    };
    const installation = await openInstallation(config, { clock, log, stopRequested, onWaiting });
    started.push({ stop: installation.close });
    const { startRoles } = await (loading ?? loadRoles());
    const roles = await startRoles({
      config,
      providers,
      simulatorsRunIn,
      simulatorThread,
      rest,
      proxy,
      tracing,
      clock,
      log,
      installation,
      started,
      stopRequested,
    });
    stopRequested.throwIfAborted();
    log.info({ url: roles.block.url }, 'node is ready');
    return { ...roles, databaseExited: installation.embedded?.exited, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
