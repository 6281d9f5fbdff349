import type { ClusterValues } from './cluster-values.ts';
import { platforms, weigh } from './scenario.ts';
import type { ByPlatform } from './scenario.ts';
import type { Asker } from './simulated-database.ts';
import type { Sender } from './simulated-providers.ts';
import type { DueDevices } from './simulated-retries.ts';
import { noOutcomes } from './simulated-run.ts';
import type { Outcomes } from './simulated-run.ts';
import type { Station } from './stations.ts';

type Sending = {
  parts: DueDevices[];
  fixedMicroseconds: number;
  /** Called with the number of requests when they are sent. */
  onSent: (count: number) => void;
};

/** Sends to all devices of a window or a batch; `done` is not called if the process died meanwhile. */
export type SendRequests = (sending: Sending, done: (outcomes: Outcomes) => void) => void;

type SendRequestsDependencies = {
  asker: Asker;
  sender: Sender;
  host: Station;
  thread: Station;
  values: ClusterValues;
};

/**
 * Simulates a process's work for a window between the database transactions: half of it is planning and writing before the
 * responses, half is reading and recording after them. Its other threads encrypt and collect garbage meanwhile.
 */
export function makeSendRequests({ asker, sender, host, thread, values }: SendRequestsDependencies): SendRequests {
  return ({ parts, fixedMicroseconds, onSent }, done) => {
    const sum = (each: ByPlatform): number => parts.reduce((all, { counts }) => all + weigh(counts, each), 0);
    const half = (fixedMicroseconds + sum(values.workerMicrosecondsPerDevice)) / 2000;
    host.work(sum(values.helperMicrosecondsPerDevice) / 1000, () => {});
    const all = noOutcomes();
    const finish = (): void => thread.work(half, () => asker.isAlive && done(all));
    const requests = parts.flatMap(({ bucket, attempts, counts }) =>
      platforms.map((platform) => ({ bucket, platform, count: counts[platform], attempt: attempts + 1 })),
    );
    const going = requests.filter(({ count }) => count > 0);
    let open = going.length;
    thread.work(half, () => {
      if (!asker.isAlive) return;
      if (open === 0) return finish();
      for (const request of going)
        sender.send({ ...request, onSent }, (outcomes) => {
          addOutcomes(all, outcomes);
          open -= 1;
          if (open === 0) finish();
        });
    });
  };
}

function addOutcomes(all: Outcomes, { ended, waiting }: Outcomes): void {
  all.ended.accepted += ended.accepted;
  all.ended.gone += ended.gone;
  all.ended.failed += ended.failed;
  for (const part of waiting) all.waiting.push(part);
}
