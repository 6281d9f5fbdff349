import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleAccountDependencies } from '../../app/accounts/account-dependencies.ts';
import {
  changeAccountRole,
  createPasswordLink,
  disableAccount,
  enableAccount,
  inviteAccount,
  listAccountsAndInvitations,
  listOwners,
  withdrawInvitation,
} from '../../app/accounts/manage-accounts.ts';
import { changeOwnPassword, endOwnSession, listOwnSessions } from '../../app/accounts/own-account.ts';
import { roles } from '../../domain/accounts/roles.ts';
import { consoleApi as api } from './console-access.ts';
import { oneTimeAddress } from './service-addresses.ts';
import { callerOf } from './session-routes.ts';
import { AccountList, ConsoleAccount, InvitationLink, OneTimeLink, Owner, OwnSession } from './account-shapes.ts';

const closed = { additionalProperties: false };
const id = Type.String({ pattern: '^[0-9a-f]{24}$' });
const role = Type.Union(roles.map((name) => Type.Literal(name)));
const text = Type.String({ minLength: 1, maxLength: 1000 });
const Id = Type.Object({ id });
const Password = Type.Object({ current: text, password: text }, closed);
const Invitation = Type.Object({ email: text, role }, closed);
const RoleChange = Type.Object({ role }, closed);

export type AccountRouteDependencies = {
  accounts: ConsoleAccountDependencies;
  /** The origin of the service where one is set. */
  publicUrl: string | undefined;
};

/** The own account, and the accounts of others. */
export function accountRoutes(server: FastifyInstance, deps: AccountRouteDependencies): void {
  addOwn(server, deps.accounts);
  addOthers(server, deps);
}

function addOwn(server: FastifyInstance, accounts: ConsoleAccountDependencies): void {
  const config = { permission: 'session.own' as const };
  server.get(
    `${api}/owners`,
    { schema: { hide: true, response: { 200: Type.Object({ owners: Type.Array(Owner) }) } }, config },
    async () => ({ owners: await listOwners(accounts) }),
  );
  server.get(
    `${api}/own/sessions`,
    { schema: { hide: true, response: { 200: Type.Object({ sessions: Type.Array(OwnSession) }) } }, config },
    async ({ signedIn: by }) => ({
      sessions: await listOwnSessions(accounts, { by }),
    }),
  );
  server.delete(`${api}/own/sessions/:id`, { schema: { hide: true, params: Id }, config }, async (request, reply) => {
    await endOwnSession(accounts, { by: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
  server.put(`${api}/own/password`, { schema: { hide: true, body: Password }, config }, async (request, reply) => {
    const body = request.body as Static<typeof Password>;
    await changeOwnPassword(accounts, { ...body, by: request.signedIn, caller: callerOf(request) });
    return reply.code(204).send();
  });
}

function addOthers(server: FastifyInstance, { accounts, publicUrl }: AccountRouteDependencies): void {
  const config = { permission: 'accounts.manage' as const };
  const one = { schema: { hide: true, params: Id }, config };
  const answersAccount = { 200: Type.Object({ account: ConsoleAccount }) };
  const changed = { schema: { hide: true, params: Id, response: answersAccount }, config };

  server.get(`${api}/accounts`, { schema: { hide: true, response: { 200: AccountList } }, config }, () =>
    listAccountsAndInvitations(accounts),
  );
  server.post(
    `${api}/invitations`,
    { schema: { hide: true, body: Invitation, response: { 201: InvitationLink } }, config },
    async (request, reply) => {
      const body = request.body as Static<typeof Invitation>;
      const { code, ...invitation } = await inviteAccount(accounts, { ...body, by: request.signedIn });
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...invitation, link: oneTimeAddress(`/console/#invitation=${code}`, publicUrl) });
    },
  );
  server.delete(`${api}/invitations/:id`, one, async (request, reply) => {
    await withdrawInvitation(accounts, { by: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
  server.put(
    `${api}/accounts/:id/role`,
    { schema: { hide: true, params: Id, body: RoleChange, response: answersAccount }, config },
    async (request) => {
      const body = request.body as Static<typeof RoleChange>;
      return { account: await changeAccountRole(accounts, { ...body, by: request.signedIn, id: idOf(request) }) };
    },
  );
  server.post(`${api}/accounts/:id/disable`, changed, async (request) => ({
    account: await disableAccount(accounts, { by: request.signedIn, id: idOf(request) }),
  }));
  server.post(`${api}/accounts/:id/enable`, changed, async (request) => ({
    account: await enableAccount(accounts, { by: request.signedIn, id: idOf(request) }),
  }));
  const linking = { schema: { hide: true, params: Id, response: { 201: OneTimeLink } }, config };
  server.post(`${api}/accounts/:id/password-link`, linking, async (request, reply) => {
    const { code, expiresAt } = await createPasswordLink(accounts, { by: request.signedIn, id: idOf(request) });
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ expiresAt, link: oneTimeAddress(`/console/#new-password=${code}`, publicUrl) });
  });
}

function idOf(request: FastifyRequest): string {
  return (request.params as Static<typeof Id>).id;
}
