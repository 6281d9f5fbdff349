import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import type { Collector, Received } from '../torture/start-collector.ts';

export type CollectorCommand = { id: number } & (
  | { kind: 'reached'; campaignId: string | undefined }
  | { kind: 'faults'; faults: unknown }
  | { kind: 'received'; campaignIds: string[] }
);
export type CollectorReply = { id: number; reached?: number; received?: [string, [string, Received][]][] };

export type CollectorProcess = {
  process: ChildProcess;
  /** Where this machine's nodes find the providers, and where those in other network namespaces do. */
  endpoints: { here: SimulatorEndpoints; relayed: SimulatorEndpoints | undefined };
  /** How many devices of a campaign have got a message, or of all. */
  reached(campaignId?: string): Promise<number>;
  setFaults(faults: unknown): Promise<void>;
  /** What devices have received, once every message that a provider accepted is counted; for the audits. */
  read(campaignIds: string[]): Promise<Pick<Collector, 'of' | 'settle'>>;
  stop(): Promise<void>;
};

type Asked = CollectorCommand extends infer C ? (C extends { id: number } ? Omit<C, 'id'> : never) : never;

export async function startCollectorProcess(
  environment: Record<string, string>,
  address: string | undefined,
): Promise<CollectorProcess> {
  const script = join(import.meta.dirname, 'collector-process.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, address ?? ''], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const ended = once(child, 'close');
  const [endpoints] = (await Promise.race([once(child, 'message'), ended.then(() => [undefined])])) as [
    { endpoints: SimulatorEndpoints; relayed: SimulatorEndpoints | undefined } | undefined,
  ];
  if (!endpoints) throw new Error('the simulated providers ended before they were ready');
  const waiting = new Map<number, (reply: CollectorReply) => void>();
  let last = 0;
  child.on('message', (reply: CollectorReply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const ask = async (asked: Asked): Promise<CollectorReply> => {
    const id = (last += 1);
    const replied = new Promise<CollectorReply>((resolve) => waiting.set(id, resolve));
    child.send({ ...asked, id });
    const reply = await Promise.race([replied, ended.then(() => undefined)]);
    if (!reply) throw new Error('the simulated providers ended');
    return reply;
  };
  return {
    process: child,
    endpoints: { here: endpoints.endpoints, relayed: endpoints.relayed },
    async reached(campaignId) {
      return (await ask({ kind: 'reached', campaignId })).reached!;
    },
    async setFaults(faults) {
      await ask({ kind: 'faults', faults });
    },
    async read(campaignIds) {
      const { received } = await ask({ kind: 'received', campaignIds });
      const of = new Map(received!.map(([campaignId, devices]) => [campaignId, new Map(devices)]));
      return { of: (campaignId) => of.get(campaignId) ?? new Map(), settle: async () => {} };
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
