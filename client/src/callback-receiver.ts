import type { CallOptions } from './call-service.ts';
import type { FileSegmentCallback } from './generated/shapes.ts';
import { verifyCallback } from './verify-callback.ts';
import type { CallbackHeaders, VerifiedCallback } from './verify-callback.ts';

export type CallbackReceiver = {
  /**
   * Handles a request to your `callback_url`: verifies the signature, drops a duplicate, and passes the outcome to a waiting
   * caller. It rejects with the error of `onOutcome`: respond with 500, and the callback is sent and handled again.
   *
   * @returns the status to respond with: 200, or 401 if the callback is not signed by this workspace
   */
  take(posted: { headers: CallbackHeaders; rawBody: string }): Promise<200 | 401>;
  /** Waits for the next outcome of a segment. `stop` ends the wait. */
  waitFor(
    segmentName: string,
    options?: Pick<CallOptions, 'signal'>,
  ): { outcome: Promise<FileSegmentCallback>; stop(): void };
};

// A callback is retried for about seven hours. More ids than can be pending are not stored, to limit memory.
const maxRemembered = 10_000;

/** Receives the callbacks of file segments in your server, whatever framework it uses. */
export function makeCallbackReceiver(options: {
  /** The `whsec_…` secret of the workspace. */
  secret: string;
  /** Milliseconds now; for tests. */
  now?: () => number;
  /** Called once per outcome, and again only after it threw or rejected. */
  onOutcome?: (outcome: FileSegmentCallback) => void | Promise<void>;
}): CallbackReceiver {
  const { secret, now = Date.now, onOutcome } = options;
  const waiting = new Map<string, Set<(outcome: FileSegmentCallback) => void>>();
  const seen = new Set<string>();
  /** A duplicate that arrives meanwhile waits for the same result. */
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
      // Node 20 does not have Promise.withResolvers.
      let resolve!: (outcome: FileSegmentCallback) => void;
      let reject!: (reason: unknown) => void;
      const promise = new Promise<FileSegmentCallback>((...settle) => ([resolve, reject] = settle));
      // A caller that stops waiting gets no unhandled rejection.
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
