import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  changeAccountRole,
  createPasswordLink,
  disableAccount,
  enableAccount,
  inviteAccount,
  listAccountsAndInvitations,
  listOwners,
  withdrawInvitation,
  changeOwnPassword,
  endOwnSession,
  listOwnSessions,
} from '../../app/accounts/accounts.ts';
import type { ConsoleAccountDependencies, ConsoleCaller, OpenedSession } from '../../app/accounts/audit.ts';
import type { CompanySignInUseCases } from '../../app/accounts/company-sign-in.ts';
import {
  acceptInvitation,
  createFirstOwner,
  readInvitation,
  setPasswordByLink,
  signInByLink,
} from '../../app/accounts/links.ts';
import { signIn, signOut } from '../../app/accounts/sign-in.ts';
import { readInstallation } from '../../app/system/overview.ts';
import type { InstallationDependencies } from '../../app/system/overview.ts';
import { permissions, roles } from '../../domain/access/accounts.ts';
import type { Permission as PermissionName } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { companySignInSeconds, maxInvitedWorkspaces } from '../../domain/limits/access.ts';
import type { Logger } from '../../log.ts';
import { callerAddress } from '../server/call-origin.ts';
import { consoleApi as api, oneTimeAddress, companyCallbackPath, serviceOrigin } from './access.ts';
import type { ConsoleCookies } from './access.ts';
import { closed, Id, idOf, workspaceId } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const Role = oneOf(roles);

export const ConsoleWorkspace = Type.Object({
  id: Type.String(),
  dbName: Type.String(),
  name: Type.String(),
  timeZone: Type.String({ description: 'IANA name; the console shows times in it.' }),
});

export const Permission = oneOf(Object.keys(permissions) as PermissionName[]);

export const SessionWorkspace = described(
  Type.Object({
    ...ConsoleWorkspace.properties,
    roles: described(Type.Array(Role), 'The roles of the user here, including those in the installation.'),
    permissions: described(Type.Array(Permission), 'What the user may do here.'),
  }),
  'A workspace in which the user has a role.',
);

export const ConsoleSession = Type.Object({
  account: described(
    Type.Object({
      id: orNull(Type.String()),
      name: Type.String(),
      email: orNull(Type.String()),
      roles: described(Type.Array(Role), 'The roles in the installation, which apply in every workspace.'),
    }),
    'For the start link of a sandbox, the id and the address are null.',
  ),
  workspaces: Type.Array(SessionWorkspace),
  isSandbox: Type.Boolean(),
});

export const OwnSession = Type.Object({
  id: Type.String(),
  accountId: orNull(Type.String()),
  sourceAddress: Type.String(),
  userAgent: Type.String(),
  createdAt: Type.String(),
  lastSeenAt: Type.String(),
  expiresAt: Type.String(),
  isThis: Type.Boolean(),
});

export const WorkspaceRole = Type.Object({
  workspaceId: Type.String(),
  role: described(orNull(Role), 'The role that an owner assigned.'),
  groupRole: described(orNull(Role), 'The role by groups of the company account.'),
});

export const ConsoleAccount = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: described(
    orNull(Role),
    'The role in the installation, which applies in every workspace; null if there is none.',
  ),
  groupRole: described(orNull(Role), 'The role in the installation by groups of the company account.'),
  workspaceRoles: Type.Array(WorkspaceRole),
  createdAt: Type.String(),
  signedInAt: orNull(Type.String()),
  disabledAt: orNull(Type.String()),
});

export const Owner = described(
  Type.Object({ name: Type.String(), email: Type.String() }),
  'An owner, who can change what other accounts may do.',
);

export const ConsoleInvitation = Type.Object({
  id: Type.String(),
  purpose: Type.String(),
  accountId: orNull(Type.String()),
  email: Type.String(),
  role: orNull(Role),
  workspaceRoles: described(Type.Record(Type.String(), Role), 'Roles by the id of the workspace.'),
  createdBy: Type.String(),
  createdAt: Type.String(),
  expiresAt: Type.String(),
});

export const AuditEntry = Type.Object({
  id: Type.String(),
  workspaceId: described(orNull(Type.String()), 'Null if the entry concerns the whole installation.'),
  at: Type.String(),
  actorId: orNull(Type.String()),
  actorName: Type.String(),
  action: Type.String({ description: 'The kind of the object and the action, as in `campaign.stop`.' }),
  objectKind: Type.String(),
  objectId: orNull(Type.String()),
  objectName: orNull(Type.String()),
  detail: Type.Record(Type.String(), Type.Unknown()),
});

