/** When a node rests: nobody calls it, so its jobs look for work seldom, and at once when somebody does. */
export type Rest = {
  /** Somebody calls; the end of the call is told by the function that comes back. */
  beginCall(): () => void;
  /** How long a job waits that would look again after as long. */
  stretch(milliseconds: number): number;
  /** Called when a call comes to a node that rested. */
  onWoken(listener: () => void): void;
};

/** What a test does after a call, such as a campaign due in two seconds, is not to wait for a look of a resting node. */
const awakeMilliseconds = 5_000;
const stretchFactor = 20;

/**
 * For the many servers of tests side by side: each asks its database fifteen times a second, which a hundred of them make
 * the work of two processors.
 *
 * @param now monotonic, in milliseconds
 */
export function makeRest(now: () => number): Rest {
  const listeners: (() => void)[] = [];
  let calls = 0;
  let lastCallAt = -Infinity;
  const isResting = (): boolean => calls === 0 && now() - lastCallAt > awakeMilliseconds;
  return {
    beginCall() {
      const rested = isResting();
      calls += 1;
      if (rested) for (const wake of listeners) wake();
      let isEnded = false;
      return () => {
        if (isEnded) return;
        isEnded = true;
        calls -= 1;
        lastCallAt = now();
      };
    },
    stretch: (milliseconds) => (isResting() ? milliseconds * stretchFactor : milliseconds),
    onWoken: (listener) => void listeners.push(listener),
  };
}
