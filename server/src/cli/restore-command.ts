import { Option } from 'commander';
import type { Command } from 'commander';
import type { RestoreRequest } from '../app/backup/restore-backup.ts';
import { makeLog } from '../log.ts';
import { restoreDatabase } from '../start/restore-database.ts';
import type { RestoredDatabase } from '../start/restore-database.ts';
import { readSettings } from './command-context.ts';
import { jsonLineOption } from './command-options.ts';
import { printJsonLine, toPlainLine } from './print-table.ts';

type RestoreCommandOptions = { from: string; campaigns: RestoreRequest['campaigns']; key?: string; json?: true };

/** `carillon restore`: a backup into an empty database. */
export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup into an empty database, all of it or nothing, as the owner of the tables')
    .requiredOption('--from <folder>', 'folder that carillon backup made')
    .addOption(
      new Option('--campaigns <what>', 'what becomes of campaigns that were under way, or were due since')
        .choices(['hold', 'resume'])
        .default('hold'),
    )
    .option('--key <file>', 'the master key; a sandbox with an embedded database keeps it')
    .option(...jsonLineOption)
    .action((options: RestoreCommandOptions) => restore(program, options));
}

async function restore(program: Command, { from, campaigns, key, json }: RestoreCommandOptions): Promise<void> {
  const config = readSettings(program);
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const restored = await restoreDatabase(config, { folder: from, campaigns, keyFile: key, log });
  const { manifest, held, migrations } = restored;
  if (json)
    return printJsonLine({
      madeAt: manifest.madeAt.toISOString(),
      masterKeyIds: manifest.masterKeyIds,
      held,
      migrations,
    });
  printRestored(restored);
}

function printRestored({ manifest, held, migrations }: RestoredDatabase): void {
  const rows = manifest.tables.reduce((total, table) => total + table.rows, 0);
  process.stdout.write(`Restored ${rows} rows as of ${manifest.madeAt.toISOString()}.\n`);
  for (const name of migrations) process.stdout.write(`applied ${name}\n`);
  if (held.length > 0)
    process.stdout.write(
      `${held.length} campaigns are paused, because what they sent after the backup is not known; resume or stop each:\n`,
    );
  for (const { id, workspaceId, name } of held)
    process.stdout.write(toPlainLine(`  carillon campaigns resume ${id} --workspace ${workspaceId}  # ${name}`) + '\n');
  process.stdout.write(`Start the nodes with the master key ${manifest.masterKeyIds.join(' and ')}.\n`);
}
