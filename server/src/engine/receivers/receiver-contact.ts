import { failuresBeforePause } from '../../domain/outbox/receiver-pause.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Logger } from '../../log.ts';
import type { Silence } from '../../storage/outbox/receiver-pause.ts';
import type { CallbackAnswer } from '../callbacks/post-signed.ts';
import type { ContactKind } from './receiver-slots.ts';

/**
 * What an attempt says of its receiver. Any HTTP response is an answer, 500 as well: a receiver that refuses holds no slot.
 * An address that our own guard refuses was not called.
 */
export function contactOf(answer: CallbackAnswer): ContactKind {
  if (answer.kind === 'answered') return 'answered';
  return answer.error === 'refused' ? 'none' : 'silent';
}

/** One line when a receiver is paused for the first time, one for each longer pause, and one when it answers again. */
export function logSilence(
  log: Logger,
  { contact, silence, receiver }: { contact: ContactKind; silence: Silence; receiver: Record<string, string> },
): void {
  const { pausedUntil } = silence;
  if (pausedUntil === null) return;
  switch (contact) {
    case 'answered':
      log.info({ ...receiver, ...silence }, 'receiver answers again');
      return;
    case 'silent':
      if (silence.failures === failuresBeforePause)
        log.warn({ ...receiver, ...silence }, 'receiver paused: it does not answer');
      else log.debug({ ...receiver, ...silence }, 'receiver still does not answer');
      return;
    case 'none':
      return;
    default:
      unknownCase(contact);
  }
}
