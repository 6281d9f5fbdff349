import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isWorkspaceId } from '../../domain/tokens/workspace-id.ts';
import { readBasic } from '../auth/basic.ts';
import { isBearer } from '../auth/bearer.ts';

/**
 * Refuses, with the texts of fact 5, a header without an identity. Does not disclose whether a workspace exists: only a
 * malformed id is distinguished from a wrong secret.
 *
 * @throws ServiceError DATA_IDENTITY_MISSING, DATA_IDENTITY_INVALID, DATA_APP_KEY_MISSING, DATA_APP_SECRET_MISSING,
 * DATA_APP_ID_INVALID
 */
export function checkIdentity(request: FastifyRequest): void {
  const { authorization } = request.headers;
  // Without the header the family's own refusal follows.
  if (authorization === undefined || isBearer(request)) return;
  if (/^(basic)?\s*$/i.test(authorization)) throw new ServiceError('DATA_IDENTITY_MISSING');
  const basic = readBasic(request.headers);
  if (!basic) throw new ServiceError('DATA_IDENTITY_INVALID');
  if (basic.username === '') throw new ServiceError('DATA_APP_KEY_MISSING');
  if (basic.password === '') throw new ServiceError('DATA_APP_SECRET_MISSING');
  if (!isWorkspaceId(basic.username)) throw new ServiceError('DATA_APP_ID_INVALID');
}
