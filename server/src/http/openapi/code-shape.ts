import { Type } from 'typebox';

/** A text that is one of the codes of a family's table of errors. */
export function codeShape(codes: readonly string[], description: string): ReturnType<typeof Type.Unsafe<string>> {
  return Type.Unsafe<string>({ type: 'string', enum: [...new Set(codes)].sort(), description });
}
