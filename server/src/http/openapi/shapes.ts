import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/** A part of a JSON Schema or of the document around it; all of it is JSON. */
export type Node = { [member: string]: unknown };

/**
 * Returns the same shape with a name. The document defines it once, among the schemas, and references it elsewhere; parsing
 * requests is unaffected. The hidden properties that typebox adds to a schema are kept.
 */
export function named<Shape extends TSchema>(title: string, shape: Shape): Shape {
  const members = Object.getOwnPropertyDescriptors(shape);
  return Object.defineProperties({}, { ...members, title: { value: title, enumerable: true } }) as Shape;
}

/** Returns the shape of a text that is one of the codes of a family's table of errors. */
export function codeShape(codes: readonly string[], description: string): ReturnType<typeof Type.Unsafe<string>> {
  return Type.Unsafe<string>({ type: 'string', enum: [...new Set(codes)].sort(), description });
}

/**
 * Headers of responses. `*` stands for the vendor's abbreviation; the document shows the abbreviation of the installation
 * (decision D2).
 */
export const answerHeaders = {
  limit: {
    'X-RateLimit-Limit': Type.Integer({ description: 'Requests that the limit allows in its window' }),
    'X-RateLimit-Remaining': Type.Integer({ description: 'Remaining requests' }),
    'X-RateLimit-Reset': Type.Integer({ description: 'Seconds until the limit allows more requests' }),
  },
  retry: { 'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait before the same request' }) },
  challenge: {
    'WWW-Authenticate': Type.String({ description: 'The required kind of credentials (RFC 9110 §11.6.1)' }),
  },
  deprecation: {
    Deprecation: Type.String({ description: 'The date since which this version is deprecated (RFC 9745)' }),
    Link: Type.String({ description: 'The guide to the next version' }),
  },
  warning: {
    'X-*-Warning': Type.String({
      description:
        'Parts of the request that were accepted but have no effect: unknown members, content that a phone will not show',
    }),
  },
} as const;

/** Headers of requests with the abbreviation in their names. */
export const requestHeaders = {
  appKey: Type.String({ description: 'The Workspace ID; the same as in the credentials' }),
  dbName: Type.String({ description: 'The database name of the workspace' }),
  requestId: Type.Optional(Type.String({ description: 'The id of the request, as request_id of the body' })),
};

/** Returns an optional text of the shapes that document responses. */
export const text = (description?: string) =>
  Type.Optional(Type.String(description === undefined ? {} : { description }));
