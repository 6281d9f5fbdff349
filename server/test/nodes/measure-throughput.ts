import { pushToAll, waitForRunEnd } from '../rig/fleet.ts';
import type { Fleet } from '../rig/fleet.ts';
import { readProcessSeconds } from '../rig/processor-time.ts';

/** Of one campaign to everybody, or the mean of several. */
export type Throughput = {
  workers: number;
  devices: number;
  devicesPerSecond: number;
  /** User and system time. */
  cpuMillisecondsPerDevice: { workers: number; apis: number; database: number; providers: number };
};

/** Sends campaigns by so many workers: one that warms them, then those that are measured. */
export async function measureThroughput(
  fleet: Fleet,
  { workers, campaigns }: { workers: number; campaigns: number },
): Promise<Throughput> {
  const started = await Promise.all(Array.from({ length: workers }, () => fleet.startWorker()));
  const secondsOf = async (nodes: { process: { pid?: number | undefined } }[]): Promise<number> =>
    sum(await Promise.all(nodes.map(({ process: child }) => readProcessSeconds(child.pid!))));
  const read = async () => ({
    workers: await secondsOf(started),
    apis: await secondsOf(fleet.apis),
    database: await fleet.database.cpuSeconds(),
    providers: await secondsOf([fleet.collector]),
  });
  const send = async (number: number): Promise<number> => {
    const campaignId = await pushToAll(fleet.apis[number % fleet.apis.length]!, `Nodes: ${workers} workers, ${number}`);
    const run = await waitForRunEnd(fleet, campaignId);
    if (run.status !== 'SENT') throw new Error(`the run ended ${run.status} (${run.reason})`);
    return (await fleet.collector.read([campaignId])).of(campaignId).size;
  };
  try {
    await send(0);
    const before = await read();
    let devices = 0;
    let seconds = 0;
    for (let number = 1; number <= campaigns; number += 1) {
      const begin = performance.now();
      devices += await send(number);
      seconds += (performance.now() - begin) / 1000;
    }
    const after = await read();
    const each = (what: keyof typeof after): number => ((after[what] - before[what]) * 1000) / devices;
    return {
      workers,
      devices: devices / campaigns,
      devicesPerSecond: devices / seconds,
      cpuMillisecondsPerDevice: {
        ...{ workers: each('workers'), apis: each('apis') },
        ...{ database: each('database'), providers: each('providers') },
      },
    };
  } finally {
    await Promise.all(started.map((worker) => fleet.end(worker, 'SIGTERM')));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
