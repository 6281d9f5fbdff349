/** `carillon`: the command line of an installation. Each command talks to the database of a running or resting node. */
import { Command } from 'commander';
import { exitCodes, toStartError } from '../start/start-errors.ts';
import { registerAccounts } from './accounts-command.ts';
import { registerCallbacks } from './callbacks-command.ts';
import { registerCampaigns } from './campaigns-command.ts';
import { registerConfig } from './config-command.ts';
import { registerCredentials } from './credentials-command.ts';
import { registerErasures } from './erasures-command.ts';
import { registerExplain } from './explain-command.ts';
import { registerExport } from './export-command.ts';
import { registerImport } from './import-command.ts';
import { registerKeys } from './keys-command.ts';
import { registerMasterKey } from './master-key-command.ts';
import { registerMigrate } from './migrate-command.ts';
import { registerSandbox } from './sandbox-command.ts';
import { registerSegments } from './segments-command.ts';
import { registerStatus } from './status-command.ts';
import { registerWorkspaces } from './workspaces-command.ts';

const program = new Command('carillon').description('Carillon: an open, self-hosted push messaging server');
program.option('--data-dir <folder>', 'folder of the embedded database');
// Help ends with 0; an option that is not usable with its documented code, not with commander's own 1.
program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.SETTING_INVALID.code));

// In the order that the help shows them.
const families = [
  registerStatus,
  registerImport,
  registerKeys,
  registerExport,
  registerSegments,
  registerCallbacks,
  registerCampaigns,
  registerAccounts,
  registerExplain,
  registerErasures,
  registerWorkspaces,
  registerCredentials,
  registerMasterKey,
  registerSandbox,
  registerMigrate,
  registerConfig,
];
for (const register of families) register(program);

try {
  await program.parseAsync();
} catch (error) {
  const startError = toStartError(error);
  process.stderr.write(`carillon: ${startError.message}\n`);
  process.exit(exitCodes[startError.code].code);
}
