import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { createOwnAgentToken, listTokens, revokeAgentToken } from '../../app/accounts/agent-tokens.ts';
import type { ConsoleAccountDependencies } from '../../app/accounts/audit.ts';
import { maxAgentTokenDays } from '../../domain/limits/access.ts';
import type { AgentToken as StoredToken } from '../../app/accounts/agent-tokens.ts';
import { consoleApi as api } from './access.ts';
import { closed, Id, idOf } from './requests.ts';
import { described, orNull } from './shape-parts.ts';

export const AgentToken = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: described(orNull(Type.String()), 'The account whose rights the token has; null: the owner of a sandbox.'),
  mayPropose: Type.Boolean({ description: 'True: the agent may also change drafts and propose to send them.' }),
  createdAt: Type.String(),
  expiresAt: Type.String(),
  usedAt: described(orNull(Type.String()), 'The time of the last use, exact to the minute.'),
});

export const AgentTokenList = Type.Object({ tokens: described(Type.Array(AgentToken), 'The newest first.') });

export const CreatedAgentToken = described(
  Type.Object({ id: Type.String(), token: Type.String(), expiresAt: Type.String() }),
  'The only response that contains the token.',
);

const NewToken = Type.Object(
  {
    name: Type.String({ maxLength: 1000 }),
    days: Type.Integer({ minimum: 1, maximum: maxAgentTokenDays }),
    mayPropose: Type.Boolean(),
  },
  closed,
);

type AgentTokenRouteDependencies = { accounts: ConsoleAccountDependencies };

/** Routes for tokens of agents: users manage their own, and owners see and end those of everyone. */
export function agentTokenRoutes(server: FastifyInstance, { accounts }: AgentTokenRouteDependencies): void {
  const own = { permission: 'session.own' as const };
  const everyone = { permission: 'accounts.manage' as const };
  const listing = { hide: true, response: { 200: AgentTokenList } };
  server.get(`${api}/own/agent-tokens`, { schema: listing, config: own }, async ({ signedIn: of }) => ({
    tokens: (await listTokens(accounts, { of })).map(presentToken),
  }));
  const creating = { hide: true, body: NewToken, response: { 201: CreatedAgentToken } };
  server.post(`${api}/own/agent-tokens`, { schema: creating, config: own }, async (request, reply) => {
    const asked = request.body as Static<typeof NewToken>;
    const { expiresAt, ...made } = await createOwnAgentToken(accounts, { actor: request.signedIn, ...asked });
    return reply.code(201).send({ ...made, expiresAt: expiresAt.toISOString() });
  });
  const ending = { hide: true, params: Id };
  server.delete(`${api}/own/agent-tokens/:id`, { schema: ending, config: own }, async (request, reply) => {
    const { signedIn: actor } = request;
    await revokeAgentToken(accounts, { actor, of: actor, id: idOf(request) });
    return reply.code(204).send();
  });
  server.get(`${api}/agent-tokens`, { schema: listing, config: everyone }, async () => ({
    tokens: (await listTokens(accounts, { of: 'everyone' })).map(presentToken),
  }));
  server.delete(`${api}/agent-tokens/:id`, { schema: ending, config: everyone }, async (request, reply) => {
    await revokeAgentToken(accounts, { actor: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
}

function presentToken({ createdAt, expiresAt, usedAt, ...token }: StoredToken) {
  return {
    ...token,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    usedAt: usedAt?.toISOString() ?? null,
  };
}
