import { createHook } from 'node:async_hooks';

/**
 * Counts the timers and sockets that the delivery code makes from now on and has not ended, unreferenced ones too: what
 * an idle process would keep. Told apart from those of the test by the place they were made at.
 */
export function watchLeftBehind(): { left(): string[]; stop(): void } {
  const living = new Map<number, string>();
  const usualLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 60;
  const hook = createHook({
    init(id, type) {
      if (type !== 'Timeout' && type !== 'TCPWRAP' && type !== 'TLSWRAP') return;
      const place = new Error().stack?.split('\n').find((line) => line.includes('/src/providers/'));
      if (place) living.set(id, `${type} ${place.trim()}`);
    },
    destroy(id) {
      living.delete(id);
    },
  }).enable();
  return {
    left: () => [...living.values()],
    stop() {
      hook.disable();
      Error.stackTraceLimit = usualLimit;
    },
  };
}
