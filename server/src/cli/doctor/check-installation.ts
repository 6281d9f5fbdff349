import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { askCredential, listConnected } from '../../app/credentials.ts';
import { installationFactsOf, isAlive, readConnectionBudget, readUpkeep } from '../../app/system/nodes.ts';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps.ts';
import { adviseOnCheck } from '../../domain/credentials/checks.ts';
import { encryptionContext, DecryptionError, makeEncryption } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { isBackupLate } from '../../domain/operations/backup.ts';
import { findIssues, pageChecksumsOff } from '../../domain/operations/conditions.ts';
import { troubleMeanings } from '../../domain/operations/readiness.ts';
import type { UpkeepFacts } from '../../domain/operations/upkeep.ts';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { ShareProviderToken } from '../../providers/apns/provider-token.ts';
import { makeAskProvider } from '../../providers/check-credential.ts';
import { carillonVersion } from '../../start/carillon-version.ts';
import { defaultDataFolder } from '../../start/config.ts';
import type { Config } from '../../start/config.ts';
import { backupIntervalOf } from '../../start/node/scheduled-backups.ts';
import { exitCodes, toStartError } from '../../start/start-errors.ts';
import { findNewestBackup } from '../../storage/backup.ts';
import { keepsSessions } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { dayTables } from '../../storage/day-partitions.ts';
import { pingDatabase, readDatabaseClock } from '../../storage/installation/database-clock.ts';
import type { LoginRights } from '../../storage/installation/database-roles.ts';
import {
  hasInstallation,
  hasPageChecksums,
  readDatabaseFacts,
  readUsefulExtensions,
  findInstallation,
} from '../../storage/installation/installation.ts';
import { readMetricFigures } from '../../storage/installation/metrics.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import { listWorkspaces } from '../../storage/installation/overview.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import { findProviderToken } from '../../storage/keys/provider-credentials.ts';
import { findMissingMigrations } from '../../storage/migrate.ts';
import { findProviderEndpoints } from '../find-provider-endpoints.ts';
import { diagnosing, showBytes } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const server = diagnosing('database');
const schema = diagnosing('migrations');
const time = diagnosing('clock');
const connections = diagnosing('connections');

const minVersion = 15;
// Nodes use the database's clock; only log lines, certificates and provider tokens (ten minutes) use the machine's.
const maxClockSeconds = 30;

type CheckedDatabase = {
  database: Database;
  clock: Clock;
  config: Config;
  sessionUrl: string;
  rights: LoginRights | undefined;
};

/** `isUsable` is true if the database has Carillon's tables at this version, so that the other checks can read them. */
export async function checkDatabase(asked: CheckedDatabase): Promise<{ isUsable: boolean; diagnoses: Diagnosis[] }> {
  const { database, clock } = asked;
  try {
    const diagnoses = [await checkServer(asked), await checkTime(database, clock)];
    const migrations = await checkMigrations(database);
    diagnoses.push(migrations);
    if (migrations.state === 'wrong') return { isUsable: false, diagnoses };
    diagnoses.push(await checkConnections(database, clock));
    return { isUsable: true, diagnoses };
  } catch (error) {
    const { code, message } = toStartError(error);
    const todo = `${exitCodes[code].meaning} Check DATABASE_URL, the network and the database's log.`;
    return { isUsable: false, diagnoses: [server.wrong(message, todo)] };
  }
}