export const Entrance = described(
  Type.Object({
    company: described(
      orNull(Type.Object({ name: Type.String() })),
      'The sign-in with company accounts; null if there are only passwords.',
    ),
    passwordSignIn: described(oneOf(['everyone', 'owners']), 'The accounts that may sign in with a password.'),
  }),
  'The ways to sign in.',
);

export const OneTimeLink = described(
  Type.Object({
    link: Type.String({ description: 'An address at the public URL, or a path if no public URL is set.' }),
    expiresAt: Type.String(),
  }),
  'A link that works once.',
);

export const InvitationLink = described(
  Type.Object({ id: Type.String(), ...OneTimeLink.properties }),
  'The link of an invitation, which works once.',
);

export const ListedAccount = Type.Object({ ...ConsoleAccount.properties, hasSecondFactor: Type.Boolean() });

export const AccountList = Type.Object({
  accounts: Type.Array(ListedAccount),
  invitations: Type.Array(ConsoleInvitation),
});

export const OpenInvitation = Type.Object({
  email: Type.String(),
  role: orNull(Role),
  workspaceRoles: Type.Array(Type.Object({ workspace: Type.String(), role: Role })),
  invitedBy: Type.String(),
});

export const CompanySignIn = Type.Object({
  location: Type.String({ description: 'The address that the browser opens next.' }),
});

export type SessionRouteDependencies = InstallationDependencies & {
  accounts: ConsoleAccountDependencies;
  cookies: ConsoleCookies;
};

const code = Type.String({ minLength: 20, maxLength: 100 });
// The field rules reject longer texts with an explanation; these bounds only stop input that no user types.
const enteredText = Type.String({ minLength: 1, maxLength: 1000 });
const Code = Type.Object({ code }, closed);
const Credentials = Type.Object({ email: enteredText, password: enteredText }, closed);
const FirstOwner = Type.Object({ code, email: enteredText, name: enteredText, password: enteredText }, closed);
const Acceptance = Type.Object({ code, name: enteredText, password: enteredText }, closed);
const NewPassword = Type.Object({ code, password: enteredText }, closed);

/** Routes for signing in and out. Sessions travel in a cookie that scripts cannot read. */
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
    const { id, name, email, access } = signedIn;
    return { account: { id, name, email, roles: access.installation }, ...(await readInstallation(deps, signedIn)) };
  });
  // Also ends a sign-in that lacks its second factor.
  const leaving = { schema: { hide: true }, config: { permission: 'session.enter' as const } };
  server.delete(`${api}/session`, leaving, async (request, reply) => {
    await signOut(accounts, request.cookies[session.name]!);
    return reply.clearCookie(session.name, session.attributes).code(204).send();
  });
}

export function callerOf(request: FastifyRequest): ConsoleCaller {
  return { address: callerAddress(request), userAgent: request.headers['user-agent'] ?? '' };
}

const role = Type.Union(roles.map((name) => Type.Literal(name)));
const text = Type.String({ minLength: 1, maxLength: 1000 });
const Password = Type.Object({ current: text, password: text }, closed);
const InvitedRoles = Type.Record(workspaceId, role, { maxProperties: maxInvitedWorkspaces });
const Invitation = Type.Object(
  { email: text, role: Type.Optional(orNull(role)), workspaceRoles: Type.Optional(InvitedRoles) },
  closed,
);
// Not in the query: the permission is checked in the installation, because it concerns all workspaces.
const RoleChange = Type.Object({ role: orNull(role), workspaceId: Type.Optional(orNull(workspaceId)) }, closed);

export type AccountRouteDependencies = {
  accounts: ConsoleAccountDependencies;
  /** The origin of the service, if one is set. */
  publicUrl: string | undefined;
};

