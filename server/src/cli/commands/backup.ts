import { access, constants, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import { makeBackup, verifyBackup } from '../../app/system/backup.ts';
import type { RestoreRequest } from '../../app/system/backup.ts';
import { masterKeyIdOf } from '../../domain/crypto/encryption.ts';
import type { BackupManifest } from '../../domain/operations/backup.ts';
import { makeLog } from '../../log.ts';
import { carillonVersion } from '../../start/carillon-version.ts';
import { restoreDatabase } from '../../start/database/restore-database.ts';
import type { RestoredDatabase } from '../../start/database/restore-database.ts';
import { StartError } from '../../start/start-errors.ts';
import { noteBackup } from '../../storage/backup.ts';
import { readSettings, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { printJsonLine, toPlainLine } from '../print-table.ts';

type BackupOptions = { out?: string; keyOut?: string; json?: true };

/** `carillon backup`: writes all stored data into a folder while nodes serve, and verifies such a folder. */
export function registerBackup(program: Command): void {
  const backup = program
    .command('backup')
    .description('Write a snapshot of all stored data into a folder, while nodes keep serving')
    // Not a required option: the subcommand would then require it too.
    .option('--out <folder>', 'folder to create')
    .option('--key-out <file>', 'also write the master key, into a separate file; keep it elsewhere')
    .option(...jsonLineOption)
    .action((options: BackupOptions) =>
      withInstallation(program, (context) => writeBackup(program, { context, options })),
    );
  backup
    .command('verify')
    .description('Read a whole backup as a restore would, and report whether it is complete')
    .argument('<folder>')
    .option(...jsonLineOption)
    .action(async (folder: string, _options: unknown, command: Command) =>
      printBackup(await verifyBackup(folder), {
        folder,
        word: 'whole',
        json: command.optsWithGlobals<{ json?: true }>().json,
      }),
    );
}

async function writeBackup(
  program: Command,
  { context, options }: { context: CommandContext; options: BackupOptions },
): Promise<void> {
  const { out, keyOut, json } = options;
  if (out === undefined) throw new StartError('SETTING_INVALID', 'Name the folder to create with --out.');
  if (keyOut !== undefined) await requireNewFile(keyOut);
  const keys = keyOut === undefined ? undefined : await readMasterKeys(program, context);
  const manifest = await makeBackup(context.database, { folder: out, carillonVersion });
  if (keyOut !== undefined) await writeKey(keyOut, keys!.get(manifest.masterKeyIds[0]!)!);
  // The backed-up database may be a read-only standby.
  await noteBackup(context.database, manifest.madeAt).catch((error: Error) =>
    process.stderr.write(
      `The backup is complete, but its time could not be stored in the database: ${error.message}\n`,
    ),
  );
  printBackup(manifest, { folder: out, word: 'written', json });
}

async function readMasterKeys(program: Command, { dataFolder }: CommandContext): Promise<Map<string, Buffer>> {
  const { masterKey, nextMasterKey } = readSettings(program);
  const first = masterKey ?? Buffer.from(await readFile(join(dataFolder, 'master.key'), 'utf8'), 'base64');
  return new Map([first, ...(nextMasterKey ? [nextMasterKey] : [])].map((key) => [masterKeyIdOf(key), key]));
}

/**
 * Checked before the backup, which may take hours: a key is useless without its backup.
 *
 * @throws StartError, or the file system's error
 */
async function requireNewFile(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined))
    throw new StartError('SETTING_INVALID', `The file ${path} is there already; name one that is to be made.`);
  await access(dirname(path), constants.W_OK);
}

async function writeKey(path: string, key: Buffer): Promise<void> {
  await writeFile(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
}

type Shown = { folder: string; word: 'written' | 'whole'; json: true | undefined };

function printBackup(manifest: BackupManifest, { folder, word, json }: Shown): void {
  const { madeAt, carillonVersion: version, migrations, masterKeyIds, tables } = manifest;
  const sum = (of: 'rows' | 'textBytes' | 'fileBytes'): number => tables.reduce((total, table) => total + table[of], 0);
  const summary = {
    ...{ folder, madeAt: madeAt.toISOString(), carillonVersion: version, masterKeyIds, tables: tables.length },
    ...{
      migration: migrations.at(-1)!.name,
      rows: sum('rows'),
      textBytes: sum('textBytes'),
      fileBytes: sum('fileBytes'),
    },
  };
  if (json) return printJsonLine(summary);
  process.stdout.write(
    `${folder} is ${word}: ${summary.rows} rows of ${summary.tables} tables, ${summary.fileBytes} bytes, as of ${summary.madeAt}, ` +
      `migration ${summary.migration}, master key ${masterKeyIds.join(' and ')}.\n`,
  );
}

type RestoreCommandOptions = { from: string; campaigns: RestoreRequest['campaigns']; key?: string; json?: true };

/** `carillon restore`: restores a backup into an empty database. */
export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup completely or not at all into an empty database, as the owner of the tables')
    .requiredOption('--from <folder>', 'folder that carillon backup created')
    .addOption(
      new Option('--campaigns <what>', 'what to do with campaigns that were sending, or were due since the backup')
        .choices(['hold', 'resume'])
        .default('hold'),
    )
    .option('--key <file>', 'file with the master key; a sandbox with an embedded database stores it')
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
      `${held.length} campaigns are paused, because the backup does not contain what they sent after it. Resume or stop each:\n`,
    );
  for (const { id, workspaceId, name } of held)
    process.stdout.write(toPlainLine(`  carillon campaigns resume ${id} --workspace ${workspaceId}  # ${name}`) + '\n');
  process.stdout.write(`Start the nodes with the master key ${manifest.masterKeyIds.join(' and ')}.\n`);
}
