/** Who may have a window open: several that send as usual, or a single one that searches. */
export type WindowTurns = { take<Result>(kind: 'usual' | 'alone', work: () => Promise<Result>): Promise<Result> };

/**
 * A worker that dies takes all its open windows with it. So that none is suspected of what happened in another, the window
 * in which a device is looked for is the only one of its process.
 */
export function makeWindowTurns(): WindowTurns {
  let usual = 0;
  /** Waiting or at work: while there is one, no usual window is opened, so that it comes to its turn. */
  let searching = 0;
  let alone = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const look of woken) look();
  };
  const pause = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));

  return {
    async take(kind, work) {
      if (kind === 'alone') {
        searching += 1;
        while (alone > 0 || usual > 0) await pause();
        alone += 1;
      } else {
        while (searching > 0) await pause();
        usual += 1;
      }
      try {
        return await work();
      } finally {
        if (kind === 'alone') {
          alone -= 1;
          searching -= 1;
        } else usual -= 1;
        wake();
      }
    },
  };
}
