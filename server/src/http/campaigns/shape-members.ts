import { Type } from 'typebox';
import type { TProperties } from 'typebox';

/** Optional members of the shapes that document campaigns. */
export const part = (members: TProperties, description?: string) =>
  Type.Optional(Type.Object(members, description === undefined ? {} : { description }));
export const text = (description?: string) =>
  Type.Optional(Type.String(description === undefined ? {} : { description }));
export const number = (description?: string) =>
  Type.Optional(Type.Number(description === undefined ? {} : { description }));
export const whole = (minimum: number, maximum: number, description?: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, ...(description === undefined ? {} : { description }) }));
export const flag = (description?: string) =>
  Type.Optional(Type.Boolean(description === undefined ? {} : { description }));
export const texts = () => Type.Optional(Type.Array(Type.String()));
export const tree = (description: string) => Type.Optional(Type.Unsafe<unknown>({ type: 'object', description }));
