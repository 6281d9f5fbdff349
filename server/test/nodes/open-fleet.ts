import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startNode } from '../start/start-bundle.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { makeCaller } from '../torture/make-caller.ts';
import type { Caller } from '../torture/make-caller.ts';
import { nodeEnvironment } from '../torture/node-environment.ts';
import { runCommand } from '../torture/run-command.ts';
import { startTortureNode } from '../torture/start-torture-node.ts';
import type { Network, Place } from './open-network.ts';
import { startCollectorProcess } from './start-collector-process.ts';
import { startFleetDatabase } from './start-fleet-database.ts';
import type { DatabaseKind } from './start-fleet-database.ts';

export type FleetOptions = {
  database: DatabaseKind;
  devices: number;
  apis: number;
  /** Undefined where there are no network namespaces. */
  network: Network | undefined;
};

/** The product's own settings, unless others are given. */
export type WorkerOptions = {
  place?: Place | undefined;
  windowDevices?: number;
  /** Chunks that it has in hand. */
  parallelChunks?: number;
};

export type FleetNode = {
  process: ChildProcess;
  ended: Promise<unknown>;
  place: Place | undefined;
};
export type ApiNode = FleetNode & { url: string; caller: Caller; keys: NonNullable<StartLine['keys']> };

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/**
 * An installation of many nodes, each a process with a role as the product's settings define it: so many of role `api`, and
 * workers as they are asked for; one database, which stays; the simulated providers in a process of their own.
 */
export async function openFleet(options: FleetOptions) {
  const { network } = options;
  const folder = await mkdtemp(join(tmpdir(), 'carillon-nodes-'));
  const parts: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part();
  };
  try {
    return await startFleet(options, { folder, parts, network, close });
  } catch (error) {
    await close();
    throw error;
  }
}

type Parts = {
  folder: string;
  parts: (() => Promise<unknown>)[];
  network: Network | undefined;
  close: () => Promise<void>;
};

async function startFleet(options: FleetOptions, { folder, parts, network, close }: Parts) {
  const addresses = network ? [network.databaseAddress] : [];
  const database = await startFleetDatabase(options.database, addresses);
  parts.push(() => database.stop());
  const environment = {
    ...nodeEnvironment(folder, { url: database.url, ownerUrl: database.ownerUrl }),
    CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  /** What a node in another network namespace finds elsewhere. */
  const environmentAt = (place: Place | undefined): Record<string, string> => {
    if (!place) return environment;
    const there = (text: string): string => {
      const url = new URL(text);
      url.hostname = network!.databaseAddress;
      return url.href;
    };
    return {
      ...environment,
      DATABASE_URL: there(database.url),
      CARILLON_DATABASE_OWNER_URL: there(database.ownerUrl),
      // What it says while it is cut off is expected.
      CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'silent',
    };
  };

  const nodes = new Set<FleetNode>();
  parts.push(() => Promise.all([...nodes].map((node) => end(node, 'SIGKILL'))));
  async function end(node: FleetNode, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    nodes.delete(node);
    node.process.kill(signal);
    await node.ended;
  }

  async function startApi(place?: Place, port = '0'): Promise<ApiNode> {
    const host = place ? ['--host', place.address] : [];
    const parameters = ['--role', 'api', '--port', port, '--json', ...host];
    const node = startNode(parameters, environmentAt(place), place?.before);
    const firstLine = await node.firstLine;
    if (firstLine === undefined) throw new Error(`api: ${(await node.exited).stderr}`);
    const line = JSON.parse(firstLine) as StartLine;
    const url = place ? `http://${place.address}:${new URL(line.url).port}` : line.url;
    const api = {
      process: node.process,
      ended: node.exited,
      place,
      url,
      caller: makeCaller(line, () => url),
      keys: line.keys!,
    };
    nodes.add(api);
    return Object.assign(api, { workspaceId: line.workspaceId });
  }

  const first = (await startApi()) as ApiNode & { workspaceId: string };
  const collector = await startCollectorProcess(environment, network?.otherAddress);
  parts.push(() => collector.stop());
  const file = join(folder, 'users.ndjson');
  await runCommand(environment, ['sandbox', 'generate-users', '--users', String(options.devices), '--out', file]);
  await runCommand(environment, ['import', file]);
  const apis = [first];
  while (apis.length < options.apis) apis.push((await startApi()) as typeof first);

  async function startWorker({ place, windowDevices, parallelChunks }: WorkerOptions = {}): Promise<FleetNode> {
    const node = await startTortureNode(
      {
        ...environmentAt(place),
        ...(windowDevices && { CARILLON_WINDOW_DEVICES: String(windowDevices) }),
        ...(parallelChunks && { CARILLON_WORKER_CHUNKS: String(parallelChunks) }),
      },
      {
        endpoints: place ? collector.endpoints.relayed! : collector.endpoints.here,
        parameters: ['--role', 'worker'],
        before: place?.before,
        // Its libraries write there as well when it is cut off.
        errors: place && process.env.DEBUG_LEVEL === undefined ? 'ignore' : 'inherit',
      },
    );
    const worker = { process: node.process, ended: node.ended, place };
    nodes.add(worker);
    return worker;
  }

  return {
    ...options,
    database,
    observer: database.observer,
    workspaceId: first.workspaceId,
    collector,
    apis: apis as ApiNode[],
    startApi: startApi as (place?: Place, port?: string) => Promise<ApiNode>,
    startWorker,
    end,
    /** The name under which a node holds work. */
    async nameOf({ process: child }: FleetNode): Promise<string> {
      const rows = await database.observer<{ id: string }[]>`
        select id from nodes where process_id = ${child.pid!} order by started_at desc limit 1`;
      return rows[0]!.id;
    },
    close,
  };
}

const lookMilliseconds = 50;

/** Looks again until there is something. @throws when there is nothing for so long */
export async function until<Found>(
  what: string,
  { seconds, look }: { seconds: number; look: () => Promise<Found | undefined> },
): Promise<Found> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${seconds} s`);
    await setTimeout(lookMilliseconds);
  }
}

/** The end of the run of a campaign, whatever it is. */
export function waitForRunEnd(
  { observer }: Pick<Fleet, 'observer'>,
  campaignId: string,
): Promise<{ status: string; reason: string | null }> {
  return until(`the end of campaign ${campaignId}`, {
    seconds: 300,
    async look() {
      const [run] = await observer<{ status: string; reason: string | null; isOpen: boolean }[]>`
        select status, status_reason as reason, status in ('QUEUED', 'SENDING') as "isOpen"
        from runs where campaign_id = ${campaignId}`;
      return run && !run.isOpen ? run : undefined;
    },
  });
}

/** One campaign to everybody. @returns its id */
export async function pushToAll({ caller }: Pick<ApiNode, 'caller'>, campaignName: string): Promise<string> {
  const { body } = await caller.push({ campaignName, targetAudience: 'All Users' });
  if (body.status !== 'Success') throw new Error(`sendpush: ${JSON.stringify(body)}`);
  return String(body.cid);
}
