import type { DropReason } from './drop-reason.ts';
import { unknownCase } from '../unknown-case.ts';

export const triggerStates = ['WAITING', 'HELD', 'SENT', 'DROPPED'] as const;

/** What an event of a user started, as it is told. */
export type ToldTrigger = {
  eventName: string;
  occurredAt: Date;
  receivedAt: Date;
  /** Null: the event says no time to count from. */
  dueAt: Date | null;
  state: (typeof triggerStates)[number];
  reason: DropReason | null;
  runId: string | null;
};

const drops: Record<DropReason, string> = {
  LATE: 'was found too late to be sent',
  CONDITION: 'was not sent: what had to be true by then was not',
  AUDIENCE: 'was not sent: the person was not in the audience by then',
  CAMPAIGN_OVER: 'was not sent: the campaign was over by then',
  NO_TIME: 'was not sent: the attribute that is to say when says no time',
  TOO_FAR: 'was not sent: the attribute that is to say when names a time too far ahead',
};

/** In one sentence. */
export function tellTrigger({ eventName, occurredAt, dueAt, state, reason, runId }: ToldTrigger): string {
  const event = `"${eventName}" at ${occurredAt.toISOString()}`;
  switch (state) {
    case 'WAITING':
      return `${event} is due at ${dueAt!.toISOString()}.`;
    case 'HELD':
      return `${event} was due at ${dueAt!.toISOString()} and waits for the end of the pause.`;
    case 'SENT':
      return `${event} is in run ${runId}.`;
    case 'DROPPED':
      return `${event} ${drops[reason!]}.`;
    default:
      return unknownCase(state);
  }
}
