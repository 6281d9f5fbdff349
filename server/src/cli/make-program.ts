import { Command } from 'commander';
import { carillonVersion } from '../start/carillon-version.ts';
import { exitCodes } from '../start/start-errors.ts';
import { addExamples } from './examples.ts';

// In the order that the help shows them. Only the family that is called is loaded: all of them take twice as long.
const families: Record<string, () => Promise<(program: Command) => void>> = {
  start: async () => (await import('./start-command.ts')).registerStart,
  status: async () => (await import('./status-command.ts')).registerStatus,
  'console-link': async () => (await import('./console-link-command.ts')).registerConsoleLink,
  doctor: async () => (await import('./doctor-command.ts')).registerDoctor,
  send: async () => (await import('./send-command.ts')).registerSend,
  import: async () => (await import('./import-command.ts')).registerImport,
  keys: async () => (await import('./keys-command.ts')).registerKeys,
  check: async () => (await import('./check-command.ts')).registerCheck,
  export: async () => (await import('./export-command.ts')).registerExport,
  segments: async () => (await import('./segments-command.ts')).registerSegments,
  callbacks: async () => (await import('./callbacks-command.ts')).registerCallbacks,
  'event-streams': async () => (await import('./event-streams-command.ts')).registerEventStreams,
  'report-files': async () => (await import('./report-files-command.ts')).registerReportFiles,
  campaigns: async () => (await import('./campaigns-command.ts')).registerCampaigns,
  accounts: async () => (await import('./accounts-command.ts')).registerAccounts,
  explain: async () => (await import('./explain-command.ts')).registerExplain,
  devices: async () => (await import('./devices-command.ts')).registerDevices,
  erasures: async () => (await import('./erasures-command.ts')).registerErasures,
  workspaces: async () => (await import('./workspaces-command.ts')).registerWorkspaces,
  apps: async () => (await import('./apps-command.ts')).registerApps,
  credentials: async () => (await import('./credentials-command.ts')).registerCredentials,
  'master-key': async () => (await import('./master-key-command.ts')).registerMasterKey,
  sandbox: async () => (await import('./sandbox-command.ts')).registerSandbox,
  backup: async () => (await import('./backup-command.ts')).registerBackup,
  restore: async () => (await import('./restore-command.ts')).registerRestore,
  migrate: async () => (await import('./migrate-command.ts')).registerMigrate,
  database: async () => (await import('./database-command.ts')).registerDatabase,
  config: async () => (await import('./config-command.ts')).registerConfig,
};

/**
 * The command line with the family that the words call. All of them only for the list that the help shows: it needs
 * their descriptions. A word that calls none gets their names, so that the refusal can say which was meant.
 */
export async function makeProgram(words: string[]): Promise<Command> {
  const program = new Command('carillon').description('Carillon: an open, self-hosted push messaging server');
  program.option('--data-dir <folder>', 'folder of the embedded database');
  program.version(carillonVersion, '--version', 'display the version');
  // Help ends with 0; an option that is not usable with its documented code, not with commander's own 1.
  program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.SETTING_INVALID.code));
  // Whoever reads it may have seen enough: `carillon campaigns list | head`. A node that cannot log is ended, as ever.
  program.hook('preAction', (_program, command) => {
    if (command.name() !== 'start') process.stdout.on('error', ignoreUnread);
  });
  const asked = familiesFor(words);
  for (const name of asked.named) program.command(name);
  for (const load of asked.loaded) (await load())(program);
  addExamples(program);
  return program;
}

function ignoreUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

type Asked = { loaded: (typeof families)[string][]; named: string[] };

function familiesFor(words: string[]): Asked {
  const isName = (word: string, index: number) => !word.startsWith('-') && words[index - 1] !== '--data-dir';
  const [first, second] = words.filter(isName);
  const called = first === 'help' ? second : first;
  if (called !== undefined && Object.hasOwn(families, called)) return { loaded: [families[called]!], named: [] };
  if (words.includes('--version')) return { loaded: [], named: [] };
  const isHelp = called === undefined || first === 'help' || words.includes('--help') || words.includes('-h');
  return isHelp ? { loaded: Object.values(families), named: [] } : { loaded: [], named: Object.keys(families) };
}
