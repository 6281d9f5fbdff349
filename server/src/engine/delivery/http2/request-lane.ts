import type { AnswerListener, OutgoingRequest } from './answer-listener.ts';
import type { Http2Target } from './open-socket.ts';
import { findSpace, noteProgress, waitForSpace } from './session-pool.ts';
import type { HungryLane, SessionPool } from './session-pool.ts';
import { unsent } from './stream-answers.ts';

/** Who sends many requests through a lane. */
export type LaneOwner = AnswerListener & HungryLane;

/** Sends requests of one owner to one target, as fast as the peer takes them, and keeps nothing of them. */
export type RequestLane = {
  /**
   * Takes a request when it can leave now; its owner is told once how it ended, by its ticket. What ended `unsent` is not
   * sent again by itself.
   *
   * @returns false: there is no space, and nothing was read of it. `onSpace` says when to ask again; `onUnreachable`, that no
   *   connection came to be in time
   */
  send(request: OutgoingRequest): boolean;
};

/** `poolOf` may make a new pool, when the old one was dropped for being idle. */
export function makeRequestLane(
  target: Http2Target,
  { owner, poolOf }: { owner: LaneOwner; poolOf: (target: Http2Target) => SessionPool },
): RequestLane {
  let pool = poolOf(target);
  return {
    send(request) {
      if (pool.isDropped) pool = poolOf(target);
      if (pool.rules.isClosed) {
        const { ticket } = request;
        queueMicrotask(() => owner.onAnswer(ticket, unsent('the transport is closed')));
        return true;
      }
      // Those whose answer somebody waits for come first.
      const session = pool.waiting.length === 0 ? findSpace(pool) : undefined;
      if (!session) {
        waitForSpace(pool, owner);
        return false;
      }
      noteProgress(pool);
      session.send(request);
      return true;
    },
  };
}
