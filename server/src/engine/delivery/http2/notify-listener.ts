import type { Answer } from '../provider.ts';
import type { OutgoingRequest } from './answer-listener.ts';
import { isSuccess } from './stream-answers.ts';

/** Gives a listener as much of an answer that was read as a whole as it reads. */
export function notifyListener(
  { listener, ticket }: Pick<OutgoingRequest, 'listener' | 'ticket'>,
  answer: Answer,
): void {
  if (listener.reads === 'all' || answer.kind === 'failure' || !isSuccess(answer.status))
    listener.onAnswer(ticket, answer);
  else if (listener.reads === 'failures') listener.onAccepted(ticket, answer.status);
  else listener.onAnswer(ticket, { ...answer, headers: {} });
}
