import type { Command } from 'commander';
import { makeChangeUsers } from '../../app/users/manage-users.ts';
import { listSuspectedDevices } from '../../app/users/suspected-devices.ts';
import type { SuspectedDevice } from '../../app/users/suspected-devices.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { suspicionHours, suspicionSends } from '../../domain/users/devices.ts';
import { StartError } from '../../start/start-errors.ts';
import { findUserOfSuspect } from '../../storage/devices/suspected-devices.ts';
import type { SuspectPlace } from '../../storage/devices/suspected-devices.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption } from '../command-options.ts';
import { printJsonLine, printTable, toPlainLine } from '../print-table.ts';

/** `carillon devices`: lists devices with suspected dead addresses, and keeps one of them. */
export function registerDevices(program: Command): void {
  const devices = program.command('devices').description('Devices whose addresses are suspected to be dead');
  devices
    .command('suspected')
    .description(
      `List suspected devices; one leaves the audience after ${suspicionSends} failed sends over ${suspicionHours} hours`,
    )
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Options) => withInstallation(program, (context) => printSuspects(context, options)));
  devices
    .command('keep')
    .description('Keep a suspected device: it stays in the audience or returns to it, and its strikes start from zero')
    .argument('<id>', 'id of the device, from `devices suspected`')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((id: string, options: Options) =>
      withInstallation(program, (context) => keepDevice(context, { id, ...options })),
    );
}

type Options = { workspace?: string; json?: true };
/** Prints all suspected devices, reading page by page. */
async function printSuspects({ database }: CommandContext, options: Options): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const devices: SuspectedDevice[] = [];
  let after: SuspectPlace | undefined;
  do {
    const page = await listSuspectedDevices({ database }, { workspaceId, after });
    devices.push(...page.devices);
    after = page.next;
  } while (after);
  printTable(
    ['ID', 'USER', 'DEVICE', 'PLATFORM', 'CODE', 'SENDS', 'SINCE', 'LAST', 'AUDIENCE'],
    devices.map(({ id, customerId, deviceId, platform, state, suspicion }) => [
      ...[id, customerId, deviceId, platform, suspicion.code, String(suspicion.sends)],
      ...[suspicion.since.toISOString(), suspicion.lastAt.toISOString()],
      suspicion.hasLeft ? 'left' : state === 'ACTIVE' ? 'in' : state.toLowerCase().replace('_', ' '),
    ]),
    options,
  );
}

async function keepDevice(context: CommandContext, { id, ...options }: Options & { id: string }): Promise<void> {
  const { database } = context;
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const user = isId(id) ? await findUserOfSuspect(database, { workspaceId, id }) : undefined;
  const isKept = user && (await keep(context, { workspaceId, id: user.userId, deviceRowId: id }));
  if (!isKept)
    throw new StartError(
      'SETTING_INVALID',
      `There is no suspected device ${toPlainLine(id)} in workspace ${workspaceId}; see: carillon devices suspected.`,
    );
  if (options.json) return printJsonLine({ workspaceId, id });
  process.stdout.write(`Kept: device ${id} is not suspected any more, and its strikes start from zero.\n`);
}

/** @returns false if the device or its user no longer exists */
async function keep(
  context: CommandContext,
  device: { workspaceId: string; id: string; deviceRowId: string },
): Promise<boolean> {
  try {
    await makeChangeUsers(context).changeDevice({ actor: commandLine, ...device, action: 'keep' });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}
