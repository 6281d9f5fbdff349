import type { Answer } from '../provider.ts';
import type { RequestHead } from './request-head.ts';

/** Who is told how requests ended: each exactly once, after it was sent, by the number that it was sent with. */
export type AnswerListener = {
  /**
   * `failures`: of a 2xx only its status is read; its headers are passed over and its body is dropped. `bodies`: of a 2xx
   * the headers are passed over. `all`: every answer is read.
   */
  readonly reads: 'failures' | 'bodies' | 'all';
  /** A 2xx of which no more is read. Called with `reads: 'failures'` only. */
  onAccepted(ticket: number, status: number): void;
  /** Any other answer, or why there is none. */
  onAnswer(ticket: number, answer: Answer): void;
};

/**
 * One request. The sender reads all of it before it returns, the bytes of the body included, so one object and one buffer
 * can be filled again for the next.
 */
export type OutgoingRequest = {
  head: RequestHead;
  path: string;
  /** Of `head.names`, in their order. */
  values: readonly string[];
  body: Uint8Array;
  /** Told to the listener with the answer; from 0 to 2³² − 1. */
  ticket: number;
  listener: AnswerListener;
};
