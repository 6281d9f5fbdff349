import { createKey } from '../../../server/src/app/keys/keys.ts';
import { createWorkspace } from '../../../server/src/app/workspaces.ts';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { signPush } from '../../../server/src/domain/crypto/signatures.ts';
import { makeId } from '../../../server/src/domain/ids.ts';
import { bucketOf } from '../../../server/src/domain/users/users.ts';
import { makeSimulatedSubscription } from '../../../server/src/providers/webpush/simulated-browser.ts';
import { inTransaction, openDatabase } from '../../../server/src/storage/database.ts';
import { readProcessSeconds, readServerSeconds } from '../../../server/test/rig/processor-time.ts';
import { startNode } from '../../../server/test/start/start-bundle.ts';
import type { Node, StartLine } from '../../../server/test/start/start-bundle.ts';
import { pushContent } from '../../../server/test/rig/caller.ts';
import { makeTortureBundle } from '../../../server/test/rig/installation.ts';
import type { BundleOptions, TortureBundle } from '../../../server/test/rig/installation.ts';
import type { Bench } from './bench.ts';
import type { HttpRequest } from './load.ts';
import type { ProcessorPart } from './processor-shares.ts';

/** PostgreSQL with its durable settings, a node of role `api`, workers, and the simulated providers. */
export type Installation = TortureBundle;

type InstallationOptions = Pick<BundleOptions, 'devices' | 'windowDevices' | 'parallelChunks' | 'folder'> & {
  /** The folder for CPU profiles of the node. */
  profile?: string | undefined;
};

/** Starts an installation that ends with the case. */
export async function startInstallation(
  { defer }: Pick<Bench, 'defer'>,
  { profile, ...options }: InstallationOptions,
): Promise<Installation> {
  const environment = profilingEnvironment(profile);
  const front = { startFront: () => Promise.resolve({ environment, close: () => Promise.resolve() }) };
  const bundle = await makeTortureBundle({ seed: 1, rounds: 0, ...options, ...(profile === undefined ? {} : front) });
  defer(() => bundle.stop());
  if (profile !== undefined) defer(() => endByItself(bundle.api()));
  return bundle;
}

/** Returns variables that make a Node process write a CPU profile into a folder when it exits normally. */
export function profilingEnvironment(folder: string | undefined): Record<string, string> {
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}

/** Starts a node with only these settings, which ends with the case. @returns its first line, and its process */
export async function startBenchNode(
  { defer }: Pick<Bench, 'defer'>,
  { parameters = [], settings }: { parameters?: string[]; settings: Record<string, string> },
): Promise<StartLine & { metrics?: string; pid: number }> {
  const node = startNode([...parameters, '--port', '0', '--json'], { CARILLON_LOG_LEVEL: 'error', ...settings });
  defer(() => endByItself(node));
  const line = await node.firstLine;
  if (line === undefined) throw new Error((await node.exited).stderr);
  return { ...(JSON.parse(line) as StartLine), pid: node.process.pid! };
}

/** Stops the node as an operator does, so that it writes its profile. */
async function endByItself(node: Node): Promise<void> {
  node.process.kill('SIGTERM');
  await node.exited;
}

/** Returns processes as parts of a measured whole, and the database with them. */
export function partsOf({ database }: Installation, pids: Record<string, () => number>): ProcessorPart[] {
  return [
    ...Object.entries(pids).map(([name, pid]) => ({ name, readSeconds: () => readProcessSeconds(pid()) })),
    { name: 'database', readSeconds: () => readServerSeconds(database) },
  ];
}

/** Moves the clock behind a limit; nodes see the moved clock within a second. */
export async function passLimit({ advanceClock }: Installation, milliseconds: number): Promise<void> {
  await advanceClock(milliseconds);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

export type DevicesToInsert = {
  devices: number;
  /** Assigned in turn. */
  platforms: readonly Platform[];
  /** Whether each device has a user with attributes, for personalised messages. */
  users: 'with' | 'without';
  /** Keeps the existing devices; they are replaced if absent. */
  beside?: 'those that are there';
};

const perStatement = 20_000;

/**
 * Inserts the devices of a measured run by a few large statements. Leaves them as autovacuum leaves a store within minutes, so
 * that a campaign does not pay for marking the rows that it reads first.
 */
export async function insertDevices(
  { database, workspaceId, secret, ownerUrl }: Pick<Installation, 'database' | 'workspaceId' | 'secret' | 'ownerUrl'>,
  { devices, platforms, users, beside }: DevicesToInsert,
): Promise<void> {
  // The demo users' devices would be counted too.
  if (beside === undefined) await database`delete from devices`;
  const attributes = JSON.stringify({
    u_fn: 'Ada',
    u_em: 'ada@example.com',
    points: 7,
    tags: ['red', 'green'],
    city: 'Rome',
  });
  const at = new Date();
  for (let from = 0; from < devices; from += perStatement) {
    const rows = Array.from({ length: Math.min(perStatement, devices - from) }, (_, index) => {
      const number = from + index;
      const platform = platforms[number % platforms.length]!;
      return {
        number,
        platform,
        id: makeId(at),
        bucket: bucketOf(`bench-${number}`),
        pushId: pushIdOf({ platform, number, secret }),
      };
    });
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.push_id, 'ACTIVE', ${at}, ${at}, ${at}
      from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
        ${rows.map((row) => row.platform)}::text[], ${rows.map((row) => row.pushId)}::text[])
        as row (bucket, id, platform, push_id)`;
    if (users === 'with')
      await database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.customer_id, ${attributes}::text::jsonb, ${at}, ${at}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => `bench-${row.number}`)}::text[]) as row (bucket, id, customer_id)`;
  }
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'bench' });
  try {
    await owner`vacuum (analyze) users, devices`;
  } finally {
    await owner.end();
  }
}

function pushIdOf({ platform, number, secret }: { platform: Platform; number: number; secret: Buffer }): string {
  if (platform === 'ANDROID') return `bench-token-${String(number).padStart(10, '0')}-${'a'.repeat(120)}`;
  if (platform === 'IOS') return number.toString(16).padStart(64, '0');
  return makeSimulatedSubscription({ secret, id: `bench-${number}` });
}

export type BenchWorkspace = { id: string; pushKey: string };

/** Creates this many workspaces, each with the users and devices of the first and a push key. */
export async function insertWorkspaces(
  { database, encryption, now, workspaceId }: Installation,
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

/** Users that pushes are sent to. */
export const pushedUsers = 1_000;

/** Returns pushes to one user each, in all workspaces in turn; the request ids begin with the name. */
export function makePushes(
  name: string,
  { workspaces, count }: { workspaces: readonly BenchWorkspace[]; count: number },
): HttpRequest[] {
  return Array.from({ length: count }, (_, number) => {
    const { id: appId, pushKey: key } = workspaces[number % workspaces.length]!;
    const attributeValue = `demo-user-${(number * 7919) % pushedUsers}`;
    const target = { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue };
    const body = { requestId: `${name} ${number}`, campaignName: name, targetAudience: 'User' };
    return {
      path: '/v2.1/transaction/sendpush',
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-APPKEY': appId,
        'X-SVC-PushAPI-Signature': signPush({ appId, campaignName: name, key }),
        'X-SVC-Query-Type': 'user',
      },
      body: JSON.stringify({ ...body, targetUserAttributes: target, ...pushContent }),
    };
  });
}
