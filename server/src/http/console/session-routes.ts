import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type {
  ConsoleAccountDependencies,
  ConsoleCaller,
  OpenedSession,
} from '../../app/accounts/account-dependencies.ts';
import { signIn } from '../../app/accounts/sign-in.ts';
import { signOut } from '../../app/accounts/sign-out.ts';
import {
  acceptInvitation,
  createFirstOwner,
  readInvitation,
  setPasswordByLink,
  signInByLink,
} from '../../app/accounts/use-links.ts';
import { readInstallation } from '../../app/console/read-installation.ts';
import type { InstallationDependencies } from '../../app/console/read-installation.ts';
import { permissionsOf } from '../../domain/accounts/roles.ts';
import { consoleApi as api } from './console-access.ts';
import type { ConsoleCookies } from './console-cookies.ts';
import { OpenInvitation } from './account-shapes.ts';
import { ConsoleSession } from './session-shapes.ts';
import { callerAddress } from '../caller-address.ts';

export type SessionRouteDependencies = InstallationDependencies & {
  accounts: ConsoleAccountDependencies;
  cookies: ConsoleCookies;
};

const closed = { additionalProperties: false };
const code = Type.String({ minLength: 20, maxLength: 100 });
// Longer texts are refused by the rules of the fields, with words; these bounds keep out what nobody types.
const text = Type.String({ minLength: 1, maxLength: 1000 });
const Code = Type.Object({ code }, closed);
const Credentials = Type.Object({ email: text, password: text }, closed);
const FirstOwner = Type.Object({ code, email: text, name: text, password: text }, closed);
const Acceptance = Type.Object({ code, name: text, password: text }, closed);
const NewPassword = Type.Object({ code, password: text }, closed);

/** How people come in and go out. Sessions travel in a cookie that no script can read. */
export function sessionRoutes(server: FastifyInstance, deps: SessionRouteDependencies): void {
  const { accounts } = deps;
  const { session } = deps.cookies;
  const shut = (body: object) => ({ schema: { hide: true, body }, config: { permission: 'none' as const } });
  const own = {
    schema: { hide: true, response: { 200: ConsoleSession } },
    config: { permission: 'session.own' as const },
  };
  const enter = (reply: FastifyReply, { token, maxAgeSeconds }: OpenedSession): FastifyReply =>
    reply
      .setCookie(session.name, token, { ...session.attributes, maxAge: maxAgeSeconds })
      .code(204)
      .send();

  server.post(`${api}/session`, shut(Code), async (request, reply) => {
    const body = request.body as Static<typeof Code>;
    return enter(reply, await signInByLink(accounts, { ...body, caller: callerOf(request) }));
  });
  server.post(`${api}/session/password`, shut(Credentials), async (request, reply) => {
    const body = request.body as Static<typeof Credentials>;
    return enter(reply, await signIn(accounts, { ...body, caller: callerOf(request) }));
  });
  server.post(`${api}/first-owner`, shut(FirstOwner), async (request, reply) => {
    const body = request.body as Static<typeof FirstOwner>;
    return enter(reply, await createFirstOwner(accounts, { ...body, caller: callerOf(request) }));
  });
  const reading = { ...shut(Code), schema: { hide: true, body: Code, response: { 200: OpenInvitation } } };
  server.post(`${api}/invitation`, reading, (request) =>
    readInvitation(accounts, { ...(request.body as Static<typeof Code>), caller: callerOf(request) }),
  );
  server.post(`${api}/invitation/acceptance`, shut(Acceptance), async (request, reply) => {
    const body = request.body as Static<typeof Acceptance>;
    return enter(reply, await acceptInvitation(accounts, { ...body, caller: callerOf(request) }));
  });
  server.post(`${api}/new-password`, shut(NewPassword), async (request, reply) => {
    const body = request.body as Static<typeof NewPassword>;
    return enter(reply, await setPasswordByLink(accounts, { ...body, caller: callerOf(request) }));
  });

  server.get(`${api}/session`, own, async ({ signedIn }) => {
    const { id, name, email, role } = signedIn;
    return {
      account: { id, name, email, role },
      permissions: permissionsOf(role),
      ...(await readInstallation(deps)),
    };
  });
  server.delete(`${api}/session`, { ...own, schema: { hide: true } }, async (request, reply) => {
    await signOut(accounts, request.cookies[session.name]!);
    return reply.clearCookie(session.name, session.attributes).code(204).send();
  });
}

export function callerOf(request: FastifyRequest): ConsoleCaller {
  return { address: callerAddress(request), userAgent: request.headers['user-agent'] ?? '' };
}
