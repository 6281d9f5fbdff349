import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { exportRows } from '../../app/export.ts';
import type { ExportSubject } from '../../app/export.ts';
import { StartError } from '../../start/start-errors.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { workspaceOption } from '../command-options.ts';

/** `carillon export`: streams the data of a workspace to standard output or a file. */
export function registerExport(program: Command): void {
  const exports = program.command('export').description('Export the data of a workspace as JSON lines or CSV');
  const run = (subject: ExportSubject, options: ExportOptions): Promise<void> =>
    withInstallation(program, (context) => writeExport(context, { subject, options }));
  for (const [kind, description] of [
    ['users', 'Users with their attributes'],
    ['devices', 'Devices with their states'],
    ['events', 'Events of users'],
    ['topics', 'What users chose about topics'],
    ['inbox', 'Messages in the inboxes of users'],
  ] as const) {
    addOptions(exports.command(kind).description(description)).action((options: ExportOptions) =>
      run({ kind }, options),
    );
  }
  addOptions(exports.command('segment').description('Customer ids of a segment').argument('<name>')).action(
    (name: string, options: ExportOptions) => run({ kind: 'segment', name }, options),
  );
  addOptions(
    exports
      .command('campaign')
      .description('The ledger of a campaign: one row per run and device')
      .argument('<id>')
      .addArgument(new Argument('<what>').choices(['ledger'])),
  ).action((campaignId: string, _what: 'ledger', options: ExportOptions) =>
    run({ kind: 'ledger', campaignId }, options),
  );
}

function addOptions(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'format of the rows').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--out <file>', 'file to write; default: standard output')
    .option(...workspaceOption);
}

type ExportOptions = { format: 'ndjson' | 'csv'; out?: string; workspace?: string };

/** Makes the file readable by this account only, even if it existed before: it contains users and push addresses. */
async function openOwnFile(path: string): Promise<Writable> {
  const file = await open(path, 'w', 0o600);
  // A pipe or a device belongs to others as well.
  if ((await file.stat()).isFile())
    await file.chmod(0o600).catch((error: Error) => {
      throw new StartError('SETTING_INVALID', `The file ${path} cannot be used: ${error.message}.`, error);
    });
  return file.createWriteStream();
}

async function writeExport(
  { database, clock }: Pick<CommandContext, 'database' | 'clock'>,
  { subject, options }: { subject: ExportSubject; options: ExportOptions },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const target = options.out === undefined ? process.stdout : await openOwnFile(options.out);
  let failure: NodeJS.ErrnoException | undefined;
  target.on('error', (error) => (failure = error));
  const write = async (piece: string): Promise<void> => {
    if (failure) throw failure;
    if (!target.write(piece)) await once(target, 'drain');
  };
  const request = { workspaceId, subject, format: options.format, at: clock.now(), write };
  let written: Awaited<ReturnType<typeof exportRows>>;
  try {
    written = await exportRows(database, request);
  } catch (error) {
    // The reader of the output closed it early, as `head` does.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    if (options.out !== undefined) target.destroy();
    throw error;
  }
  const { rows, runsWithoutLedger } = written;
  if (runsWithoutLedger > 0)
    process.stderr.write(
      `${runsWithoutLedger} of its runs ${runsWithoutLedger === 1 ? 'is' : 'are'} older than the retention of the ledger: only their totals remain.\n`,
    );
  if (options.out === undefined) return;
  target.end();
  // Also rejects if the stream has failed already: one that could not be opened never finishes.
  await finished(target);
  process.stdout.write(`${JSON.stringify({ file: options.out, rows })}\n`);
}
