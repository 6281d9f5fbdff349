import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import { listReportFiles, openOwnReportFile, requestReportFile } from '../../app/report-files.ts';
import type { ReportFile, OpenedReport } from '../../app/report-files.ts';
import { attributionTypes } from '../../domain/campaigns/conversions.ts';
import { maxReportDays } from '../../domain/limits/campaigns.ts';
import { parseReport } from '../../http/stats/parse-stats.ts';
import { StartError } from '../../start/start-errors.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printJsonLine, printTable } from '../print-table.ts';
import { watchUntil } from '../watch.ts';

/** `carillon report-files`: requests files with the statistics of all campaigns, and writes them here. */
export function registerReportFiles(program: Command): void {
  const files = program.command('report-files').description('Files with the statistics of all campaigns');
  files
    .command('list')
    .description('List the files')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Common) => withInstallation(program, (context) => reportFilesCommand.list(context, options)));
  files
    .command('create')
    .description('Request a file from a node; with --out, wait for it and write it')
    .requiredOption('--from <date>', `first day (YYYY-MM-DD) in the workspace's zone`)
    .requiredOption('--to <date>', `last day, at most ${maxReportDays} days later`)
    .addOption(
      new Option('--attribution <type>', 'attribution of the events')
        .choices(attributionTypes)
        .default('TOTAL_CONVERSIONS'),
    )
    .addOption(
      new Option('--metric <metric>', 'count every event, or each device once')
        .choices(['TOTAL', 'UNIQUE'])
        .default('TOTAL'),
    )
    .option('--campaigns <id...>', 'campaigns, at most ten; default: all with a run in these days')
    .option('--wait', 'wait until the file is ready')
    .option('--out <file>', 'wait, and write it to this file')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((options: Creating) => withInstallation(program, (context) => reportFilesCommand.create(context, options)));
  files
    .command('download')
    .description('Write a file that is ready; prints its size and SHA-256')
    .argument('<name>')
    .option('--out <file>', 'file to write; default: its name, in this folder')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((name: string, options: Downloading) =>
      withInstallation(program, (context) => reportFilesCommand.download(context, { ...options, name })),
    );
}

type Common = { json?: true; workspace?: string };
type Creating = Common & {
  from: string;
  to: string;
  attribution: string;
  metric: string;
  campaigns?: string[];
  wait?: true;
  out?: string;
};
type Downloading = Common & { out?: string };
type ReportContext = Pick<CommandContext, 'database' | 'clock' | 'encryption'>;

export const reportFilesCommand = {
  async list(context: ReportContext, options: Common): Promise<void> {
    const files = await listReportFiles(context, await findWorkspaceToUse(context.database, options.workspace));
    printTable(
      ['FILE', 'STATE', 'CAMPAIGNS', 'BYTES', 'GONE', 'REASON'],
      files.map((file) => [
        ...[file.name, file.state, String(file.campaigns ?? nothing), String(file.bytes ?? nothing)],
        ...[file.expiresAt.toISOString(), file.reason ?? nothing],
      ]),
      options,
    );
  },

  async create(context: ReportContext, { wait, out, json, workspace, ...asked }: Creating): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    const days = { start_date: asked.from, end_date: asked.to };
    const counted = { attribution_type: asked.attribution, metric_type: asked.metric, campaign_ids: asked.campaigns };
    const { requestId: _id, ...request } = parseReport({ request_id: 'cli', ...days, ...counted });
    const once = { key: undefined, rawBody: '' };
    const made = await requestReportFile(context, { workspaceId, request, key: undefined, secret: undefined, once });
    const { name, signature } = made;
    const path = `/campaign_reports/rest_api/${workspaceId}/${name}`;
    const requested = { file: name, path, signature, expiresAt: made.expiresAt.toISOString() };
    if (!json)
      process.stdout.write(
        `File       ${name}\nPath       ${path}\nSignature  ${signature}\nGone       ${requested.expiresAt}\n`,
      );
    if (wait || out !== undefined) await waitUntilMade(context, { workspaceId, name });
    if (json && out === undefined) return printJsonLine(requested);
    if (out === undefined) return;
    const written = await writeReportFile(await openOwnReportFile(context, { workspaceId, name }), out);
    if (json) printJsonLine({ ...requested, ...written });
    else reportWritten(written);
  },

  async download(context: ReportContext, { name, out = name, json, workspace }: Downloading & { name: string }) {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    const written = await writeReportFile(await openOwnReportFile(context, { workspaceId, name }), out);
    if (json) printJsonLine({ file: name, ...written });
    else reportWritten(written);
  },
};

/**
 * Waits until a node that sends has made the file; without such a node it keeps waiting.
 *
 * @throws StartError when it could not be made
 */
async function waitUntilMade(
  context: ReportContext,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  const look = async (): Promise<ReportFile | undefined> =>
    (await listReportFiles(context, workspaceId)).find((file) => file.name === name);
  const found = await watchUntil(look, {
    describe: (file) => (file ? `${file.name} is ${file.state}` : `${name} was removed`),
    isOver: (file) => file?.state !== 'WAITING',
  });
  if (found?.state !== 'READY')
    throw new StartError('SETTING_INVALID', `The file could not be created: ${found?.reason ?? 'it was removed'}.`);
}

function reportWritten({ out, bytes, sha256 }: { out: string; bytes: number; sha256: string }): void {
  process.stdout.write(`Written    ${out}\nBytes      ${bytes}\nSHA-256    ${sha256}\n`);
}

/**
 * Writes the pieces of a file under a temporary name and renames it once all of it is on the disk, so that the final name
 * always means a complete file. Readable by this account only.
 *
 * @throws StartError when the pieces are not the whole file, because it was removed while it was read
 */
export async function writeReportFile(
  { bytes, pieces }: OpenedReport,
  out: string,
): Promise<{ out: string; bytes: number; sha256: string }> {
  const unfinished = `${out}.part`;
  const hash = createHash('sha256');
  let written = 0;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        written += piece.length;
        await file.writeFile(piece);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (written !== bytes)
      throw new StartError('SETTING_INVALID', `The file has ${bytes} bytes, and ${written} could be read.`);
    await rename(unfinished, out);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return { out, bytes, sha256: hash.digest('hex') };
}
