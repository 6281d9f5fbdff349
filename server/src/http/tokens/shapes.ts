import { Type } from 'typebox';
import { ServiceError } from '../../domain/errors.ts';
import type { BasicCredentials } from '../auth/basic.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import type { Form } from './form.ts';
import { tokenErrors } from './present.ts';

/** Client credentials of a token request: in the form, or in the Authorization header (decision D18). */
export type Credentials = { clientId: string; clientSecret: string | undefined };

export const tokenFields = ['grant_type', 'client_id', 'client_secret'];
export const refreshFields = [...tokenFields, 'refresh_token'];
export const revokeFields = ['token', 'token_type_hint', 'client_id', 'client_secret'];

/** @throws ServiceError TOKEN_GRANT_TYPE_INVALID, TOKEN_FIELD_REPEATED */
export function assertGrantType(form: Form, expected: 'client_credentials' | 'refresh_token'): void {
  const grantType = form.read('grant_type');
  if (grantType === expected) return;
  throw new ServiceError('TOKEN_GRANT_TYPE_INVALID', { reason: grantType === undefined ? 'missing' : 'unsupported' });
}

/**
 * The client credentials. When both the form and the header hold one, they must agree: a client that sends two
 * different ids is as wrong as one that repeats a field.
 *
 * @throws ServiceError TOKEN_CLIENT_ID_MISSING, TOKEN_FIELD_REPEATED
 */
export function readCredentials(form: Form, basic: BasicCredentials | undefined): Credentials {
  const header = basic && { clientId: formDecoded(basic.username), clientSecret: formDecoded(basic.password) };
  const clientId = merged('client_id', form.read('client_id'), header?.clientId);
  if (clientId === undefined) throw new ServiceError('TOKEN_CLIENT_ID_MISSING');
  return { clientId, clientSecret: merged('client_secret', form.read('client_secret'), header?.clientSecret) };
}

/** @throws ServiceError TOKEN_CLIENT_SECRET_MISSING */
export function requireSecret({ clientSecret }: Credentials): string {
  if (clientSecret === undefined) throw new ServiceError('TOKEN_CLIENT_SECRET_MISSING');
  return clientSecret;
}

function merged(name: string, inForm: string | undefined, inHeader: string | undefined): string | undefined {
  const header = inHeader === '' ? undefined : inHeader;
  if (inForm !== undefined && header !== undefined && inForm !== header) {
    throw new ServiceError('TOKEN_FIELD_REPEATED', { field: name, detail: 'form and Authorization header differ' });
  }
  return inForm ?? header;
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before they become Basic credentials. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

// The schemas below describe the routes; the form is checked above, because order and codes are special (decision D10).

const grantType = (value: string) => Type.Literal(value, { description: `Always \`${value}\`.` });
const clientId = Type.String({ description: 'The Workspace ID.' });
const clientSecret = Type.String({ description: 'The API key value; its authentication type must be OAuth 2.0.' });

export const tokenForm = named(
  'TokenRequest',
  Type.Object({
    grant_type: grantType('client_credentials'),
    client_id: clientId,
    client_secret: clientSecret,
  }),
);

export const refreshForm = named(
  'RefreshRequest',
  Type.Object({
    grant_type: grantType('refresh_token'),
    client_id: clientId,
    refresh_token: Type.String({ description: 'The refresh token returned by generation; valid 30 days.' }),
    client_secret: Type.Optional(
      Type.String({ description: 'Optional, unless the workspace requires it; checked when sent.' }),
    ),
  }),
);

export const revokeForm = named(
  'RevokeRequest',
  Type.Object({
    token: Type.String({ description: 'An access token, or a refresh token with all access tokens from it.' }),
    token_type_hint: Type.Optional(Type.String({ description: 'Not needed; any value is accepted.' })),
    client_id: clientId,
    client_secret: clientSecret,
  }),
);

const issued = {
  access_token: Type.String({ description: 'The Bearer token.' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds from the issue, 300 to 3600.' }),
};
const generated = {
  ...issued,
  refresh_token: Type.String({ description: 'Valid 30 days; not replaced by refreshing.' }),
};

/** Interface 2.2, and the members of RFC 6749 §5.1 at top level (decision D18). */
export const generatedAnswer = named(
  'GeneratedToken',
  Type.Object({ status: Type.Literal('SUCCESS'), data: Type.Object(generated), ...generated }),
);

export const refreshedAnswer = named(
  'RefreshedToken',
  Type.Object({ status: Type.Literal('SUCCESS'), data: Type.Object(issued), ...issued }),
);

export const revokedAnswer = named('RevokedToken', Type.Object({ status: Type.Literal('SUCCESS') }));

const refusals = Object.values(tokenErrors);

/** Interface 2.3, and the members of RFC 6749 §5.2 (decision D18). */
export const errorAnswer = named(
  'TokenError',
  Type.Object({
    status: Type.Literal('FAILURE'),
    error_type: codeShape(
      refusals.map(({ errorType }) => errorType),
      'Error code, for example ER011.',
    ),
    reason: Type.String({ description: 'Human-readable description.' }),
    error: codeShape(
      refusals.map(({ error }) => error),
      'Error code of RFC 6749 §5.2.',
    ),
    error_description: Type.String(),
  }),
);
