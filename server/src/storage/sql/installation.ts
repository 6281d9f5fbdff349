import type { Queryable } from '../pool.ts';

export type Installation = {
  createdAt: Date;
  masterKeyCheck: Buffer;
  demoWorkspaceId: string | null;
  clockOffsetMilliseconds: number;
  /** What the demo's ids and keys are made from; null of a demo that was made before this was kept. */
  demoSeedSealed: Buffer | null;
};

/** The one row of this installation, locked when `tx` is a transaction that goes on to change it. */
export async function findInstallation(tx: Queryable): Promise<Installation | undefined> {
  const [row] = await tx<Installation[]>`
    select created_at as "createdAt", master_key_check as "masterKeyCheck", demo_workspace_id as "demoWorkspaceId",
      clock_offset_ms as "clockOffsetMilliseconds", demo_seed_sealed as "demoSeedSealed"
    from installation`;
  return row;
}

/** Makes the row once; a second node finds it made. */
export async function insertInstallation(
  tx: Queryable,
  row: { createdAt: Date; masterKeyCheck: Buffer },
): Promise<void> {
  await tx`
    insert into installation (created_at, master_key_check) values (${row.createdAt}, ${row.masterKeyCheck})
    on conflict (only_row) do nothing`;
}

/** Locks the row until the transaction ends, so that two nodes seed the demo once. */
export async function lockInstallation(tx: Queryable): Promise<void> {
  await tx`select 1 from installation for update`;
}

export async function setDemoWorkspace(
  tx: Queryable,
  { workspaceId, seedSealed }: { workspaceId: string; seedSealed: Buffer },
): Promise<void> {
  await tx`update installation set demo_workspace_id = ${workspaceId}, demo_seed_sealed = ${seedSealed}`;
}

/** Moves the sandbox clock of all nodes. */
export async function setClockOffset(tx: Queryable, milliseconds: number): Promise<void> {
  await tx`update installation set clock_offset_ms = ${milliseconds}`;
}
