import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/start/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openDatabase } from '../src/storage/database.ts';
import type { Database } from '../src/storage/database.ts';
import { distributeTemplate, readWorkerUrls } from './citus/distribute-template.ts';
import { acrossRoleOf, grantRights } from '../src/storage/installation/database-roles.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's connection string to the server that holds the template. */
    postgresUrl: string;
    /** Of a cluster, the same to each worker, which holds the rest of the template; null on PostgreSQL alone. */
    workerUrls: string[] | null;
  }
}

/** The database every test file clones: migrated once. */
export const templateName = 'carillon_template';

/**
 * Starts one PostgreSQL for the whole run and migrates the template. TEST_DATABASE_URL names another server (15+), and
 * TEST_CITUS_WORKERS makes that the coordinator of a cluster (`npm run test:citus`).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startTestServer();
  project.provide('postgresUrl', url);
  project.provide('workerUrls', readWorkerUrls() ?? null);
  return stop;
}

/** @returns a superuser's connection string to a server with the template */
export async function startTestServer(): Promise<{ url: string; stop(): Promise<void> }> {
  if (process.env.TEST_DATABASE_URL) {
    await makeTemplate(process.env.TEST_DATABASE_URL, readWorkerUrls());
    return { url: process.env.TEST_DATABASE_URL, async stop() {} };
  }
  const folder = await mkdtemp(join(await findFastFolder(), 'carillon-test-'));
  const server = await startEmbeddedPostgres({
    folder,
    // Speed only: a test database need not survive the machine, nor keep its log.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_wal_size: '256MB',
      max_connections: '300',
      // Making a database as files and dropping one look through all of it, and the tests hold little.
      shared_buffers: '64MB',
      // A test that looks at plans analyzes its tables itself; at a moment of its own this would change them meanwhile.
      autovacuum: 'off',
    },
  });
  const { superuser } = JSON.parse(await readFile(join(folder, 'passwords.json'), 'utf8')) as { superuser: string };
  const url = new URL(server.url);
  url.username = 'postgres';
  url.password = superuser;
  url.pathname = '/postgres';
  await makePasswordCheap(url);
  await makeTemplate(url.href);
  return {
    url: url.href,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Memory where there is enough of it (a run takes below 1 GB): a clone is 600 files, and making them on a disk costs
 * the system five times as much.
 */
async function findFastFolder(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined);
  return memory !== undefined && memory.bavail * memory.bsize > 2e9 ? '/dev/shm' : tmpdir();
}

/** The same password, hashed once instead of 4,096 times: the tests open thousands of connections. */
async function makePasswordCheap({ href, username, password }: URL): Promise<void> {
  const server = openDatabase({ url: href, connections: 1, name: 'test databases' });
  await server.unsafe('alter system set scram_iterations = 1');
  await server.unsafe(`set scram_iterations = 1; alter role ${username} password '${password}'`);
  await server.end();
}

/** Whom every clone is granted to. Its password is its name. */
export const applicationRole = 'carillon_test';

/** The coordinator signs in to its workers as whoever asks it. */
async function makeApplicationRoles(template: Database, login: 'login' | 'nologin'): Promise<void> {
  const across = acrossRoleOf(applicationRole);
  const [found] = await template`select 1 from pg_roles where rolname = ${applicationRole}`;
  if (found) return;
  await template.unsafe(`create role ${across} ${login} bypassrls;
    create role ${applicationRole} login noinherit password '${applicationRole}';
    grant ${across} to ${applicationRole}`);
}

async function makeTemplate(serverUrl: string, workerUrls?: string[]): Promise<void> {
  const server = openDatabase({ url: serverUrl, connections: 1, name: 'test databases' });
  await server.unsafe(`drop database if exists ${templateName} with (force)`);
  await server.unsafe(`create database ${templateName}`);
  await server.end();
  const url = new URL(serverUrl);
  url.pathname = `/${templateName}`;
  const template = openDatabase({ url: url.href, connections: 2, name: 'template' });
  await migrate(template, { at: new Date('2026-01-01T00:00:00Z') });
  await makeApplicationRoles(template, workerUrls === undefined ? 'nologin' : 'login');
  await grantRights(template, applicationRole);
  // A database with sessions cannot be cloned.
  await template.end();
  if (workerUrls !== undefined) await distributeTemplate({ serverUrl, templateName, workerUrls });
}
