import { Type } from 'typebox';
import { described, oneOf, orNull } from './shape-parts.ts';

export const ConsoleCallback = Type.Object({
  id: Type.String(),
  operationId: orNull(Type.String()),
  url: Type.String(),
  body: Type.String(),
  state: oneOf(['PENDING', 'DELIVERED', 'GIVEN_UP']),
  silentSince: described(
    orNull(Type.String()),
    'Since when the receiver has not answered: the callback waits for one of its probes.',
  ),
  resends: Type.Number({ description: 'How often it was sent again, and the tries since.' }),
  attempts: Type.Number(),
  nextAt: orNull(Type.String()),
  createdAt: Type.String(),
  endedAt: orNull(Type.String()),
});

export const CallbackAttempt = Type.Object({
  resend: Type.Number({ description: '0: the first delivery.' }),
  attempt: Type.Number(),
  at: Type.String(),
  status: described(orNull(Type.Number()), 'Null: no answer came.'),
  error: orNull(Type.String()),
  durationMilliseconds: Type.Number(),
});

export const CallbackDetail = Type.Object({ ...ConsoleCallback.properties, tries: Type.Array(CallbackAttempt) });

export const ConsoleEmail = Type.Object({
  id: Type.String(),
  operationId: orNull(Type.String()),
  recipients: Type.Array(Type.String()),
  subject: Type.String(),
  body: Type.String(),
  state: described(oneOf(['PENDING', 'SENT', 'KEPT', 'FAILED']), '`KEPT`: there is no SMTP server; it is shown only.'),
  resends: Type.Number({ description: 'How often it was sent again, and the tries since.' }),
  attempts: Type.Number(),
  nextAt: orNull(Type.String()),
  error: orNull(Type.String()),
  createdAt: Type.String(),
  endedAt: orNull(Type.String()),
});

export const EmailAttempt = Type.Object({
  resend: Type.Number({ description: '0: the first sending.' }),
  attempt: Type.Number({ description: 'Which of the schedule.' }),
  at: Type.String(),
  answer: Type.String({ description: 'What the mail server said, or why nobody answered.' }),
  isTaken: Type.Boolean(),
  durationMilliseconds: Type.Number(),
});

export const EmailDetail = Type.Object({ ...ConsoleEmail.properties, tries: Type.Array(EmailAttempt) });

export const CallbackPage = Type.Object({ callbacks: Type.Array(ConsoleCallback), next: orNull(Type.String()) });

export const EmailPage = Type.Object({ emails: Type.Array(ConsoleEmail), next: orNull(Type.String()) });
