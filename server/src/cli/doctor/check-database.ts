import type { Clock } from '../../clock.ts';
import { readConnectionBudget } from '../../app/console/read-connection-budget.ts';
import type { Config } from '../../start/config.ts';
import { exitCodes, toStartError } from '../../start/start-errors.ts';
import { keepsSessions } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { pingDatabase, readDatabaseClock } from '../../storage/installation/database-clock.ts';
import type { LoginRights } from '../../storage/installation/database-roles.ts';
import { hasInstallation, readDatabaseFacts } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { findMissingMigrations } from '../../storage/migrate.ts';
import { diagnosing, showBytes } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const server = diagnosing('database');
const schema = diagnosing('migrations');
const time = diagnosing('clock');
const connections = diagnosing('connections');

const minVersion = 15;
// Nodes go by the database's clock; what differs are log lines, certificates and tokens of providers (ten minutes).
const maxClockSeconds = 30;

type Asked = { database: Database; clock: Clock; config: Config; sessionUrl: string; rights: LoginRights | undefined };

/** `isUsable`: there are tables of ours, at this version, for the other checks to read. */
export async function checkDatabase(asked: Asked): Promise<{ isUsable: boolean; diagnoses: Diagnosis[] }> {
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
    const todo = `${exitCodes[code].meaning} See DATABASE_URL, the network and the database's log.`;
    return { isUsable: false, diagnoses: [server.wrong(message, todo)] };
  }
}

async function checkServer({ database, config, sessionUrl, rights }: Asked): Promise<Diagnosis> {
  if (!(await keepsSessions(sessionUrl)))
    return server.wrong(
      exitCodes.DATABASE_POOLED.meaning,
      'Set CARILLON_DATABASE_POOLER=transaction and CARILLON_DATABASE_DIRECT_URL.',
    );
  const { version, sizeBytes } = await readDatabaseFacts(database);
  const found = `PostgreSQL ${version}${config.databaseUrl === undefined ? ', embedded' : ''}, ${showBytes(sizeBytes)}.`;
  if (Number.parseInt(version, 10) < minVersion) return server.wrong(found, `Use PostgreSQL ${minVersion} or newer.`);
  if ((await pingDatabase(database)).isReadOnly)
    return server.wrong(`${found} It takes no writes.`, 'Name the primary, or end its read-only mode.');
  if (rights?.fault === undefined) return server.good(found);
  const why = `${found} Row-level security does not hold the role ${rights.role} (${rights.fault}).`;
  return server.attention(why, 'Give the nodes a role of their own (docs/operations.md, two roles).');
}

async function checkTime(database: Database, clock: Clock): Promise<Diagnosis> {
  const before = clock.realNow().getTime();
  const there = (await readDatabaseClock(database)).getTime();
  const here = (before + clock.realNow().getTime()) / 2;
  const seconds = Math.abs(there - here) / 1000;
  const found = `This machine's clock and the database's differ by ${seconds.toFixed(seconds < 10 ? 1 : 0)} s.`;
  return seconds > maxClockSeconds ? time.attention(found, 'Let NTP set both.') : time.good(found);
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
  return connections.good(`The running nodes may open ${mayOpen} of ${available}.`);
}
