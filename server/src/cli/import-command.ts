import { SingleBar } from 'cli-progress';
import type { CommandContext } from '../cli.ts';
import { importUsersFile } from '../app/import/import-users-file.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

/** `carillon import`: streams a file of users and devices into the workspace, with a progress bar on a terminal. */
export async function importCommand(
  context: CommandContext,
  options: { file: string; workspace?: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const bar = new SingleBar({
    format: 'import {bar} {percentage}% · {lines} lines · {rejected} rejected · {eta_formatted} left',
    noTTYOutput: false,
    stream: process.stderr,
  });
  const startedAt = performance.now();
  let isStarted = false;
  const result = await importUsersFile(context, {
    workspaceId,
    path: options.file,
    onProgress(progress) {
      const shown = { lines: progress.lines, rejected: progress.rejected };
      if (isStarted) bar.update(progress.bytes, shown);
      else bar.start(progress.totalBytes, progress.bytes, shown);
      isStarted = true;
    },
  }).finally(() => bar.stop());
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round(seconds * 100) / 100 })}\n`);
}
