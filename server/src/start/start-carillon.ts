import { makeClock } from '../clock.ts';
import { realProviderEndpoints } from '../engine/delivery/delivery-endpoints.ts';
import { makeOutgoingProxy } from '../engine/outgoing-http/outgoing-proxy.ts';
import { makeLog } from '../log.ts';
import type { Logger } from '../log.ts';
import type { Composition } from './composition.ts';
import { proxySettingsOf } from './config.ts';
import type { Config } from './config.ts';
import { openInstallation } from './open-installation.ts';
import type { RunningNode } from './roles.ts';

export type Carillon = RunningNode & {
  /** The embedded database ended by itself; undefined with a database of your own. */
  databaseExited: Promise<void> | undefined;
  log: Logger;
  /** Ends everything in order: requests, windows, queue, simulators, pools, database. */
  stop(): Promise<void>;
};

export type StartOptions = Partial<Pick<Composition, 'providers' | 'simulatorsRunIn' | 'rest' | 'stopRequested'>>;

/**
 * Composes one node: configuration → database, clock, encryption → use cases → roles.
 *
 * @throws StartError and the errors that `toStartError` knows, or the reason of `stopRequested`; what had started is
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
  let stopped: Promise<void> | undefined;
  const stopParts = async (): Promise<void> => {
    for (const part of started.toReversed())
      await part.stop().catch((error: unknown) => log.error({ err: error }, 'stop failed'));
  };
  // A signal and a fault may both ask for it.
  const stop = (): Promise<void> => (stopped ??= stopParts());
  try {
    // Loaded while the database is waited for; a start that cannot be is mostly told before.
    const loadRoles = () => import('./roles.ts');
    let loading: ReturnType<typeof loadRoles> | undefined;
    const onWaiting = (): void => void (loading ??= loadRoles());
    const installation = await openInstallation(config, { clock, log, stopRequested, onWaiting });
    started.push({ stop: installation.close });
    const { startRoles } = await (loading ?? loadRoles());
    const node = await startRoles({
      config,
      providers,
      simulatorsRunIn,
      rest,
      proxy,
      clock,
      log,
      installation,
      started,
      stopRequested,
    });
    stopRequested.throwIfAborted();
    return { ...node, databaseExited: installation.embedded?.exited, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
