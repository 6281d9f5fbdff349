/** Which fills read their file and change members: each has a session, and may hold a core of the database for a while. */
export type FillTurns = {
  /** True if a fill of the workspace that takes a turn now gets it at once, `others` being about to take one as well. */
  isFree(workspaceId: string, others: readonly string[]): boolean;
  /**
   * Waits for a turn. @returns what ends it
   *
   * @throws NoTurnError when none is free in time, or the signal's reason
   */
  take(workspaceId: string, signal: AbortSignal): Promise<() => void>;
};

/** The other fills take long: this one is given back and nothing of it counts. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError';
}

type Limits = { total: number; perWorkspace: number; maxWaitMilliseconds: number };

/**
 * Of three turns a workspace gets two at most, so that large or slow files of one never hold up all others. A wait is short, because
 * the file server keeps its connection open meanwhile.
 */
export const fillTurnLimits: Limits = { total: 3, perWorkspace: 2, maxWaitMilliseconds: 10_000 };

export function makeFillTurns({ total, perWorkspace, maxWaitMilliseconds }: Limits = fillTurnLimits): FillTurns {
  const held: string[] = [];
  const waiting: { workspaceId: string; start: () => void }[] = [];

  const isFree = (workspaceId: string, others: readonly string[]): boolean => {
    const taken = [...held, ...others];
    return taken.length < total && taken.filter((each) => each === workspaceId).length < perWorkspace;
  };

  function end(workspaceId: string): void {
    held.splice(held.indexOf(workspaceId), 1);
    const next = waiting.findIndex((each) => isFree(each.workspaceId, []));
    if (next >= 0) waiting.splice(next, 1)[0]!.start();
  }

  function hold(workspaceId: string): () => void {
    held.push(workspaceId);
    return () => end(workspaceId);
  }

  return {
    isFree: (workspaceId, others) => isFree(workspaceId, [...others, ...waiting.map((each) => each.workspaceId)]),
    take(workspaceId, signal) {
      if (isFree(workspaceId, [])) return Promise.resolve(hold(workspaceId));
      return new Promise((resolve, reject) => {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMilliseconds)]);
        const giveUp = (): void => {
          waiting.splice(waiting.indexOf(own), 1);
          reject(signal.aborted ? signal.reason : new NoTurnError('other fills take long'));
        };
        const own = {
          workspaceId,
          start(): void {
            limit.removeEventListener('abort', giveUp);
            resolve(hold(workspaceId));
          },
        };
        waiting.push(own);
        limit.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
