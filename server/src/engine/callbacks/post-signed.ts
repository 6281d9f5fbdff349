import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';

export type CallbackAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; error: string };

export type PostCallback = (request: {
  url: string;
  headers: Record<string, string>;
  body: string;
}) => Promise<CallbackAnswer>;

export type SignedPost = { id: string; url: string; body: string; secret: string };

export type PostedAnswer = { answer: CallbackAnswer; startedAt: Date; endedAt: Date; durationMilliseconds: number };

export type PostSignedDependencies = {
  clock: Clock;
  log: Logger;
  /** Must end within 15 s whatever the receiver does (fault F24); the lease counts on it. */
  post: PostCallback;
};

/**
 * Posts to an address that somebody else chose, signed as Standard Webhooks say. The id is the same in every attempt, so that
 * a receiver can drop repeats caused by a crash or a lost response.
 */
export async function postSigned(
  { clock, log, post }: PostSignedDependencies,
  { id, url, body, secret }: SignedPost,
): Promise<PostedAnswer> {
  const startedAt = clock.now();
  // The receiver compares it with its own clock, which no sandbox moves.
  const postedAt = clock.realNow();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Carillon',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(postedAt.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, postedAt, body),
  };
  const answer = await post({ url, headers, body }).catch((error: unknown): CallbackAnswer => {
    log.error({ callbackId: id, err: error }, 'callback request failed unexpectedly');
    return { kind: 'failed', error: 'unreachable' };
  });
  const durationMilliseconds = clock.realNow().getTime() - postedAt.getTime();
  return { answer, startedAt, endedAt: clock.now(), durationMilliseconds };
}
