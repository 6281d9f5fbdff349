/**
 * Accepting (budget P1): pushes over HTTP from callers that each wait for the answer, everything durable (fsync on). One
 * node of role `api` and no worker; its rate, its processor time a push, and how long a caller waited.
 *
 * Usage: npm run bench -- accept [--callers 64] [--pushes 5000] [--rounds 3] [--audience "All Users"]
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { makeTortureBundle } from '../../server/test/torture/torture-bundle.ts';
import type { TortureBundle } from '../../server/test/torture/torture-bundle.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'accept'),
  options: {
    callers: { type: 'string', default: '64' },
    pushes: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    audience: { type: 'string', default: 'All Users' },
  },
});
const callers = Number(values.callers);
const pushesPerRound = Number(values.pushes);

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const bundle = await makeTortureBundle({ seed: 1, devices: 0, rounds: 0, windowDevices: 250, parallelChunks: 4 });
try {
  await measure(bundle, { name: 'warm-up', pushes: 1_000 });
  const rates: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    // A workspace may push 10,000 times a minute; the node hears of the moved clock within a second.
    await bundle.advanceClock(61_000);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const cpuBefore = await cpuSeconds(bundle.api().process.pid!);
    const pushes = pushesPerRound;
    const { waits, elapsed } = await measure(bundle, { name: `round ${round}`, pushes });
    const cpu = ((await cpuSeconds(bundle.api().process.pid!)) - cpuBefore) / pushes;
    const [stored] =
      await bundle.database`select count(*) as requests from push_requests where request_id like ${`round ${round} %`}`;
    if (stored!.requests !== pushes) throw new Error(`${pushes} were answered, ${stored!.requests} are stored`);
    waits.sort((a, b) => a - b);
    const at = (share: number): string => waits[Math.floor(waits.length * share)]!.toFixed(1);
    rates.push(pushes / elapsed);
    process.stdout.write(
      `round ${round}: ${pushes} pushes, ${Math.round(pushes / elapsed)}/s, node ${Math.round(cpu * 1e6)} µs of CPU a push, ` +
        `waited ${at(0.5)} ms (median), ${at(0.99)} ms (99 of 100)\n`,
    );
  }
  const median = rates.sort((a, b) => a - b)[Math.floor(rates.length / 2)]!;
  process.stdout.write(`accept   median ${Math.round(median)}/s with ${callers} callers\n`);
} finally {
  await bundle.stop();
}

async function measure(
  { push }: TortureBundle,
  { name, pushes }: { name: string; pushes: number },
): Promise<{ waits: number[]; elapsed: number }> {
  const waits: number[] = [];
  const startedAt = performance.now();
  let number = 0;
  async function call(): Promise<void> {
    while (number < pushes) {
      const requestId = `${name} ${(number += 1)}`;
      const askedAt = performance.now();
      const answer = await push({ campaignName: requestId, requestId, targetAudience: values.audience });
      if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
      waits.push(performance.now() - askedAt);
    }
  }
  await Promise.all(Array.from({ length: callers }, call));
  return { waits, elapsed: (performance.now() - startedAt) / 1000 };
}

/** User and system time so far, of the kernel's clock of 100 ticks a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
