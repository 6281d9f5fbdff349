import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { platforms } from '../../domain/content/content.ts';

/** Returns the shape of one word of a list; uses the domain's own list where there is one. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Union(words.map((word) => Type.Literal(word as Words[number])));
}

export function orNull<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}

/** Returns the same shape with a description. The hidden properties that typebox adds to a schema are kept. */
export function described<Shape extends TSchema>(shape: Shape, description: string): Shape {
  const members = Object.getOwnPropertyDescriptors(shape);
  return Object.defineProperties({}, { ...members, description: { value: description, enumerable: true } }) as Shape;
}

export const Platform = oneOf(platforms);
