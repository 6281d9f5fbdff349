import type { CallOptions } from './call-service.ts';
import type { FileSegmentCallback } from './generated/shapes.ts';
import { verifyCallback } from './verify-callback.ts';
import type { CallbackHeaders, VerifiedCallback } from './verify-callback.ts';

export type CallbackReceiver = {
  /**
   * Takes what was posted to your `callback_url`: checks the signature, drops a repeat, and gives it to whoever waits.
   * What `onOutcome` throws it throws too: reply with 500, and the callback comes again and is handled anew.
   *
   * @returns the status to reply with: 200, or 401 for what is not signed by this workspace
   */
  take(posted: { headers: CallbackHeaders; rawBody: string }): Promise<200 | 401>;
  /** The next outcome of a segment. `stop` gives the waiting up. */
  waitFor(
    segmentName: string,
    options?: Pick<CallOptions, 'signal'>,
  ): { outcome: Promise<FileSegmentCallback>; stop(): void };
};

// A callback is posted for about seven hours; ids of many more than wait are kept no longer than memory should.
const maxRemembered = 10_000;

/** Receives the callbacks of file segments in your server, however that is built. */
export function makeCallbackReceiver(options: {
  /** `whsec_…` of the workspace. */
  secret: string;
  /** Milliseconds now; for tests. */
  now?: () => number;
  /** Of every outcome, once: again only after it threw or rejected. */
  onOutcome?: (outcome: FileSegmentCallback) => void | Promise<void>;
}): CallbackReceiver {
  const { secret, now = Date.now, onOutcome } = options;
  const waiting = new Map<string, Set<(outcome: FileSegmentCallback) => void>>();
  const seen = new Set<string>();
  /** A repeat that comes meanwhile waits for the same end. */
  const underWay = new Map<string, Promise<void>>();

  async function handle({ id, outcome }: VerifiedCallback): Promise<void> {
    await onOutcome?.(outcome);
    seen.add(id);
    if (seen.size > maxRemembered) seen.delete(seen.values().next().value!);
    const first = waiting.get(outcome.segment_name)?.values().next().value;
    if (first) first(outcome);
  }

  return {
    async take(posted) {
      const verified = await verifyCallback({ ...posted, secret, now: now() });
      if (verified === undefined) return 401;
      if (seen.has(verified.id)) return 200;
      let handling = underWay.get(verified.id);
      if (!handling) {
        handling = handle(verified).finally(() => underWay.delete(verified.id));
        underWay.set(verified.id, handling);
      }
      await handling;
      return 200;
    },
    waitFor(name, { signal } = {}) {
      // Promise.withResolvers is not in Node 20.
      let resolve!: (outcome: FileSegmentCallback) => void;
      let reject!: (reason: unknown) => void;
      const promise = new Promise<FileSegmentCallback>((...settle) => ([resolve, reject] = settle));
      // Whoever stops waiting hears no more of it.
      promise.catch(() => undefined);
      const those = waiting.get(name) ?? new Set();
      waiting.set(name, those);
      const stop = (): void => {
        those.delete(done);
        if (those.size === 0) waiting.delete(name);
        signal?.removeEventListener('abort', abort);
      };
      const done = (outcome: FileSegmentCallback): void => {
        stop();
        resolve(outcome);
      };
      const abort = (): void => {
        stop();
        reject(signal!.reason);
      };
      those.add(done);
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
      return { outcome: promise, stop };
    },
  };
}
