import { readFile } from 'node:fs/promises';
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
import type { ObjectStoreAccess } from '../../app/event-streams.ts';
import { StartError } from '../../start/start-errors.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, requireFile, workspaceOption } from '../command-options.ts';
import { nothing, printTable, takeNewest } from '../print-table.ts';

/** `carillon event-streams`: the addresses that message events are posted to, and the events that no receiver accepted. */
export function registerEventStreams(program: Command): void {
  const streams = program.command('event-streams').description('URLs that receive the events of messages');
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
    .description('List the streams with their pending and dead batches')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action(run(streamsCommand.list));
  withSettings(
    streams
      .command('add')
      .description('Add a stream and show its secret; with an access key it stores objects in a bucket'),
  )
    .requiredOption('--url <url>', 'URL that receives the batches, or the address of an S3 bucket')
    .option(...workspaceOption)
    .action(run(streamsCommand.add));
  withSettings(streams.command('change').description('Change a stream; settings that are not named stay as they are'))
    .argument('<stream>', 'id of the stream')
    .option('--url <url>', 'URL that receives the batches')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.change));
  streams
    .command('remove')
    .description('Remove a stream and its undelivered batches')
    .argument('<stream>', 'id of the stream')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.remove));
  streams
    .command('secret')
    .description('Show the secret that signs the batches of a stream')
    .argument('<stream>', 'id of the stream')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.secret));
  streams
    .command('dead')
    .description('List the newest batches that were given up')
    .argument('<stream>', 'id of the stream')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.dead));
  streams
    .command('resend')
    .description('Resend batches that were given up, one or all')
    .argument('<stream>', 'id of the stream')
    .option('--batch <id>', 'only this batch; default: all')
    .option(...workspaceOption)
    .action(ofStream(streamsCommand.resend));
}

function withSettings(command: Command): Command {
  return command
    .option('--region <region>', 'region of the bucket, such as eu-central-1')
    .option('--access-key-id <id>', 'access key that may put objects into the bucket')
    .option('--secret-access-key-file <path>', 'file with the secret of the access key')
    .addOption(new Option('--events <word...>', 'events to post; default: all').choices(streamedKinds))
    .option('--user-attributes <name...>', 'user attributes that each event contains')
    .addOption(
      new Option('--device-attributes <name...>', 'device attributes that each event contains').choices(
        streamedDeviceAttributes,
      ),
    );
}

type AccessKey = Partial<Record<'region' | 'accessKeyId' | 'secretAccessKeyFile', string | undefined>>;

/** Reads the access key of a bucket. @throws StartError SETTING_INVALID if parts of it are missing */
async function readAccessKey({ region, accessKeyId, secretAccessKeyFile }: AccessKey): Promise<{
  objectStore?: ObjectStoreAccess;
}> {
  const given = [region, accessKeyId, secretAccessKeyFile].filter((part) => part !== undefined);
  if (given.length === 0) return {};
  if (region === undefined || accessKeyId === undefined || secretAccessKeyFile === undefined)
    throw new StartError('SETTING_INVALID', 'A bucket needs --region, --access-key-id and --secret-access-key-file.');
  const secret = (await readFile(await requireFile(secretAccessKeyFile), 'utf8')).trim();
  if (secret === '') throw new StartError('SETTING_INVALID', `${secretAccessKeyFile} is empty.`);
  return { objectStore: { region, keyId: accessKeyId, secret } };
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
    {
      workspace,
      region,
      accessKeyId,
      secretAccessKeyFile,
      ...settings
    }: Workspace & Settings & AccessKey & { url: string },
  ): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    const rest = { events: [...streamedKinds], userAttributes: [], deviceAttributes: [] };
    const { stream, secret } = await createEventStream(context, {
      ...rest,
      ...settings,
      ...(await readAccessKey({ region, accessKeyId, secretAccessKeyFile })),
      workspaceId,
      actor: commandLine,
    });
    const shown = secret === undefined ? '' : `Secret  ${secret}\n`;
    process.stdout.write(`Stream  ${stream.id}\nTo      ${stream.url}\n${shown}`);
  },

  async change(
    context: CommandContext,
    {
      stream,
      workspace,
      region,
      accessKeyId,
      secretAccessKeyFile,
      ...settings
    }: Stream & Workspace & Settings & AccessKey,
  ): Promise<void> {
    const key = await readAccessKey({ region, accessKeyId, secretAccessKeyFile });
    await changeEventStream(context, { ...settings, ...key, ...(await named(context, { stream, workspace })) });
    process.stdout.write(`Changed ${stream}.\n`);
  },

  async remove(context: CommandContext, options: Stream & Workspace): Promise<void> {
    await removeEventStream(context, await named(context, options));
    process.stdout.write(`Removed ${options.stream}.\n`);
  },

  async secret(context: CommandContext, options: Stream & Workspace): Promise<void> {
    const secret = await readEventStreamSecret(context, await named(context, options));
    process.stdout.write(`Stream  ${options.stream}\nSecret  ${secret}\n`);
  },

  async dead(context: CommandContext, options: Stream & Workspace & Json): Promise<void> {
    const found = await listDeadBatches(context, { ...(await named(context, options)), limit: maxBatchesShown + 1 });
    const more = 'are listed; the console lists all of them, and carillon event-streams resend resends them.';
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
    process.stdout.write(`Queued ${batches} batches; a running node sends them.\n`);
  },
};
