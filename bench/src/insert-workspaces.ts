import { createKey } from '../../server/src/app/keys/keys.ts';
import { createWorkspace } from '../../server/src/app/workspaces.ts';
import { inTransaction } from '../../server/src/storage/database.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';

export type BenchWorkspace = { id: string; pushKey: string };

/** Creates this many workspaces, each with the users and devices of the first and a push key. */
export async function insertWorkspaces(
  { database, encryption, now, workspaceId }: TortureBundle,
  count: number,
): Promise<BenchWorkspace[]> {
  const made: BenchWorkspace[] = [];
  for (let number = 1; number <= count; number += 1) {
    const id = `BENCH${number}`;
    const at = now();
    const rest = { dbName: undefined, timeZone: 'UTC', dataCenter: '01', at };
    await createWorkspace({ database }, { id, name: `Bench ${number}`, ...rest });
    const pushKey = await inTransaction(database, async (tx) => {
      await tx`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        select ${id}, bucket, id, customer_id, attributes, created_at, updated_at
        from users where workspace_id = ${workspaceId}`;
      await tx`
        insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
        select ${id}, bucket, user_id, attribute, type, value from identifiers where workspace_id = ${workspaceId}`;
      await tx`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
          created_at, updated_at)
        select ${id}, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at
        from devices where workspace_id = ${workspaceId}`;
      return (await createKey({ encryption }, tx, { workspaceId: id, kind: 'push', name: 'Bench', at })).secret;
    });
    made.push({ id, pushKey });
  }
  await database`select analyze_table('users'), analyze_table('devices')`;
  return made;
}
