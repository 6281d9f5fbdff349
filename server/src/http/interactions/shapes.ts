import { Type } from 'typebox';
import { maxBadge } from '../../domain/content-options/limits.ts';
import { interactionKinds } from '../../domain/interactions/interaction.ts';
import type { InteractionKind } from '../../domain/interactions/interaction.ts';
import { named } from '../openapi/named.ts';

export const interactionBody = named(
  'InteractionReport',
  Type.Object({
    token: Type.String({ minLength: 1, maxLength: 200, description: 'As it came with the message' }),
    kind: Type.Unsafe<InteractionKind | 'badge'>({ type: 'string', enum: [...interactionKinds, 'badge'] }),
    value: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxBadge,
        description: 'Of kind badge: the number on the icon of the app now',
      }),
    ),
    action: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The button that was clicked' })),
    lowered: Type.Optional(
      Type.Boolean({
        description: 'Of kind impression: it came with a lower priority than it was sent with, which makes it late',
      }),
    ),
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Your own name of this report; a repeat counts once' }),
    ),
  }),
);

export const clickParameters = Type.Object({
  token: Type.String({ description: 'Report token, a dot, and the click proof, as they came with the message' }),
});

export const clickQuery = Type.Object({
  to: Type.String({ maxLength: 4096, description: 'The address of the message, unchanged' }),
});
