import { Type } from 'typebox';
import { alertKinds } from '../../domain/alerts/condition.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const AlertKind = oneOf(alertKinds);

export const Alert = described(
  Type.Object({
    id: Type.String(),
    workspaceId: Type.String(),
    kind: AlertKind,
    subject: Type.String({ description: 'Which provider, job or key.' }),
    what: Type.String(),
    todo: Type.String({ description: 'What a person does about it.' }),
    openedAt: Type.String(),
    closedAt: described(orNull(Type.String()), 'Null: it is still so.'),
  }),
  'Something that keeps messages from people, from when to when.',
);

export const AlertSettings = described(
  Type.Object({
    webhookUrl: orNull(Type.String()),
    emails: Type.Array(Type.String()),
    mutedKinds: Type.Array(AlertKind),
  }),
  'Where a workspace is told of its alerts.',
);
