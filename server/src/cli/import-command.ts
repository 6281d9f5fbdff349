import { SingleBar } from 'cli-progress';
import type { CommandContext } from '../cli.ts';
import { importFile, ImportUnderWayError } from '../app/import/import-file.ts';
import { StartError } from '../start-errors.ts';
import type { ImportKind } from '../storage/users/user-import.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

export type ImportOptions = { file: string; kind: ImportKind; again?: true; workspace?: string };

/** `carillon import`: streams a file of users, devices or events into the workspace, with a progress bar on a terminal. */
export async function importCommand(
  context: Pick<CommandContext, 'database' | 'clock' | 'log'>,
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
  const result = await importFile(context, {
    workspaceId,
    kind: options.kind,
    path: options.file,
    ...(options.again ? { again: true } : {}),
    onProgress(progress) {
      const shown = { lines: progress.lines, rejected: progress.rejected };
      if (isStarted) bar.update(progress.bytes, shown);
      else bar.start(progress.totalBytes, progress.bytes, shown);
      isStarted = true;
    },
  })
    .catch((error: unknown) => {
      throw error instanceof ImportUnderWayError ? new StartError('SETTING_INVALID', error.message, error) : error;
    })
    .finally(() => bar.stop());
  if (result.isKnown)
    process.stderr.write('These events were loaded before. Nothing was done; --again loads them a second time.\n');
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round(seconds * 100) / 100 })}\n`);
}
