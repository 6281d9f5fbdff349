import { setTimeout } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { CallRecorder } from '../../app/api-log.ts';
import { makeClockAdvance } from '../../app/sandbox/clock-advance.ts';
import type { ClockListener } from '../../app/sandbox/clock-advance.ts';
import type { DemoWorkspace } from '../../app/sandbox/find-demo-workspace.ts';
import { makeApiFaults } from '../../app/sandbox/sandbox.ts';
import type { SandboxDependencies } from '../../app/sandbox/sandbox.ts';
import { resetDemoWorkspace, seedDemoWorkspace } from '../../app/sandbox/seed-demo-workspace.ts';
import { startSandboxPhones } from '../../engine/sandbox-phones.ts';
import type { SandboxPhones } from '../../engine/sandbox-phones.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { StartError } from '../start-errors.ts';
import { makeSubscriptionsOf } from './composition.ts';
import type { Composition } from './composition.ts';

/** Creates the sandbox's demo workspace once, and registers it with the simulators. */
export async function prepareDemo(
  { config, clock, installation }: Composition,
  phones: SandboxPhones,
): Promise<DemoWorkspace> {
  const { acrossWorkspaces: database, encryption } = installation;
  const makeSubscription = makeSubscriptionsOf(installation);
  const options = { at: clock.now(), seed: config.seed };
  const demo = await seedDemoWorkspace({ database, encryption, makeSubscription }, options);
  await phones.refreshAccounts();
  return demo;
}

/** Rejects a sandbox's database in production. @throws StartError */
export async function refuseDemoData({ installation }: Composition): Promise<void> {
  const demoWorkspaceId = (await findInstallation(installation.acrossWorkspaces))?.demoWorkspaceId;
  if (demoWorkspaceId) {
    throw new StartError(
      'NOT_FOR_PRODUCTION',
      `This database holds the demo workspace ${demoWorkspaceId}; production mode wants one without.`,
    );
  }
}

/** Starts the simulated providers and the devices behind them. */
export async function startPhones({
  clock,
  log,
  installation,
  started,
  simulatorsRunIn,
  simulatorThread,
}: Composition): Promise<SandboxPhones> {
  const phones = await startSandboxPhones({
    database: installation.acrossWorkspaces,
    encryption: installation.encryption,
    clock,
    log,
    secret: installation.secretFor('simulator'),
    simulatorsRunIn,
    simulatorThread,
  });
  started.push(phones);
  return phones;
}

export type SandboxParts = {
  phones: SandboxPhones;
  findDemo: () => DemoWorkspace | undefined;
  clockListener: ClockListener;
  calls: CallRecorder;
};

/** Makes the dependencies with which the console and the routes of the sandbox control the simulators. */
export function makeSandbox(
  { clock, log, installation, started }: Composition,
  { phones, findDemo, clockListener, calls }: SandboxParts,
): SandboxDependencies {
  const { acrossWorkspaces: database } = installation;
  const clockAdvance = makeClockAdvance({ database, clock, log, ...clockListener, pause: (time) => setTimeout(time) });
  started.push(clockAdvance);
  const reset = { ...installation, database, clock, makeSubscription: makeSubscriptionsOf(installation) };
  return {
    database,
    clock,
    demoWorkspaceId: () => findDemo()?.workspaceId,
    simulators: phones,
    apiFaults: makeApiFaults(),
    waitForMessage: phones.waitForMessage,
    clockAdvance,
    resetDemo: (by) => resetDemoWorkspace({ ...reset, settlePhones: phones.settle, settleCalls: calls.settle }, by),
  };
}

/**
 * Warns of a sandbox that is reachable from the network: its routes require no credentials.
 *
 * @returns the line that the start prints; undefined if only this machine reaches the node
 */
export function warnOfNetwork({ config, log }: Pick<Composition, 'config' | 'log'>): string | undefined {
  const { mode, role, host, sandboxAccess } = config;
  if (mode !== 'sandbox' || role === 'worker') return undefined;
  if (sandboxAccess === 'network') {
    log.warn({ host }, 'the routes of the sandbox are open to the network without credentials');
    return `open without credentials to every caller that reaches ${host} (CARILLON_SANDBOX_ACCESS=network)`;
  }
  if (isLoopback(host)) return undefined;
  log.warn({ host }, 'the sandbox listens on the network; its routes answer this machine only');
  return `answers this machine only, although ${host} is in the network; CARILLON_SANDBOX_ACCESS=network opens it`;
}

function isLoopback(host: string): boolean {
  if (/^(?:.*\.)?localhost\.?$/i.test(host)) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