async function checkServer({ database, config, sessionUrl, rights }: CheckedDatabase): Promise<Diagnosis> {
  if (!(await keepsSessions(sessionUrl)))
    return server.wrong(
      exitCodes.DATABASE_POOLED.meaning,
      'Set CARILLON_DATABASE_POOLER=transaction and CARILLON_DATABASE_DIRECT_URL.',
    );
  const { version, sizeBytes } = await readDatabaseFacts(database);
  const found = `PostgreSQL ${version}${config.databaseUrl === undefined ? ', embedded' : ''}, ${showBytes(sizeBytes)}.`;
  if (Number.parseInt(version, 10) < minVersion) return server.wrong(found, `Use PostgreSQL ${minVersion} or newer.`);
  if ((await pingDatabase(database)).isReadOnly)
    return server.wrong(`${found} It accepts no writes.`, 'Name the primary, or end its read-only mode.');
  if (rights?.fault === undefined) return server.good(found);
  const why = `${found} Row-level security does not apply to the role ${rights.role} (${rights.fault}).`;
  return server.attention(why, 'Use a separate role for the nodes (docs/operations.md, two roles).');
}

async function checkTime(database: Database, clock: Clock): Promise<Diagnosis> {
  const before = clock.realNow().getTime();
  const there = (await readDatabaseClock(database)).getTime();
  const here = (before + clock.realNow().getTime()) / 2;
  const seconds = Math.abs(there - here) / 1000;
  const found = `This machine's clock and the database's differ by ${seconds.toFixed(seconds < 10 ? 1 : 0)} s.`;
  return seconds > maxClockSeconds ? time.attention(found, 'Synchronize both with NTP.') : time.good(found);
}

async function checkMigrations(database: Database): Promise<Diagnosis> {
  if (!(await hasInstallation(database)))
    return schema.wrong('There is no Carillon in this database.', 'Start a node; it makes one.');
  try {
    const missing = await findMissingMigrations(database);
    if (missing.length === 0) return schema.good('All are applied.');
    return schema.wrong(
      `${missing.length} are missing, from ${missing[0]}.`,
      'Start a node of this version, or run carillon migrate as the owner of the tables.',
    );
  } catch (error) {
    const { code, message } = toStartError(error);
    return schema.wrong(message, exitCodes[code].meaning);
  }
}

async function checkConnections(database: Database, clock: Clock): Promise<Diagnosis> {
  const { finding, mayOpen, available } = await readConnectionBudget({ database, clock }, await listNodes(database));
  if (finding) return connections.attention(finding.what, finding.todo);
  return connections.good(`The running nodes may open ${mayOpen} of ${available} connections.`);
}

const extensions = diagnosing('extensions');
const checksums = diagnosing('page checksums');
const partitions = diagnosing('partitions');
const backups = diagnosing('backups');

type CheckedStores = { database: Database; clock: Clock; config: Config };

/** Checks what the database should have besides tables: page checksums, extensions, partitions of the coming days, and a backup. */
export async function checkStores(asked: CheckedStores): Promise<Diagnosis[]> {
  return [
    await checkChecksums(asked),
    await checkExtensions(asked),
    await checkPartitions(asked),
    await checkBackups(asked),
  ];
}

async function checkChecksums({ database }: CheckedStores): Promise<Diagnosis> {
  if (await hasPageChecksums(database)) return checksums.good('They are on.');
  return checksums.attention(pageChecksumsOff.what, pageChecksumsOff.todo);
}

async function checkExtensions({ database }: CheckedStores): Promise<Diagnosis> {
  const found = await readUsefulExtensions(database);
  const missing = found.filter(({ isInstalled }) => !isInstalled);
  const names = (some: typeof found): string => some.map(({ name }) => name).join(' and ');
  if (missing.length === 0) return extensions.good(`${names(found)} are installed.`);
  const available = missing.filter(({ isAvailable }) => isAvailable);
  const what = `Without ${names(missing)} searches for names and tags of campaigns read all of them.`;
  // The migration that would have used the extension has run, so its index must be created by hand as well.
  return extensions.attention(
    what,
    available.length < missing.length
      ? 'Install the contrib package of this PostgreSQL, then create the extensions (docs/operations.md).'
      : 'Create them and their indexes as docs/operations.md says.',
  );
}

/**
 * A send creates the partition of a missing day itself, at the cost of a wait. A missing partition for tomorrow means that a
 * job does not run.
 */
