import type { StateMachine } from './state-machine.ts';

/** What leaves for servers of others, and files that are made for a caller. */
export const outgoingStates: readonly StateMachine[] = [
  {
    name: 'a callback',
    table: 'callbacks',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'an operation ends, or an alert' }],
    changes: [
      { from: 'PENDING', to: 'DELIVERED', by: 'its receiver takes it', statement: 'settleMessage' },
      { from: 'PENDING', to: 'GIVEN_UP', by: 'the last attempt', statement: 'settleMessage' },
      {
        from: 'PENDING',
        to: 'GIVEN_UP',
        by: 'a day behind a receiver that does not answer',
        statement: 'giveUpPausedCallbacks',
      },
      { from: 'DELIVERED', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'GIVEN_UP', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
    ],
  },
  {
    name: 'an email',
    table: 'mails',
    column: 'state',
    begins: [
      { state: 'PENDING', by: 'an operation ends, or an alert' },
      { state: 'KEPT', by: 'no mail server is set' },
    ],
    changes: [
      { from: 'PENDING', to: 'SENT', by: 'the mail server takes it', statement: 'settleMessage' },
      { from: 'PENDING', to: 'FAILED', by: 'the last attempt', statement: 'settleMessage' },
      { from: 'PENDING', to: 'KEPT', by: 'no mail server is set any more', statement: 'settleMessage' },
      { from: 'SENT', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'FAILED', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'KEPT', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
    ],
  },
  {
    name: 'a batch of an event stream',
    table: 'event_stream_batches',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'events' }],
    changes: [
      { from: 'PENDING', to: 'GIVEN_UP', by: 'the last attempt', statement: 'keepEventBatch' },
      {
        from: 'PENDING',
        to: 'GIVEN_UP',
        by: 'a day behind a receiver that does not answer',
        statement: 'giveUpPausedBatches',
      },
      { from: 'GIVEN_UP', to: 'PENDING', by: 'it is sent again', statement: 'resendDeadBatches' },
    ],
    ends: [{ state: 'PENDING', by: 'its receiver takes it' }],
  },
  {
    name: 'a message to a Live Activity',
    table: 'live_activity_messages',
    column: 'state',
    begins: [{ state: 'WAITING', by: 'an event of the activity' }],
    changes: [
      ...(['ACCEPTED', 'GONE', 'REJECTED', 'FAILED'] as const).map((to) => ({
        ...{ from: 'WAITING', to, by: 'an attempt', statement: 'settleLiveMessage' },
      })),
      { from: 'WAITING', to: 'EXPIRED', by: 'its time is over', statement: 'settleLiveMessage' },
      { from: 'WAITING', to: 'SUPERSEDED', by: 'a newer event', statement: 'insertLiveEvent' },
    ],
  },
  {
    name: 'a report file',
    table: 'report_files',
    column: 'state',
    begins: [{ state: 'WAITING', by: 'a call' }],
    changes: [
      { from: 'WAITING', to: 'READY', by: 'it is made', statement: 'endReportFile' },
      { from: 'WAITING', to: 'FAILED', by: 'the last attempt', statement: 'keepReportFile' },
    ],
  },
];
