import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { platforms } from '../../domain/content/content.ts';

/** One word of a list; the domain's own list where it has one. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Union(words.map((word) => Type.Literal(word as Words[number])));
}

export function orNull<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}

/** The same shape with a sentence for its reader. What typebox keeps besides the members of the schema stays. */
export function described<Shape extends TSchema>(shape: Shape, description: string): Shape {
  const members = Object.getOwnPropertyDescriptors(shape);
  return Object.defineProperties({}, { ...members, description: { value: description, enumerable: true } }) as Shape;
}

export const Platform = oneOf(platforms);
