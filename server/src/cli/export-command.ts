import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { exportRows } from '../app/export/export-rows.ts';
import type { ExportSubject } from '../app/export/export-rows.ts';
import type { CommandContext } from '../cli.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

export type ExportOptions = { format: 'ndjson' | 'csv'; out?: string; workspace?: string };

/** `carillon export`: streams what a workspace has to standard output or a file. */
export async function exportCommand(
  { database, clock }: Pick<CommandContext, 'database' | 'clock'>,
  { subject, options }: { subject: ExportSubject; options: ExportOptions },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  // Readable by this account alone: it holds people and push addresses.
  const target: Writable = options.out === undefined ? process.stdout : createWriteStream(options.out, { mode: 0o600 });
  let failure: NodeJS.ErrnoException | undefined;
  target.on('error', (error) => (failure = error));
  const write = async (piece: string): Promise<void> => {
    if (failure) throw failure;
    if (!target.write(piece)) await once(target, 'drain');
  };
  const request = { workspaceId, subject, format: options.format, at: clock.now(), write };
  let rows: number;
  try {
    rows = await exportRows(database, request);
  } catch (error) {
    // Whoever read the output has seen enough, as `head` does.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    throw error;
  }
  if (options.out === undefined) return;
  target.end();
  await once(target, 'finish');
  process.stdout.write(`${JSON.stringify({ file: options.out, rows })}\n`);
}
