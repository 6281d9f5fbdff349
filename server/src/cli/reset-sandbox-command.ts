import { resetDemoWorkspace } from '../app/sandbox/reset-demo-workspace.ts';
import type { CommandContext } from '../cli.ts';
import { makeSimulatedSubscription } from '../engine/delivery/simulator/make-simulated-subscription.ts';

/**
 * `carillon sandbox reset`: the demo workspace back to its seed. Counters and faults are in the memory of a running node,
 * which ends them by `POST /sandbox/reset`.
 */
export async function resetSandboxCommand(context: CommandContext): Promise<void> {
  const secret = context.deriveSecret('simulator');
  const makeSubscription = (id: string): string => makeSimulatedSubscription({ secret, id });
  const { workspaceId } = await resetDemoWorkspace({ ...context, makeSubscription });
  process.stdout.write(`Workspace  ${workspaceId}\nBack to its seed. Counters and faults of a running node stay.\n`);
}
