import { Option } from 'commander';
import type { Command } from 'commander';
import {
  changeEventStream,
  createEventStream,
  listDeadBatches,
  listEventStreams,
  readEventStreamSecret,
  removeEventStream,
  resendDeadBatches,
} from '../../app/event-streams.ts';
import { streamedDeviceAttributes, streamedKinds } from '../../domain/events/event-streams.ts';
import type { StreamedDeviceAttribute, StreamedKind } from '../../domain/events/event-streams.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printTable, takeNewest } from '../print-table.ts';

/** `carillon event-streams`: the addresses that message events are posted to, and the events that no receiver accepted. */
export function registerEventStreams(program: Command): void {
  const streams = program.command('event-streams').description('Addresses that events of messages are posted to');
  const run =
    <Options>(act: (context: CommandContext, options: Options) => Promise<void>) =>
    (options: Options) =>
      withInstallation(program, (context) => act(context, options));
  const ofStream =
    <Options>(act: (context: CommandContext, options: Options & Stream) => Promise<void>) =>
    (stream: string, options: Options) =>
      withInstallation(program, (context) => act(context, { ...options, stream }));

  streams
    .command('list')
    .description('List the streams, with what waits and what was given up')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action(run(streamsCommand.list));
  withSettings(streams.command('add').description('Add a stream and show its secret'))
    .requiredOption('--url <url>', 'where batches are posted')
    .option(...workspaceOption)
    .action(run(streamsCommand.add));
  withSettings(streams.command('change').description('Change a stream; what is not named stays'))
    .argument('<stream>', 'its id')
    .option('--url <url>', 'where batches are posted')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.change));
  streams
    .command('remove')
    .description('Remove a stream; what was not delivered is dropped')
    .argument('<stream>', 'its id')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.remove));
  streams
    .command('secret')
    .description('Show the secret that signs what a stream posts')
    .argument('<stream>', 'its id')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.secret));
  streams
    .command('dead')
    .description('List the newest batches that were given up')
    .argument('<stream>', 'its id')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.dead));
  streams
    .command('resend')
    .description('Send batches again that were given up, one or all')
    .argument('<stream>', 'its id')
    .option('--batch <id>', 'this one; default: all')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.resend));
}

function withSettings(command: Command): Command {
  return command
    .addOption(new Option('--events <word...>', 'what is posted; default: all').choices(streamedKinds))
    .option('--user-attributes <name...>', 'attributes of the user that each event says')
    .addOption(
      new Option('--device-attributes <name...>', 'what each event says of the device').choices(
        streamedDeviceAttributes,
      ),
    );
}

type Json = { json?: true };
type Workspace = { workspace?: string };
type Stream = { stream: string };
type Settings = {
  url?: string;
  events?: StreamedKind[];
  userAttributes?: string[];
  deviceAttributes?: StreamedDeviceAttribute[];
};
async function named({ database }: CommandContext, { stream, workspace }: Stream & { workspace?: string | undefined }) {
  return { workspaceId: await findWorkspaceToUse(database, workspace), id: stream, actor: commandLine };
}

const maxBatchesShown = 100;

const streamsCommand = {
  async list(context: CommandContext, options: Workspace & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    printTable(
      ['STREAM', 'EVENTS', 'DELIVERED', 'PENDING', 'GIVEN UP', 'URL'],
      (await listEventStreams(context, workspaceId)).map((stream) => [
        stream.id,
        stream.events.join(','),
        String(stream.deliveredEvents),
        String(stream.pendingBatches),
        String(stream.deadBatches),
        stream.url,
      ]),
      options,
    );
  },

  async add(
    context: CommandContext,
    { workspace, ...settings }: Workspace & Settings & { url: string },
  ): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    const rest = { events: [...streamedKinds], userAttributes: [], deviceAttributes: [] };
    const { stream, secret } = await createEventStream(context, {
      ...rest,
      ...settings,
      workspaceId,
      actor: commandLine,
    });
    process.stdout.write(`Stream  ${stream.id}\nTo      ${stream.url}\nSecret  ${secret}\n`);
  },

  async change(
    context: CommandContext,
    { stream, workspace, ...settings }: Stream & Workspace & Settings,
  ): Promise<void> {
    await changeEventStream(context, { ...settings, ...(await named(context, { stream, workspace })) });
    process.stdout.write(`${stream} is changed.\n`);
  },

  async remove(context: CommandContext, options: Stream & Workspace): Promise<void> {
    await removeEventStream(context, await named(context, options));
    process.stdout.write(`${options.stream} is removed.\n`);
  },

  async secret(context: CommandContext, options: Stream & Workspace): Promise<void> {
    const secret = await readEventStreamSecret(context, await named(context, options));
    process.stdout.write(`Stream  ${options.stream}\nSecret  ${secret}\n`);
  },

  async dead(context: CommandContext, options: Stream & Workspace & Json): Promise<void> {
    const found = await listDeadBatches(context, { ...(await named(context, options)), limit: maxBatchesShown + 1 });
    const more = 'are listed; carillon event-streams resend sends all of them, the console lists them.';
    const batches = takeNewest(found, { max: maxBatchesShown, more });
    printTable(
      ['BATCH', 'EVENTS', 'GIVEN UP', 'REPLY'],
      batches.map((batch) => [
        batch.id,
        String(batch.events),
        batch.endedAt.toISOString(),
        batch.lastStatus === null ? (batch.lastError ?? nothing) : String(batch.lastStatus),
      ]),
      options,
    );
  },

  async resend(context: CommandContext, options: Stream & Workspace & { batch?: string }): Promise<void> {
    const of = await named(context, options);
    const batches = await resendDeadBatches(context, { ...of, batchId: options.batch });
    process.stdout.write(`${batches} batches are due now; a running node sends them.\n`);
  },
};
