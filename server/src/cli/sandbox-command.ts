import type { Command } from 'commander';
import { resetDemoWorkspace } from '../app/sandbox/reset-demo-workspace.ts';
import { makeSimulatedSubscription } from '../engine/delivery/simulator/make-simulated-subscription.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { parseCount } from './command-options.ts';
import { generateUsersCommand } from './generate-users-command.ts';
import type { GenerateUsersOptions } from './generate-users-command.ts';

/** `carillon sandbox`: what a command can do to the stand-in. */
export function registerSandbox(program: Command): void {
  const sandbox = program.command('sandbox').description('The stand-in');
  sandbox
    .command('reset')
    .description('Restore the demo workspace to its first start: same ids, same order, same keys')
    .action(() => withInstallation(program, resetSandbox));
  sandbox
    .command('generate-users')
    .description('Write a file of users with simulated devices, for import')
    .requiredOption('--users <number>', 'how many people, one device each', parseCount)
    .requiredOption('--out <file>', 'file to write')
    .action((options: GenerateUsersOptions) =>
      withInstallation(program, (context) => generateUsersCommand(context, options)),
    );
}

/**
 * The demo workspace back to its seed. Counters and faults are in the memory of a running node,
 * which ends them by `POST /sandbox/reset`.
 */
async function resetSandbox(context: CommandContext): Promise<void> {
  const secret = context.secretFor('simulator');
  const makeSubscription = (id: string): string => makeSimulatedSubscription({ secret, id });
  const { workspaceId } = await resetDemoWorkspace({ ...context, makeSubscription });
  process.stdout.write(`Workspace  ${workspaceId}\nBack to its seed. Counters and faults of a running node stay.\n`);
}
