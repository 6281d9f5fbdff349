import { SingleBar } from 'cli-progress';
import { Option } from 'commander';
import type { Command } from 'commander';
import { importCampaignsFile } from '../../app/import/import-campaigns.ts';
import { importFile, ImportUnderWayError } from '../../app/import/import-file.ts';
import type { Reject } from '../../app/import/read-lines.ts';
import { importTopicChoices } from '../../app/import/import-topics.ts';
import { ImportRefusedError } from '../../app/import/read-rows.ts';
import { StartError } from '../../start/start-errors.ts';
import type { ImportKind } from '../../storage/users/user-import.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { requireFile } from '../command-options.ts';
import { toPlainLine } from '../print-table.ts';

/** `carillon import`: users, devices, events and campaigns from files. */
export function registerImport(program: Command): void {
  const importing = program
    .command('import')
    .description('Load a file of JSON lines or CSV, optionally gzipped; an interrupted import resumes where it stopped')
    .argument('<file>')
    .addOption(new Option('--kind <kind>', 'kind of the rows').choices(['users', 'devices', 'events']).default('users'))
    .option('--again', 'reload a file of events that was fully loaded before')
    .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
    .action((file: string, options: Omit<ImportOptions, 'file'>) =>
      withInstallation(program, (context) => loadFile(context, { file, ...options })),
    );
  importing
    .command('campaigns')
    .description('Load campaigns of another service as records: search finds them, and they are never sent')
    .argument('<file>')
    .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
    .action((file: string, _options: object, command: Command) => {
      // The parent command has the same option and may have consumed it.
      const { workspace } = command.optsWithGlobals<{ workspace?: string }>();
      const options = workspace === undefined ? { file } : { file, workspace };
      return withInstallation(program, (context) => importCampaignsCommand(context, options));
    });
  importing
    .command('topics')
    .description('Load what users chose about topics, as export topics writes it; of two choices the newer one stays')
    .argument('<file>')
    .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
    .action((file: string, _options: object, command: Command) => {
      const { workspace } = command.optsWithGlobals<{ workspace?: string }>();
      const options = workspace === undefined ? { file } : { file, workspace };
      return withInstallation(program, (context) => importTopicsCommand(context, options));
    });
}

type ImportOptions = { file: string; kind: ImportKind; again?: true; workspace?: string };

/** Streams a file of users, devices or events into the workspace, with a progress bar on a terminal. */
async function loadFile(
  context: Pick<CommandContext, 'database' | 'clock' | 'log' | 'prefixes'>,
  options: ImportOptions,
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const bar = new SingleBar({
    format: 'import {bar} {percentage}% · {lines} lines · {rejected} rejected · {eta_formatted} left',
    noTTYOutput: false,
    stream: process.stderr,
  });
  const startedAt = performance.now();
  let isStarted = false;
  const path = await requireFile(options.file);
  const { firstReject, ...result } = await importFile(context, {
    workspaceId,
    kind: options.kind,
    path,
    ...(options.again ? { again: true } : {}),
    onProgress(progress) {
      const shown = { lines: progress.lines, rejected: progress.rejected };
      if (isStarted) bar.update(progress.bytes, shown);
      else bar.start(progress.totalBytes, progress.bytes, shown);
      isStarted = true;
    },
  })
    .catch((error: unknown) => {
      if (error instanceof ImportUnderWayError) throw new StartError('SETTING_INVALID', error.message, error);
      throw error instanceof ImportRefusedError ? refusedFile(options.file, error) : error;
    })
    .finally(() => bar.stop());
  if (result.isKnown)
    process.stderr.write(
      'These events were loaded before, so nothing was loaded. Use --again to load them a second time.\n',
    );
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round(seconds * 100) / 100 })}\n`);
  const taken = result.users + result.devices + result.events;
  refuseAllRejected({ file: path, taken, rejected: result.rejected, firstReject });
}

/** `carillon import campaigns`: streams a file of records into the workspace, with a progress bar on a terminal. */
async function importCampaignsCommand(
  context: Pick<CommandContext, 'database' | 'clock'>,
  options: { file: string; workspace?: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const bar = new SingleBar({
    format: 'import {bar} {percentage}% · {lines} lines · {rejected} rejected · {eta_formatted} left',
    noTTYOutput: false,
    stream: process.stderr,
  });
  let isStarted = false;
  const path = await requireFile(options.file);
  const { firstReject, ...result } = await importCampaignsFile(context, {
    workspaceId,
    path,
    onProgress({ bytes, totalBytes, lines, rejected }) {
      if (isStarted) bar.update(bytes, { lines, rejected });
      else bar.start(totalBytes, bytes, { lines, rejected });
      isStarted = true;
    },
  }).finally(() => bar.stop());
  process.stdout.write(`${JSON.stringify(result)}\n`);
  const taken = result.campaigns + result.known;
  refuseAllRejected({ file: path, taken, rejected: result.rejected, firstReject });
}

/** `carillon import topics`: streams a file of choices into the workspace. */
async function importTopicsCommand(
  context: Pick<CommandContext, 'database' | 'clock'>,
  options: { file: string; workspace?: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const bar = new SingleBar({
    format: 'import {bar} {percentage}% · {rows} rows · {rejected} rejected · {eta_formatted} left',
    noTTYOutput: false,
    stream: process.stderr,
  });
  let isStarted = false;
  const path = await requireFile(options.file);
  const { firstReject, ...result } = await importTopicChoices(context, {
    workspaceId,
    path,
    onProgress({ bytes, totalBytes, rows, rejected }) {
      if (isStarted) bar.update(bytes, { rows, rejected });
      else bar.start(totalBytes, bytes, { rows, rejected });
      isStarted = true;
    },
  })
    .catch((error: unknown) => {
      throw error instanceof ImportRefusedError ? refusedFile(options.file, error) : error;
    })
    .finally(() => bar.stop());
  process.stdout.write(`${JSON.stringify(result)}\n`);
  refuseAllRejected({
    ...{ file: path, taken: result.choices + result.known },
    ...{ rejected: result.rejected, firstReject },
  });
}

function refusedFile(file: string, error: ImportRefusedError): StartError {
  return new StartError('SETTING_INVALID', `${file} has ${toPlainLine(error.message)}. Nothing was loaded.`, error);
}

type Loaded = { file: string; taken: number; rejected: number; firstReject: Reject | undefined };

/** Exits with 2 if every line of an import was rejected, so that scripts notice. @throws StartError SETTING_INVALID */
function refuseAllRejected({ file, taken, rejected, firstReject }: Loaded): void {
  if (taken > 0 || rejected === 0) return;
  // Some reasons end with a full stop.
  const first = firstReject ? `; line ${firstReject.line}: ${toPlainLine(firstReject.reason).replace(/\.$/, '')}` : '';
  throw new StartError('SETTING_INVALID', `Every line was rejected${first}. ${file}.rejects.ndjson has the reasons.`);
}
