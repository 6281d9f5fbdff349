import type { TSchema } from 'typebox';

/**
 * The same shape under a name. In the document it stands once, among the schemas, and everything else refers to it;
 * where requests are read it is the shape it was. What typebox keeps besides the members of the schema stays.
 */
export function named<Shape extends TSchema>(title: string, shape: Shape): Shape {
  const members = Object.getOwnPropertyDescriptors(shape);
  return Object.defineProperties({}, { ...members, title: { value: title, enumerable: true } }) as Shape;
}
