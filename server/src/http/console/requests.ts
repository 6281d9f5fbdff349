import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { SignedIn } from '../../app/accounts/audit.ts';

/** For bodies that reject unknown members. */
export const closed = { additionalProperties: false };

export const id = Type.String({ pattern: '^[0-9a-f]{24}$' });
export const workspaceId = Type.String({ maxLength: 64 });

/** The query of a route about one workspace. */
export const Workspace = Type.Object({ workspaceId });
/** The path of a route about one object. */
export const Id = Type.Object({ id });

export function workspaceOf(request: FastifyRequest): string {
  return (request.query as Static<typeof Workspace>).workspaceId;
}

export function idOf(request: FastifyRequest): string {
  return (request.params as Static<typeof Id>).id;
}

export function keyOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: workspaceOf(request), id: idOf(request) };
}

/** Returns the workspace and the signed-in user who changes something in it. */
export function changeOf(request: FastifyRequest): { actor: SignedIn; workspaceId: string } {
  return { actor: request.signedIn, workspaceId: workspaceOf(request) };
}
