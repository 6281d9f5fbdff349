import type { Command } from 'commander';
import { makeClock } from '../clock.ts';
import type { Actor } from '../app/accounts/audit.ts';
import type { Clock } from '../clock.ts';
import { prefixesOf } from '../domain/abbreviation.ts';
import { ServiceError } from '../domain/errors.ts';
import { makeFollowDatabaseClock } from '../engine/housekeeping/database-clock.ts';
import { makeLog } from '../log.ts';
import type { Logger } from '../log.ts';
import { makeOutgoingProxy } from '../outgoing/proxy.ts';
import type { OutgoingProxy } from '../outgoing/proxy.ts';
import { proxySettingsOf, readConfig, ensureHome } from '../start/config.ts';
import type { Config, ConfigSources } from '../start/config.ts';
import { openInstallation } from '../start/database/open-installation.ts';
import type { OpenInstallation } from '../start/database/open-installation.ts';
import { StartError } from '../start/start-errors.ts';
import type { Database } from '../storage/database.ts';
import { findInstallation } from '../storage/installation/installation.ts';
import { findWorkspace } from '../storage/workspaces.ts';

/** The dependencies of a command. */
export type CommandContext = OpenInstallation & {
  /** Reaches every workspace, as may any user who can start a command. */
  database: Database;
  clock: Clock;
  log: Logger;
  /** The outgoing proxy; undefined for direct calls. */
  proxy: OutgoingProxy | undefined;
  segmentUsersPerDay: number;
  /** The public origin of the service, if one is set. */
  publicUrl: string | undefined;
  /** Spellings of the vendor's abbreviation in names such as `svc_push_opted`. */
  prefixes: readonly string[];
};

/** The actor of every change that a command makes. */
export const commandLine: Actor = { kind: 'command-line', name: 'the command line' };

// Most commands work across workspaces: an import holds three connections at once.
const connections = 6;

type Work = (context: CommandContext) => Promise<void>;

/**
 * Opens the installation for one command, next to a running node if there is one, and closes it again. Creates nothing: a
 * mistyped folder is rejected.
 */
export function withInstallation(program: Command, work: Work): Promise<void> {
  return openAndClose(program, { work, ifMissing: 'refuse' });
}

/** Like `withInstallation`, for a command that may run before the first start of a node. */
export function withInstallationOrNew(program: Command, work: Work): Promise<void> {
  return openAndClose(program, { work, ifMissing: 'make' });
}

async function openAndClose(
  program: Command,
  { work, ifMissing }: { work: Work; ifMissing: 'make' | 'refuse' },
): Promise<void> {
  const config = readSettings(program);
  const clock = makeClock();
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const installation = await openInstallation(
    { ...config, databaseConnections: connections },
    { clock, log, reuse: 'running node', ifMissing },
  );
  try {
    // The sandbox may have moved the clock; the times that a command writes must agree with the running node.
    const database = installation.acrossWorkspaces;
    await makeFollowDatabaseClock({ database, clock, onMoved: () => {} }).runOnce(clock.now());
    await work({
      ...installation,
      database,
      clock,
      log,
      proxy: makeOutgoingProxy(proxySettingsOf(config), log),
      segmentUsersPerDay: config.segmentUsersPerDay,
      publicUrl: config.publicUrl,
      prefixes: prefixesOf(config.headerPrefix),
    });
  } catch (error) {
    throw error instanceof ServiceError ? toRefusal(error) : error;
  } finally {
    await installation.close();
  }
}

/** Reads the settings of a command: the environment and `--data-dir`. @throws ConfigError */
export function readSettings(program: Command): Config {
  return readConfig(settingSources(program));
}

export function settingSources(program: Command): ConfigSources {
  const dataFolder = program.opts<{ dataDir?: string }>().dataDir;
  ensureHome(process.env);
  return { environment: process.env, arguments: dataFolder === undefined ? [] : ['--data-dir', dataFolder] };
}

/** Converts the error of a use case to a message for the user of the command. */
function toRefusal(error: ServiceError): StartError {
  const { field, reason, faults = [] } = error.context;
  if (faults.length > 0) {
    const text = faults.map((fault) => `${fault.field} ${fault.reason === 'missing' ? 'is required' : fault.reason}`);
    return new StartError('SETTING_INVALID', `${text.join('; ')}.`, error);
  }
  const isComplete = reason === undefined || error.message.includes(reason);
  const text = field === undefined ? `${error.message} ${reason}.` : `${error.message} ${field}: ${reason}.`;
  return new StartError('SETTING_INVALID', isComplete ? error.message : text, error);
}

/** Returns the workspace that a command names, or the demo workspace. @throws StartError SETTING_INVALID */
export async function findWorkspaceToUse(database: Database, named: string | undefined): Promise<string> {
  const id = named ?? (await findInstallation(database))?.demoWorkspaceId ?? undefined;
  if (id === undefined)
    throw new StartError('SETTING_INVALID', 'Name a workspace with --workspace. There is no demo workspace.');
  if (!(await findWorkspace(database, id))) throw new StartError('SETTING_INVALID', `There is no workspace ${id}.`);
  return id;
}
