import { join } from 'node:path';
import type { Command } from 'commander';
import { makeClock } from '../../clock.ts';
import { makeFollowDatabaseClock } from '../../engine/housekeeping/database-clock.ts';
import { makeLog } from '../../log.ts';
import { defaultDataFolder } from '../../start/config.ts';
import type { Config } from '../../start/config.ts';
import { findRunningPostgres } from '../../start/embedded-postgres/embedded-postgres.ts';
import { StartError } from '../../start/start-errors.ts';
import { openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { readLoginRights } from '../../storage/installation/database-roles.ts';
import type { LoginRights } from '../../storage/installation/database-roles.ts';
import { settingSources } from '../command-context.ts';
import { jsonOption } from '../command-options.ts';
import {
  checkCertificate,
  checkFolder,
  checkProxy,
  checkPublicUrl,
  checkReach,
  checkSettings,
} from '../doctor/check-environment.ts';
import {
  checkCredentials,
  checkDatabase,
  checkMasterKey,
  checkNodes,
  checkStores,
} from '../doctor/check-installation.ts';
import { diagnosing } from '../doctor/diagnosis.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { toPlainLine } from '../print-table.ts';

/**
 * `carillon doctor`: checks for common problems. It starts, migrates and creates nothing, so that it also helps before a start.
 */
export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check settings, folder, database, keys, providers, proxy and nodes; changes nothing; exits with 2 if something is wrong',
    )
    .option(...jsonOption)
    .option('--workspace <id>', 'check the credentials of this workspace only')
    .action((options: DoctorOptions) => printDiagnoses(program, options));
}

type DoctorOptions = { json?: true; workspace?: string };
type Say = (...diagnoses: Diagnosis[]) => void;

async function printDiagnoses(program: Command, options: DoctorOptions): Promise<void> {
  const wrong = new Set<string>();
  const say: Say = (...diagnoses) => {
    for (const diagnosis of diagnoses) {
      if (diagnosis.state === 'wrong') wrong.add(diagnosis.check);
      print(diagnosis, options);
    }
  };
  const { config, diagnoses } = checkSettings(settingSources(program));
  say(...diagnoses);
  if (config) await examine(config, { say, workspaceId: options.workspace });
  if (wrong.size > 0) throw new StartError('SETTING_INVALID', `Wrong: ${[...wrong].join(', ')}.`);
}

function print({ check, state, found, todo }: Diagnosis, { json }: DoctorOptions): void {
  if (json) process.stdout.write(`${JSON.stringify({ check, state, found, todo: todo ?? null })}\n`);
  else {
    process.stdout.write(`${state.padEnd(11)}${check.padEnd(13)}${toPlainLine(found)}\n`);
    if (todo !== undefined) process.stdout.write(`${' '.repeat(24)}To do: ${toPlainLine(todo)}\n`);
  }
}

async function examine(
  config: Config,
  { say, workspaceId }: { say: Say; workspaceId: string | undefined },
): Promise<void> {
  const log = makeLog({ level: 'silent', pretty: false });
  say(...(await checkFolder(config)));
  const { proxy, diagnosis } = await checkProxy(config, log);
  say(diagnosis, await checkReach(config, proxy), await checkPublicUrl(config));
  // The real time of this machine: callers, too, compare certificates with it.
  say(await checkCertificate(config, makeClock().realNow()));
  const urls = await findUrls(config);
  if (!urls) {
    const { wrong } = diagnosing('database');
    return say(
      wrong('The embedded database of this folder is not running, because no node is running.', 'carillon start'),
    );
  }
  const clock = makeClock();
  await withDatabase(urls, async (database, rights) => {
    const asked = { database, clock, config, sessionUrl: urls.sessionUrl, rights };
    const { isUsable, diagnoses } = await checkDatabase(asked);
    say(...diagnoses);
    if (!isUsable) return;
    // Only now, because the checks above compared this machine's own clock.
    await makeFollowDatabaseClock({ database, clock, onMoved: () => {} }).runOnce(clock.now());
    const key = await checkMasterKey(database, config);
    say(key.diagnosis, ...(await checkStores({ database, clock, config })), ...(await checkNodes({ database, clock })));
    if (key.encryption)
      say(...(await checkCredentials({ database, clock, log, encryption: key.encryption, proxy, workspaceId })));
  });
}

type Urls = { url: string; sessionUrl: string; pooler: Config['databasePooler']; directUrl: string | undefined };

async function findUrls(config: Config): Promise<Urls | undefined> {
  const { databaseUrl, databasePooler: pooler, databaseDirectUrl: directUrl } = config;
  const url = databaseUrl ?? (await findRunningPostgres(join(config.dataFolder ?? defaultDataFolder, 'postgres')))?.url;
  return url === undefined ? undefined : { url, sessionUrl: directUrl ?? url, pooler, directUrl };
}

/** Connects as the role that reaches every workspace, if the login may assume it. */
async function withDatabase(
  { url, sessionUrl, pooler, directUrl }: Urls,
  work: (database: Database, rights: LoginRights | undefined) => Promise<void>,
): Promise<void> {
  const options = { url, pooler, directUrl, connections: 2, name: 'carillon doctor', connectMilliseconds: 5_000 };
  const probe = openDatabase({ url: sessionUrl, connections: 1, name: 'carillon doctor', connectMilliseconds: 5_000 });
  const rights = await readLoginRights(probe).catch(() => undefined);
  await probe.end({ timeoutSeconds: 1 }).catch(() => {});
  const acrossRole = rights?.fault === undefined ? rights?.acrossRole : undefined;
  const database = openDatabase({ ...options, acrossRole });
  try {
    await work(database.acrossWorkspaces(), rights);
  } finally {
    await database.end({ timeoutSeconds: 1 }).catch(() => {});
  }
}
