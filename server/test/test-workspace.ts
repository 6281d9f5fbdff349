import type { Database } from '../src/storage/database.ts';
import { makeId } from '../src/domain/ids.ts';

/** Inserts a workspace for a test. The id holds only characters a workspace id may hold. */
export async function insertTestWorkspace(database: Database, at: Date): Promise<string> {
  const id = `WS${makeId(at).toUpperCase()}`;
  await database`
    insert into workspaces (id, db_name, name, created_at)
    values (${id}, ${`db_${id.toLowerCase()}`}, 'Test workspace', ${at})`;
  return id;
}
