import { Command } from 'commander';
import { carillonVersion } from '../start/carillon-version.ts';
import { exitCodes, StartError, toStartError } from '../start/start-errors.ts';
import { addExamples } from './examples.ts';

/** Runs the command that the words after `carillon` name, in this process. A failure exits with its documented code. */
export async function runCommandLine(words: string[]): Promise<void> {
  try {
    const program = await makeProgram(words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const startError = toStartError(toFileRefusal(error) ?? error);
    process.stderr.write(`carillon: ${startError.message}\n`);
    process.exit(exitCodes[startError.code].code);
  }
}

/** Converts file errors to an invalid setting: the path was typed by the user, so this is not a fault of the command. */
function toFileRefusal(error: unknown): StartError | undefined {
  const { path, syscall, message } = error as NodeJS.ErrnoException;
  if (path === undefined || syscall === undefined || error instanceof StartError) return undefined;
  return new StartError('SETTING_INVALID', `The file ${path} cannot be used: ${message}.`, error);
}

// In the order of the help. Only the requested family is loaded: loading all takes twice as long.
const families: Record<string, () => Promise<(program: Command) => void>> = {
  start: async () => (await import('./commands/start.ts')).registerStart,
  status: async () => (await import('./commands/status.ts')).registerStatus,
  'console-link': async () => (await import('./commands/console-link.ts')).registerConsoleLink,
  doctor: async () => (await import('./commands/doctor.ts')).registerDoctor,
  send: async () => (await import('./commands/send.ts')).registerSend,
  import: async () => (await import('./commands/import.ts')).registerImport,
  keys: async () => (await import('./commands/keys.ts')).registerKeys,
  tokens: async () => (await import('./commands/tokens.ts')).registerTokens,
  check: async () => (await import('./commands/check.ts')).registerCheck,
  export: async () => (await import('./commands/export.ts')).registerExport,
  segments: async () => (await import('./commands/segments.ts')).registerSegments,
  callbacks: async () => (await import('./commands/callbacks.ts')).registerCallbacks,
  'event-streams': async () => (await import('./commands/event-streams.ts')).registerEventStreams,
  journeys: async () => (await import('./commands/journeys.ts')).registerJourneys,
  'report-files': async () => (await import('./commands/report-files.ts')).registerReportFiles,
  campaigns: async () => (await import('./commands/campaigns.ts')).registerCampaigns,
  accounts: async () => (await import('./commands/accounts.ts')).registerAccounts,
  mcp: async () => (await import('./commands/mcp.ts')).registerMcp,
  'agent-tokens': async () => (await import('./commands/agent-tokens.ts')).registerAgentTokens,
  explain: async () => (await import('./commands/explain.ts')).registerExplain,
  devices: async () => (await import('./commands/devices.ts')).registerDevices,
  erasures: async () => (await import('./commands/erasures.ts')).registerErasures,
  workspaces: async () => (await import('./commands/workspaces.ts')).registerWorkspaces,
  apps: async () => (await import('./commands/apps.ts')).registerApps,
  topics: async () => (await import('./commands/topics.ts')).registerTopics,
  credentials: async () => (await import('./commands/credentials.ts')).registerCredentials,
  'master-key': async () => (await import('./commands/master-key.ts')).registerMasterKey,
  sandbox: async () => (await import('./commands/sandbox.ts')).registerSandbox,
  backup: async () => (await import('./commands/backup.ts')).registerBackup,
  restore: async () => (await import('./commands/backup.ts')).registerRestore,
  migrate: async () => (await import('./commands/migrate.ts')).registerMigrate,
  database: async () => (await import('./commands/database.ts')).registerDatabase,
  config: async () => (await import('./commands/config.ts')).registerConfig,
};

/**
 * Makes the command line with the requested family. All families are loaded only for the list in the help, which needs their
 * descriptions. An unknown word gets only their names, so that the error can suggest the intended one.
 */
export async function makeProgram(words: string[]): Promise<Command> {
  const program = new Command('carillon').description('Carillon: an open, self-hosted push messaging server');
  program.option('--data-dir <folder>', 'folder of the embedded database');
  program.version(carillonVersion, '--version', 'display the version');
  // Help exits with 0. An invalid option exits with its documented code, not with commander's own 1.
  program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.SETTING_INVALID.code));
  // The reader may close the output early: `carillon campaigns list | head`. A node that cannot log still ends, as before.
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