async function checkPartitions({ database, clock }: CheckedStores): Promise<Diagnosis> {
  const figures = await readMetricFigures(database, {
    at: clock.now(),
    realAt: clock.realNow(),
    aliveSince: clock.realNow(),
  });
  const of = (name: 'partitions' | 'partitions-ahead-days', table: string): number | undefined =>
    figures.find((figure) => figure.name === name && figure.of === table)?.value;
  const late = dayTables.filter((table) => (of('partitions-ahead-days', table) ?? -1) < 1);
  const days = dayTables.map((table) => `${of('partitions', table) ?? 0} days of ${table}`).join(', ');
  if (late.length === 0) return partitions.good(`${days}, including tomorrow.`);
  return partitions.attention(
    `${late.join(' and ')} have no partition for tomorrow.`,
    'A sending node creates them every ten minutes. Check the job prepare-days in its log (docs/runbooks/CarillonPartitionMissing.md).',
  );
}

/** Installations with PostgreSQL's own backups report none here, and need none. */
async function checkBackups({ database, clock, config }: CheckedStores): Promise<Diagnosis> {
  const { madeAt } = await findNewestBackup(database);
  const intervalSeconds = backupIntervalOf(config);
  const everyHours = intervalSeconds === undefined ? undefined : intervalSeconds / 3600;
  const isLate =
    everyHours !== undefined && (madeAt === null || isBackupLate({ since: madeAt, everyHours, now: clock.realNow() }));
  const found = madeAt === null ? 'There is none.' : `The newest was made at ${madeAt.toISOString().slice(0, 16)}Z.`;
  if (isLate)
    return backups.attention(
      `${found} One is due every ${everyHours} hours.`,
      'Check the job make-backups in the log of the sending nodes (docs/runbooks/CarillonBackupLate.md).',
    );
  if (madeAt === null && config.mode === 'production' && config.databaseUrl === undefined)
    return backups.attention(found, 'Set CARILLON_BACKUP_DIR, or run carillon backup on a schedule (docs/backup.md).');
  return backups.good(found);
}

const { good: masterKeyGood, attention: masterKeyAttention, wrong: masterKeyWrong } = diagnosing('master key');

/** Checks whether the given or generated key decrypts the database's secrets. `encryption` is set only if it does. */
export async function checkMasterKey(
  database: Database,
  config: Config,
): Promise<{ encryption: Encryption | undefined; diagnosis: Diagnosis }> {
  const path = join(config.dataFolder ?? defaultDataFolder, 'master.key');
  const isGiven = config.masterKey !== undefined;
  const key = config.masterKey ?? (await readGenerated(path));
  const none = (diagnosis: Diagnosis) => ({ encryption: undefined, diagnosis });
  if (!isGiven && config.mode === 'production')
    return none(masterKeyWrong('Production mode requires CARILLON_MASTER_KEY.', 'Set it to the key of this database.'));
  if (!key)
    return none(
      masterKeyWrong(
        `There is no key in ${path}.`,
        'Name the right folder with --data-dir, or set CARILLON_MASTER_KEY.',
      ),
    );
  const { masterKeyCheck, masterKeyId, rotatingFromKeyId } = (await findInstallation(database))!;
  const encryption = makeEncryption(key, config.nextMasterKey);
  try {
    encryption.decrypt(masterKeyCheck, encryptionContext.masterKeyCheck());
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    const found = `It is not the key of this database, which is encrypted under ${masterKeyId}.`;
    return none(masterKeyWrong(found, `Use that key; ${isGiven ? 'CARILLON_MASTER_KEY' : path} contains another one.`));
  }
  encryption.encryptUnder(masterKeyId);
  if (rotatingFromKeyId !== null)
    return {
      encryption,
      diagnosis: masterKeyAttention(
        `A rotation from the key ${rotatingFromKeyId} is not complete.`,
        'Run carillon master-key rotate.',
      ),
    };
  return { encryption, diagnosis: masterKeyGood(`It is the key of this database (${masterKeyId}).`) };
}

