import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Actor } from '../../app/accounts/audit.ts';
import { postFile, requestFileOperation } from '../../app/segments/file-segments.ts';
import type { AcceptedOperation } from '../../app/segments/file-segments.ts';
import { documentedSegmentLimits } from '../../app/segments/segment-limits.ts';
import type { SegmentDependencies } from '../../app/segments/segment-limits.ts';
import {
  listRejectedLines,
  listShownSegments,
  maxSegmentsListed,
  readNamedSegment,
} from '../../app/segments/segments.ts';
import type { ReadSegmentsDependencies } from '../../app/segments/segments.ts';
import { parseUpload } from '../../http/console/segment-uploads.ts';
import { parseCreate } from '../../http/segments/file-segments.ts';
import { StartError } from '../../start/start-errors.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption, requireFile } from '../command-options.ts';
import { printJsonLine, printTable, takeNewest, toPlainLine } from '../print-table.ts';
import { watchUntil } from '../watch.ts';

/** `carillon segments`: lists segments, shows the results of files, and creates a segment from a file or an address. */
export function registerSegments(program: Command): void {
  const segments = program.command('segments').description('Sets of users');
  segments
    .command('list')
    .description('List the segments, newest first')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: { workspace?: string; json?: true }) =>
      withInstallation(program, (context) => listSegments(context, options)),
    );
  segments
    .command('create')
    .description('Create a segment from a local file or a URL; a running node fills it')
    .requiredOption('--name <name>', 'name of the segment; it must be unused')
    .requiredOption('--attribute <name>', 'user attribute whose values are the lines of the file')
    .requiredOption('--type <type>', 'string or double')
    .requiredOption('--expiry-days <days>', 'days until the segment is archived, 1 to 3650')
    .option('--file <path>', 'file with one value per line, up to 150 MB')
    .option('--url <address>', 'URL to download that file from')
    .option('--callback-url <address>', 'URL that receives the result when the segment is filled')
    .option('--watch', 'wait until the segment is filled; exits with 2 if that fails')
    .option(...workspaceOption)
    .action((options: CreateSegmentOptions) => withInstallation(program, (context) => createSegment(context, options)));
  segments
    .command('show')
    .description('Show a segment, its operations, and the lines rejected by the newest one')
    .argument('<name>')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((name: string, options: { workspace?: string; json?: true }) =>
      withInstallation(program, (context) => showSegment(context, { name, ...options })),
    );
}

type CreateSegmentOptions = {
  name: string;
  attribute: string;
  type: string;
  expiryDays: string;
  file?: string;
  url?: string;
  callbackUrl?: string;
  watch?: true;
  workspace?: string;
};

async function listSegments(context: CommandContext, options: { workspace?: string; json?: true }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { segments, active, maxActive } = await listShownSegments(composeSegments(context), workspaceId);
  printTable(
    ['NAME', 'KIND', 'STATE', 'USERS', 'EXPIRES'],
    segments.map((segment) => [
      segment.name,
      segment.kind,
      segment.state,
      String(segment.userCount ?? '–'),
      segment.expiresAt?.toISOString() ?? '–',
    ]),
    options,
  );
  if (!options.json) process.stdout.write(`${active} of ${maxActive} active\n`);
  if (segments.length === maxSegmentsListed)
    process.stderr.write(`Only the newest ${maxSegmentsListed} are listed; segments show <name> shows any other.\n`);
}

async function createSegment(context: CommandContext, options: CreateSegmentOptions): Promise<void> {
  if ((options.file === undefined) === (options.url === undefined))
    throw new StartError('SETTING_INVALID', 'Give either --file or --url.');
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { segmentId, segmentName, operationId } =
    options.file === undefined
      ? await requestFromUrl(context, workspaceId, options)
      : await postFromDisk(context, workspaceId, { ...options, file: options.file });
  process.stdout.write(
    `Segment    ${segmentName}\nSegment id ${segmentId}\nOperation  ${operationId}\nAccepted; a running node fills it.\n`,
  );
  if (options.watch) await watchOperation(context, { workspaceId, name: segmentName, operationId });
}

/** @throws StartError SETTING_INVALID when the segment cannot be filled */
async function watchOperation(
  context: CommandContext,
  { operationId, ...named }: { workspaceId: string; name: string; operationId: string },
): Promise<void> {
  const readOperation = async () => {
    const { operations } = await readNamedSegment(composeSegments(context), named);
    return operations.find(({ id }) => id === operationId)!;
  };
  const ended = await watchUntil(readOperation, {
    describe: ({ state, valuesFound }) => `${state}, ${valuesFound} lines`,
    isOver: ({ state }) => state === 'SUCCEEDED' || state === 'FAILED',
  });
  if (ended.state === 'FAILED')
    throw new StartError(
      'SETTING_INVALID',
      `The segment could not be filled: ${toPlainLine(ended.errorMessage ?? '')}`,
    );
  process.stdout.write(
    `Lines      ${ended.valuesFound}\nProcessed  ${ended.valuesProcessed}\nUsers      ${ended.userCount}\n`,
  );
}

