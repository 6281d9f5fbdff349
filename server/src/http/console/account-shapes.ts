import { Type } from 'typebox';
import { Role } from './session-shapes.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const OwnSession = Type.Object({
  id: Type.String(),
  accountId: orNull(Type.String()),
  sourceAddress: Type.String(),
  userAgent: Type.String(),
  createdAt: Type.String(),
  lastSeenAt: Type.String(),
  expiresAt: Type.String(),
  isThis: Type.Boolean(),
});

export const ConsoleAccount = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  createdAt: Type.String(),
  signedInAt: orNull(Type.String()),
  disabledAt: orNull(Type.String()),
});

export const Owner = described(
  Type.Object({ name: Type.String(), email: Type.String() }),
  'Who can change what somebody may.',
);

export const ConsoleInvitation = Type.Object({
  id: Type.String(),
  purpose: Type.String(),
  accountId: orNull(Type.String()),
  email: Type.String(),
  role: Role,
  createdBy: Type.String(),
  createdAt: Type.String(),
  expiresAt: Type.String(),
});

export const AuditEntry = Type.Object({
  id: Type.String(),
  workspaceId: described(orNull(Type.String()), 'Null: what concerns the whole installation.'),
  at: Type.String(),
  actorId: orNull(Type.String()),
  actorName: Type.String(),
  action: Type.String({ description: "The object's kind and what was done: `campaign.stop`." }),
  objectKind: Type.String(),
  objectId: orNull(Type.String()),
  objectName: orNull(Type.String()),
  detail: Type.Record(Type.String(), Type.Unknown()),
});

export const Entrance = described(
  Type.Object({
    company: described(
      orNull(Type.Object({ name: Type.String() })),
      "The company's accounts; null: there are passwords only.",
    ),
    passwordSignIn: described(oneOf(['everyone', 'owners']), 'Whose passwords open the console.'),
  }),
  'What somebody may come in by who is not signed in.',
);

export const OneTimeLink = described(
  Type.Object({
    link: Type.String({ description: 'At the public URL; a path where none is set.' }),
    expiresAt: Type.String(),
  }),
  'A link that works once.',
);

export const InvitationLink = described(
  Type.Object({ id: Type.String(), ...OneTimeLink.properties }),
  'The link of an invitation, which works once.',
);

export const AccountList = Type.Object({
  accounts: Type.Array(ConsoleAccount),
  invitations: Type.Array(ConsoleInvitation),
});

export const OpenInvitation = Type.Object({ email: Type.String(), role: Role, invitedBy: Type.String() });

export const CompanySignIn = Type.Object({ location: Type.String({ description: 'Where the browser goes now.' }) });
