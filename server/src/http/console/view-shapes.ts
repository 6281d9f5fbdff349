import { Type } from 'typebox';
import { described } from './shape-parts.ts';

export const SavedView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  search: described(Type.String(), 'What stands behind the question mark of the screen.'),
});

export const ViewList = Type.Object({ views: Type.Array(SavedView) });
