import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { applicationRole } from '../global-setup.ts';
import { onServer } from '../test-database.ts';

export type EmptyDatabase = {
  /** A superuser's. */
  database: Database;
  /** Of a role that owns the tables and is no superuser, so that policies hold it where they are forced. */
  owner: Database;
  ownerUrl: string;
  applicationUrl: string;
  drop(): Promise<void>;
};

/** A database with nothing in it, owned by a role of its own. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  const server = inject('postgresUrl');
  const name = `empty_${randomBytes(8).toString('hex')}`;
  const role = `${name}_owner`;
  await onServer(server, `create role ${role} login password '${role}'`);
  await onServer(server, `create database ${name} owner ${role}`);
  const urlOf = (user?: string): string => {
    const url = new URL(server);
    url.pathname = `/${name}`;
    if (user !== undefined) Object.assign(url, { username: user, password: user });
    return url.href;
  };
  const database = openDatabase({ url: urlOf(), connections: 2, name });
  const owner = openDatabase({ url: urlOf(role), connections: 2, name });
  return {
    ...{ database, owner, ownerUrl: urlOf(role), applicationUrl: urlOf(applicationRole) },
    async drop() {
      await Promise.all([database.end(), owner.end()]);
      await onServer(server, `drop database ${name} with (force)`);
      await onServer(server, `drop role ${role}`);
    },
  };
}
