import { SingleBar } from 'cli-progress';
import { importCampaignsFile } from '../app/import/import-campaigns-file.ts';
import type { CommandContext } from './command-context.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { refuseAllRejected } from './refuse-all-rejected.ts';
import { requireFile } from './require-file.ts';

/** `carillon import campaigns`: streams a file of records into the workspace, with a progress bar on a terminal. */
export async function importCampaignsCommand(
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