/** Routes for the user's own account and for other accounts. */
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
    async ({ signedIn: actor }) => ({
      sessions: await listOwnSessions(accounts, { actor }),
    }),
  );
  server.delete(`${api}/own/sessions/:id`, { schema: { hide: true, params: Id }, config }, async (request, reply) => {
    await endOwnSession(accounts, { actor: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
  server.put(`${api}/own/password`, { schema: { hide: true, body: Password }, config }, async (request, reply) => {
    const body = request.body as Static<typeof Password>;
    await changeOwnPassword(accounts, { ...body, actor: request.signedIn, caller: callerOf(request) });
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
      const { code, ...invitation } = await inviteAccount(accounts, {
        ...{ actor: request.signedIn, email: body.email },
        ...{ role: body.role ?? null, workspaceRoles: body.workspaceRoles ?? {} },
      });
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...invitation, link: oneTimeAddress(`/console/#invitation=${code}`, publicUrl) });
    },
  );
  server.delete(`${api}/invitations/:id`, one, async (request, reply) => {
    await withdrawInvitation(accounts, { actor: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
  server.put(
    `${api}/accounts/:id/role`,
    { schema: { hide: true, params: Id, body: RoleChange, response: answersAccount }, config },
    async (request) => {
      const body = request.body as Static<typeof RoleChange>;
      const change = { ...body, workspaceId: body.workspaceId ?? undefined };
      return { account: await changeAccountRole(accounts, { ...change, actor: request.signedIn, id: idOf(request) }) };
    },
  );
  server.post(`${api}/accounts/:id/disable`, changed, async (request) => ({
    account: await disableAccount(accounts, { actor: request.signedIn, id: idOf(request) }),
  }));
  server.post(`${api}/accounts/:id/enable`, changed, async (request) => ({
    account: await enableAccount(accounts, { actor: request.signedIn, id: idOf(request) }),
  }));
  const linking = { schema: { hide: true, params: Id, response: { 201: OneTimeLink } }, config };
  server.post(`${api}/accounts/:id/password-link`, linking, async (request, reply) => {
    const { code, expiresAt } = await createPasswordLink(accounts, { actor: request.signedIn, id: idOf(request) });
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ expiresAt, link: oneTimeAddress(`/console/#new-password=${code}`, publicUrl) });
  });
}

export type CompanyRouteDependencies = {
  /** Undefined: users sign in with passwords only. */
  company: CompanySignInUseCases | undefined;
  passwordSignIn: 'everyone' | 'owners';
  /** The origin of the service, if one is set; otherwise the origin of the request. */
  publicUrl: string | undefined;
  cookies: ConsoleCookies;
  log: Pick<Logger, 'info'>;
};

/** Routes for signing in with the company account, and for the options of the sign-in page. */
export function companyRoutes(server: FastifyInstance, deps: CompanyRouteDependencies): void {
  const { company, passwordSignIn, cookies, log } = deps;
  const open = { schema: { hide: true }, config: { permission: 'none' as const } };
  const originOf = (request: FastifyRequest): string => serviceOrigin(request, deps.publicUrl);

  const entrance = { ...open, schema: { hide: true, response: { 200: Entrance } } };
  server.get(`${api}/entrance`, entrance, () => ({
    company: company ? { name: company.name } : null,
    passwordSignIn,
  }));
  if (!company) return;

  // A POST, so that another site cannot start a sign-in.
  const beginning = { ...open, schema: { hide: true, response: { 200: CompanySignIn } } };
  server.post(`${api}/company`, beginning, async (request, reply) => {
    const redirectUri = new URL(companyCallbackPath, originOf(request)).href;
    const { location, browser } = await company.begin({ redirectUri, caller: callerOf(request) });
    return reply
      .setCookie(cookies.company.name, browser, { ...cookies.company.attributes, maxAge: companySignInSeconds })
      .header('cache-control', 'no-store')
      .send({ location });
  });
  server.get(companyCallbackPath, open, async (request, reply) => {
    const callbackUrl = new URL(request.url, originOf(request));
    reply.clearCookie(cookies.company.name, cookies.company.attributes).header('cache-control', 'no-store');
    try {
      const browser = request.cookies[cookies.company.name];
      const { token, maxAgeSeconds } = await company.end({ callbackUrl, browser, caller: callerOf(request) });
      const { name, attributes } = cookies.session;
      reply.setCookie(name, token, { ...attributes, maxAge: maxAgeSeconds });
      return await reply.redirect('/console/', 303);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'ACCOUNT_COMPANY_REFUSED') throw error;
      log.info({ detail: error.context.detail, requestId: request.id }, 'company account refused');
      // The reason is one of a fixed list: the page has a sentence for each and never shows text from the address.
      return reply.redirect(`/console/#refused=${error.context.reason ?? ''}`, 303);
    }
  });
}
