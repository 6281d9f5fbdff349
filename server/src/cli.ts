/** `carillon`: the command line of an installation. Each command talks to the database of a running or resting node. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { makeClock } from './clock.ts';
import { readConfig } from './config.ts';
import { createKeyCommand } from './cli/create-key-command.ts';
import { generateUsersCommand } from './cli/generate-users-command.ts';
import { importCommand } from './cli/import-command.ts';
import { printConfigCommand } from './cli/print-config-command.ts';
import { makeLog } from './log.ts';
import { openInstallation } from './open-installation.ts';
import type { OpenInstallation } from './open-installation.ts';
import { exitCodes, toStartError } from './start-errors.ts';

const program = new Command('carillon').description('Carillon: an open, self-hosted push messaging server');
program.option('--data-dir <folder>', 'folder of the embedded database');

program
  .command('import')
  .description('Load users and devices from a file of JSON lines (.ndjson, .ndjson.gz)')
  .argument('<file>')
  .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
  .action((file: string, options: { workspace?: string }) =>
    withInstallation((context) => importCommand(context, { file, ...options })),
  );

program
  .command('keys')
  .description('API keys')
  .command('create')
  .description('Create an API key; its secret is shown once')
  .addOption(
    new Option('--kind <kind>', 'what the key is for')
      .choices(['oauth', 'data', 'push', 'campaigns'])
      .makeOptionMandatory(),
  )
  .option('--name <name>', 'up to 100 characters', 'Created on the command line')
  .option('--workspace <id>', 'workspace; default: the demo workspace')
  .action((options: { kind: 'oauth' | 'data' | 'push' | 'campaigns'; name: string; workspace?: string }) =>
    withInstallation((context) => createKeyCommand(context, options)),
  );

program
  .command('sandbox')
  .description('The stand-in')
  .command('generate-users')
  .description('Write a file of people with simulated devices, for import')
  .requiredOption('--users <number>', 'how many people, one device each', parseCount)
  .requiredOption('--out <file>', 'file to write')
  .action((options: { users: number; out: string }) =>
    withInstallation((context) => generateUsersCommand(context, options)),
  );

program
  .command('config')
  .description('Settings')
  .command('print')
  .description('Show every setting as this machine sees it; secrets are masked')
  .action(() => printConfigCommand(readSettings()));

export type CommandContext = OpenInstallation & {
  clock: ReturnType<typeof makeClock>;
  log: ReturnType<typeof makeLog>;
};

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 99,999,999');
  return Number(text);
}

function readSettings() {
  const dataFolder = program.opts<{ dataDir?: string }>().dataDir;
  return readConfig({
    environment: process.env,
    arguments: dataFolder === undefined ? [] : ['--data-dir', dataFolder],
  });
}

async function withInstallation(command: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = readSettings();
  const clock = makeClock();
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const installation = await openInstallation(
    { ...config, databaseConnections: 4 },
    { clock, log, beside: 'running node' },
  );
  try {
    await command({ ...installation, clock, log });
  } finally {
    await installation.close();
  }
}

try {
  await program.parseAsync();
} catch (error) {
  const startError = toStartError(error);
  process.stderr.write(`carillon: ${startError.message}\n`);
  process.exit(exitCodes[startError.code].code);
}
