import { Type } from 'typebox';
import { placeKinds } from '../../app/console/find-places.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const PlaceKind = oneOf(placeKinds);

export const Place = described(
  Type.Object({
    kind: PlaceKind,
    id: described(Type.String(), 'What the address of the screen has; of a run its campaign, of a device its user.'),
    name: Type.String(),
    detail: orNull(Type.String()),
  }),
  'A screen that a word leads to.',
);