async function readGenerated(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

const { good: credentialsGood, attention: credentialsAttention, wrong: credentialsWrong } = diagnosing('credentials');
// Each provider of each workspace may take seconds.
const maxWorkspaces = 20;

type CheckedCredentials = {
  database: Database;
  clock: Clock;
  log: Logger;
  encryption: Encryption;
  proxy: OutgoingProxy | undefined;
  /** One workspace; undefined for the first twenty. */
  workspaceId: string | undefined;
};

/** Checks the stored credentials with each provider, like `carillon credentials check`, but stores no result. */
export async function checkCredentials(asked: CheckedCredentials): Promise<Diagnosis[]> {
  const { database, clock, log, encryption, proxy, workspaceId } = asked;
  const endpoints = await findProviderEndpoints(database);
  const shareToken = makeReadProviderToken(asked);
  const ask = makeAskProvider({ clock, log, allowedNetworks: [], proxy, endpoints, shareToken });
  const all = (await listWorkspaces(database)).filter(({ id }) => workspaceId === undefined || id === workspaceId);
  const diagnoses: Diagnosis[] = [];
  for (const { id, name } of all.slice(0, maxWorkspaces)) {
    const accepted: string[] = [];
    for (const { provider, appId, connected } of await listConnected({ database }, id)) {
      if (connected.isSimulated && !endpoints.simulators) continue;
      const check = await askCredential({ database, encryption, ask }, { workspaceId: id, provider, appId });
      const named = appId === defaultAppId ? provider : `${provider} ${appId}`;
      const found = `${named} of ${name}: ${check.words.replace(/\.$/, '')}.`;
      const todo = adviseOnCheck({ ...check, provider });
      if (check.verdict === 'ACCEPTED') accepted.push(connected.isSimulated ? `${named} (simulated)` : named);
      else
        diagnoses.push(check.verdict === 'REFUSED' ? credentialsWrong(found, todo) : credentialsAttention(found, todo));
    }
    if (accepted.length > 0) diagnoses.push(credentialsGood(`${name}: ${accepted.join(', ')} accepted.`));
  }
  if (all.length > maxWorkspaces)
    diagnoses.push(
      credentialsAttention(
        `Only ${maxWorkspaces} of ${all.length} workspaces were checked.`,
        'Name one with --workspace.',
      ),
    );
  return diagnoses.length === 0 ? [credentialsGood('No credentials are stored.')] : diagnoses;
}

/** Uses the nodes' token for Apple, which rejects a team that makes new ones too often. A token made here is not stored. */
function makeReadProviderToken({
  database,
  encryption,
}: Pick<CheckedCredentials, 'database' | 'encryption'>): ShareProviderToken {
  return async ({ key, isUsable, make }) => {
    const stored = await findProviderToken(database, key);
    const kept = stored && {
      token: encryption.decrypt(stored.encrypted, encryptionContext.providerToken({ key })).toString('utf8'),
      issuedAt: stored.issuedAt,
    };
    return kept && isUsable(kept) ? kept : make();
  };
}

const nodesCheck = diagnosing('nodes');
const queuesCheck = diagnosing('queues');
const readyMilliseconds = 3_000;

/** Checks the living nodes, their reports, and the work that is waiting for them. */
export async function checkNodes({ database, clock }: { database: Database; clock: Clock }): Promise<Diagnosis[]> {
  const at = clock.now();
  const [reports, queues] = [await listNodes(database), await readQueues(database, at)];
  const alive = reports.filter((node) => isAlive(node, clock));
  const upkeep = await readUpkeepElsewhere({ database, clock }, reports);
  // The same issues as in the console, for the whole installation.
  const issues = findIssues({ at, installation: installationFactsOf({ nodes: reports, queues, upkeep }, clock) });
  const judged = issues.map(({ level, what, todo }) =>
    level === 'trouble' ? nodesCheck.wrong(what, todo) : nodesCheck.attention(what, todo),
  );
  const own = (await Promise.all(alive.map(checkNode))).flat();
  return [...judged, ...own, ...checkCallers(alive), checkQueues(queues)];
}

/** Leaves out what separate checks cover: backups, and the certificate of this machine's settings. */
async function readUpkeepElsewhere(
  deps: { database: Database; clock: Clock },
  reports: NodeReport[],
): Promise<UpkeepFacts> {
  const elsewhere = reports.filter(({ host }) => host !== hostname());
  return { ...(await readUpkeep(deps, elsewhere)), backup: { madeAt: null, installedAt: null, schedule: null } };
}

function checkCallers(alive: NodeReport[]): Diagnosis[] {
  if (alive.length === 0 || alive.some(({ role }) => role !== 'worker')) return [];
  return [nodesCheck.wrong('No running node accepts requests.', 'Start a node with the role "all" or "api".')];
}

async function checkNode(node: NodeReport): Promise<Diagnosis[]> {
  const name = `${node.role} on ${node.host}${node.url ? ` at ${node.url}` : ''}`;
  const diagnoses: Diagnosis[] = [];
  if (node.version !== carillonVersion)
    diagnoses.push(
      nodesCheck.attention(
        `${name} runs version ${node.version}; this is ${carillonVersion}.`,
        'Run one version everywhere.',
      ),
    );
  // A URL on another machine may be reachable only there.
  if (node.url === null || node.host !== hostname())
    return [...diagnoses, nodesCheck.good(`${name} reports regularly.`)];
  const answer = await askReady(node.url);
  if ('untrusted' in answer)
    return [
      ...diagnoses,
      nodesCheck.attention(
        `${name} presents a certificate that this machine does not trust (${answer.untrusted}).`,
        'Set CARILLON_PUBLIC_URL to a name in the certificate. NODE_EXTRA_CA_CERTS adds your own certificate authority.',
      ),
    ];
  const { troubles } = answer;
  if (troubles === undefined)
    return [
      ...diagnoses,
      nodesCheck.wrong(`${name} does not respond.`, 'Check its log. It may be overloaded or stopping.'),
    ];
  for (const trouble of troubles) {
    const meaning = (troubleMeanings as Record<string, string>)[trouble.split(':', 1)[0]!] ?? '';
    diagnoses.push(nodesCheck.wrong(`${name} is not ready: ${trouble}. ${meaning}`.trim(), 'Check its log.'));
  }
  return troubles.length > 0 ? diagnoses : [...diagnoses, nodesCheck.good(`${name} is ready.`)];
}

// The codes of OpenSSL's checks that Node passes on, and of Node's check of the name.
const distrust = /CERT|SIGNED|ISSUER/;

/** `troubles` is undefined if there is no usable response. */
async function askReady(url: string): Promise<{ troubles: string[] | undefined } | { untrusted: string }> {
  try {
    const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(readyMilliseconds) });
    const { troubles } = (await answer.json()) as { troubles?: string[] };
    return { troubles };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    return code !== undefined && distrust.test(code) ? { untrusted: code } : { troubles: undefined };
  }
}

function checkQueues(queues: Awaited<ReturnType<typeof readQueues>>): Diagnosis {
  const failed = queues.filter(({ failed: count }) => count > 0);
  const waiting = queues.filter(({ waiting: count }) => count > 0);
  const tell = (rows: typeof queues, name: 'waiting' | 'failed') =>
    rows.map((row) => `${row.name} ${row[name]}`).join(', ');
  const now = waiting.length === 0 ? 'Nothing is waiting.' : `Due now: ${tell(waiting, 'waiting')}.`;
  if (failed.length === 0) return queuesCheck.good(now);
  return queuesCheck.attention(
    `${now} Failed in the last day: ${tell(failed, 'failed')}.`,
    'Find the reasons with carillon campaigns list, segments list and callbacks list.',
  );
}
