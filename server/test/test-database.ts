import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { Database } from '../src/storage/database.ts';
import { openDatabase } from '../src/storage/database.ts';
import { acrossRoleOf } from '../src/storage/installation/database-roles.ts';
import { applicationRole, templateName } from './global-setup.ts';

export type TestDatabase = {
  /** A superuser's, whom no policy holds: to arrange, and to look at what is stored. */
  database: Database;
  url: string;
  /** As a node has it: bound to no workspace until it is asked for one, or across all. */
  application: Database;
  applicationUrl: string;
  /** Ends the pool and drops the database. */
  drop(): Promise<void>;
};

/** A fresh, migrated database of this test alone: a clone of the template (about 20 ms). Real PostgreSQL, no mock. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  // Of a cluster the workers first: the coordinator's clone looks for theirs.
  const serverUrls = [...(inject('workerUrls') ?? []), serverUrl];
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copied as files: through the write-ahead log, the default, a clone takes four times as much of the processor.
  for (const each of serverUrls)
    await onServer(each, `create database ${name} template ${templateName} strategy file_copy`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.href, connections: 10, name });
  const applicationUrl = applicationUrlOf(url);
  const acrossRole = acrossRoleOf(applicationRole);
  const application = openDatabase({ url: applicationUrl, connections: 10, name, acrossRole });
  return {
    database,
    url: url.href,
    application,
    applicationUrl,
    async drop() {
      await Promise.all([database.end({ timeoutSeconds: 5 }), application.end({ timeoutSeconds: 5 })]);
      for (const each of serverUrls.toReversed()) await dropDatabase(each, name);
    },
  };
}

/** A cluster's process of its own in each database may be starting just then, and outlives the first try. */
async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  for (let triesLeft = 4; ; triesLeft -= 1) {
    try {
      return await onServer(serverUrl, `drop database ${name} with (force)`);
    } catch (error) {
      // SQLSTATE object_in_use.
      if ((error as { code?: string }).code !== '55006' || triesLeft === 0) throw error;
    }
  }
}

function applicationUrlOf(url: URL): string {
  const application = new URL(url);
  application.username = applicationRole;
  application.password = applicationRole;
  return application.href;
}

const servers = new Map<string, Database>();

/** One connection of this worker to each server, kept: a connection takes as much of the processor as half a clone. */
function openServer(url: string): Database {
  const known = servers.get(url);
  if (known) return known;
  const server = openDatabase({ url, connections: 1, name: 'test databases' });
  servers.set(url, server);
  return server;
}

/**
 * Sends one statement to the server, outside of any test database. Several workers may clone the template at once, because no session
 * is connected to it: a lock around each clone made four workers three times slower. The processes of a cluster do connect to it, so
 * there the lock queues the clones.
 */
export async function onServer(serverUrl: string, statement: string): Promise<void> {
  const server = openServer(serverUrl);
  if (inject('workerUrls') === null) {
    await server.unsafe(statement);
    return;
  }
  await server`select pg_advisory_lock(7312845)`;
  try {
    await server.unsafe(statement);
  } finally {
    await server`select pg_advisory_unlock(7312845)`;
  }
}
