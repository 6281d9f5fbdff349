import { Type } from 'typebox';

/**
 * Headers of replies. `*` stands for the vendor's abbreviation; the document has the one of the installation (decision
 * D2).
 */
export const answerHeaders = {
  limit: {
    'X-RateLimit-Limit': Type.Integer({ description: 'Requests that the limit allows in its window' }),
    'X-RateLimit-Remaining': Type.Integer({ description: 'Requests that are left' }),
    'X-RateLimit-Reset': Type.Integer({ description: 'Seconds until there are more again' }),
  },
  retry: { 'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait before the same request' }) },
  challenge: { 'WWW-Authenticate': Type.String({ description: 'Which credentials are asked for (RFC 9110 §11.6.1)' }) },
  deprecation: {
    Deprecation: Type.String({ description: 'Since when this version is deprecated (RFC 9745)' }),
    Link: Type.String({ description: 'The guide to the next version' }),
  },
  warning: {
    'X-*-Warning': Type.String({
      description:
        'What was accepted and will not be done as asked: unknown members, content that a phone will not show',
    }),
  },
} as const;

/** Headers of requests whose names carry the abbreviation. */
export const requestHeaders = {
  appKey: Type.String({ description: 'The Workspace ID; the same as in the credentials' }),
  dbName: Type.String({ description: 'The database name of the workspace' }),
  requestId: Type.Optional(Type.String({ description: 'The id of the request, as request_id of the body' })),
};
