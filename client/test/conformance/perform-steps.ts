/** Performs the steps that it reads, one line of JSON each, and writes what each came to. */
import { createInterface } from 'node:readline';
import { CarillonError, makeCarillonClient, signPush, verifyCallback } from '../../src/index.ts';
import type { CarillonClient, CarillonClientOptions } from '../../src/index.ts';

const waits: number[] = [];
let client: CarillonClient | undefined;
let now = 1_000_000_000;

const startTimer = globalThis.setTimeout;

for await (const line of createInterface({ input: process.stdin })) {
  waits.length = 0;
  const outcome = await perform(JSON.parse(line)).then((result) => ({ result }), describe);
  process.stdout.write(`${JSON.stringify({ ...outcome, waits })}\n`);
}

async function perform(step: any): Promise<unknown> {
  const { body, idempotencyKey } = step;
  switch (step.do) {
    case 'client':
      client = makeClient(step.options);
      return undefined;
    case 'clock':
      now += step.seconds * 1000;
      return undefined;
    case 'signPush': {
      const [workspaceId, campaignName, pushKey] = step.values;
      return signPush({ workspaceId, campaignName, pushKey });
    }
    case 'verifyCallback': {
      const { headers, text: rawBody, secret, seconds } = step;
      return (await verifyCallback({ headers, rawBody, secret, now: seconds * 1000 })) !== undefined;
    }
    case 'sendPush':
      return client!.sendPush(body, { idempotencyKey });
    default:
      return client!.callWithReply(step.operation, { parameters: step.parameters, body } as never, { idempotencyKey });
  }
}

function makeClient(options: CarillonClientOptions): CarillonClient {
  const onRetry = ({ waitMilliseconds }: { waitMilliseconds: number }): void => {
    waits.push(waitMilliseconds / 1000);
    // The timer that the client starts next is its wait, which ends at once here.
    globalThis.setTimeout = ((run: () => void) => {
      globalThis.setTimeout = startTimer;
      return startTimer(run, 0);
    }) as typeof setTimeout;
  };
  return makeCarillonClient({ ...options, hooks: { onRetry }, now: () => now, random: () => 1 });
}

function describe(error: unknown): { error: object } {
  if (!(error instanceof CarillonError)) return { error: { status: -1, code: 'local', message: String(error) } };
  const { status, code, message, requestId, retryAfterSeconds } = error;
  return { error: { status, code, message, requestId, retryAfterSeconds } };
}