// Segments show this name as their author's.
const actor: Actor = { kind: 'command-line', name: 'Command line' };

function requestFromUrl(
  context: CommandContext,
  workspaceId: string,
  options: CreateSegmentOptions,
): Promise<AcceptedOperation> {
  const body = {
    name: options.name,
    attribute_name: options.attribute,
    attribute_type: options.type,
    file_url: options.url,
    expiry_time: Number(options.expiryDays),
    ...(options.callbackUrl === undefined ? {} : { callback_url: options.callbackUrl }),
  };
  const command = parseCreate(body, context.prefixes);
  return requestFileOperation(composeSegments(context), {
    workspaceId,
    actor,
    command: { ...command, source: 'CONSOLE' },
    idempotencyKey: undefined,
    rawBody: '',
  });
}

async function postFromDisk(
  context: CommandContext,
  workspaceId: string,
  options: CreateSegmentOptions & { file: string },
): Promise<AcceptedOperation> {
  const { name, attribute, type, expiryDays, callbackUrl } = options;
  const upload = { name, attributeName: attribute, attributeType: type, expiryDays };
  const command = parseUpload(
    { kind: 'create', ...upload, ...(callbackUrl === undefined ? {} : { callbackUrl }) },
    context.prefixes,
  );
  const file = await open(await requireFile(options.file));
  try {
    const bytes = file.createReadStream({ autoClose: false });
    return await postFile(composeSegments(context), { workspaceId, actor, command, bytes });
  } finally {
    await file.close();
  }
}

const maxOperationsShown = 20;
const maxRejectsShown = 20;

async function showSegment(
  context: CommandContext,
  options: { name: string; workspace?: string; json?: true },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const deps = composeSegments(context);
  const segment = await readNamedSegment(deps, { workspaceId, name: options.name });
  if (options.json) {
    const { id, name, kind, state, stateReason, userCount, createdAt, expiresAt } = segment;
    const facts = { id, name, kind, state, stateReason, userCount, createdAt, expiresAt };
    return printJsonLine({ ...facts, operations: segment.operations });
  }
  const facts: [string, string][] = [
    ['Segment', segment.name],
    ['Segment id', segment.id],
    ['Kind', segment.kind],
    ['State', segment.stateReason === null ? segment.state : `${segment.state}: ${segment.stateReason}`],
    ['Users', String(segment.userCount ?? '–')],
    ['Created', segment.createdAt.toISOString()],
    ['Expires', segment.expiresAt?.toISOString() ?? '–'],
  ];
  for (const [title, value] of facts) process.stdout.write(`${title.padEnd(11)}${toPlainLine(value)}\n`);
  const more = 'operations are shown; the console lists all of them.';
  const operations = takeNewest(segment.operations, { max: maxOperationsShown, more });
  if (operations.length === 0) return;
  process.stdout.write('\n');
  printTable(
    ['NUMBER', 'OPERATION', 'STATE', 'FOUND', 'PROCESSED', 'USERS', 'MESSAGE'],
    operations.map((operation) => [
      String(operation.number),
      operation.kind,
      operation.state,
      String(operation.valuesFound),
      String(operation.valuesProcessed ?? '–'),
      String(operation.userCount ?? '–'),
      operation.errorMessage ?? '',
    ]),
  );
  await printRejects(deps, { workspaceId, segmentId: segment.id, operation: operations[0]! });
}

type Shown = { workspaceId: string; segmentId: string; operation: { id: string; number: number } };

async function printRejects(
  deps: ReadSegmentsDependencies,
  { workspaceId, segmentId, operation }: Shown,
): Promise<void> {
  const rejects = await listRejectedLines(deps, { workspaceId, segmentId, operationId: operation.id });
  if (rejects.length === 0) return;
  process.stdout.write(`\nRejected lines of operation ${operation.number}:\n`);
  for (const { line, reason } of rejects.slice(0, maxRejectsShown))
    process.stdout.write(`  line ${line}: ${toPlainLine(reason)}\n`);
  const hidden = rejects.length - maxRejectsShown;
  if (hidden > 0) process.stdout.write(`  and ${hidden} more\n`);
}

/** Returns the dependencies of the segment use cases, with the database of a command. */
function composeSegments(context: CommandContext): SegmentDependencies {
  const { database, clock, encryption, segmentUsersPerDay } = context;
  const limits = { ...documentedSegmentLimits, usersPerDay: segmentUsersPerDay };
  return { database, clock, encryption, limits };
}
