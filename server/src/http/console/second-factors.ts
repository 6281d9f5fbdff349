import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleAccountDependencies, OpenedSession } from '../../app/accounts/audit.ts';
import {
  addOwnPasskey,
  beginOwnAuthenticator,
  beginOwnPasskey,
  confirmOwnAuthenticator,
  readOwnFactors,
  removeOwnAuthenticator,
  removeOwnPasskey,
  renameOwnPasskey,
  renewOwnRecoveryCodes,
  resetFactors,
} from '../../app/accounts/second-factors.ts';
import { beginPresentPasskey, presentCode, presentPasskey, readSecondStep } from '../../app/accounts/second-step.ts';
import { consoleApi as api } from './access.ts';
import type { ConsoleCookies } from './access.ts';
import { callerOf } from './accounts.ts';
import { closed, Id, idOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const SecondStep = described(
  Type.Object({
    stage: oneOf(['OPEN', 'SECOND_FACTOR', 'ENROLMENT']),
    email: orNull(Type.String()),
    hasAuthenticator: Type.Boolean(),
    hasPasskey: Type.Boolean(),
    hasRecoveryCode: Type.Boolean(),
  }),
  'The second step of a sign-in.',
);

export const OwnPasskey = Type.Object({
  id: Type.String(),
  name: Type.String(),
  createdAt: Type.String(),
  usedAt: orNull(Type.String()),
});

export const OwnFactors = Type.Object({
  authenticatorAt: described(orNull(Type.String()), 'When the authenticator app was added; null if there is none.'),
  recoveryCodes: described(Type.Number(), 'The number of codes that were not used.'),
  passkeys: Type.Array(OwnPasskey),
  passkeyFault: described(orNull(Type.String()), 'Why this installation can have no passkeys; null if it can.'),
  isRequired: Type.Boolean(),
});

export const NewAuthenticator = Type.Object({
  secret: Type.String(),
  address: Type.String({ description: 'The text of the QR code.' }),
});

export const FactorChange = Type.Object({
  recoveryCodes: described(orNull(Type.Array(Type.String())), 'New codes, shown once; null if the account has some.'),
});

export const PasskeyOptions = described(
  Type.Object({ options: Type.Unknown() }),
  'What the browser passes to the authenticator (WebAuthn).',
);

const TypedCode = Type.Object({ code: Type.String({ minLength: 1, maxLength: 100 }) }, closed);
// The library checks the members; the limit of the body bounds them.
const Signed = Type.Object({ response: Type.Object({}) }, closed);
const name = Type.String({ minLength: 1, maxLength: 1000 });
const NewPasskey = Type.Object({ name, response: Type.Object({}) }, closed);
const Name = Type.Object({ name }, closed);

type SecondFactorRouteDependencies = { accounts: ConsoleAccountDependencies; cookies: ConsoleCookies };
type Parts = { accounts: ConsoleAccountDependencies; setSession: SetSession };
type SetSession = (reply: FastifyReply, opened: OpenedSession) => FastifyReply;

/** Routes for the second step of a sign-in, and for the second factors of the own and of other accounts. */
export function secondFactorRoutes(
  server: FastifyInstance,
  { accounts, cookies }: SecondFactorRouteDependencies,
): void {
  const setSession: SetSession = (reply, { token, maxAgeSeconds }) =>
    reply.setCookie(cookies.session.name, token, { ...cookies.session.attributes, maxAge: maxAgeSeconds });
  // Responses contain secrets and challenges.
  server.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    addSecondStep(scope, { accounts, setSession });
    addOwnFactors(scope, { accounts, setSession });
    addOwnPasskeys(scope, { accounts, setSession });
  });
  server.delete(
    `${api}/accounts/:id/second-factors`,
    { schema: { hide: true, params: Id }, config: { permission: 'accounts.manage' } },
    async (request, reply) => {
      await resetFactors(accounts, { actor: request.signedIn, id: idOf(request) });
      return reply.code(204).send();
    },
  );
}

function addSecondStep(server: FastifyInstance, { accounts, setSession }: Parts): void {
  const config = { permission: 'session.enter' as const };
  const path = `${api}/second-factor`;
  server.get(path, { schema: { hide: true, response: { 200: SecondStep } }, config }, ({ signedIn: actor }) =>
    readSecondStep(accounts, { actor }),
  );
  server.post(`${path}/code`, { schema: { hide: true, body: TypedCode }, config }, async (request, reply) => {
    const body = request.body as Static<typeof TypedCode>;
    return setSession(reply, await presentCode(accounts, { ...body, ...by(request) }))
      .code(204)
      .send();
  });
  const asking = { schema: { hide: true, response: { 200: PasskeyOptions } }, config };
  server.post(`${path}/passkey-options`, asking, async ({ signedIn: actor }) => ({
    options: await beginPresentPasskey(accounts, { actor }),
  }));
  server.post(`${path}/passkey`, { schema: { hide: true, body: Signed }, config }, async (request, reply) => {
    const body = request.body as Static<typeof Signed>;
    return setSession(reply, await presentPasskey(accounts, { ...body, ...by(request) }))
      .code(204)
      .send();
  });
}

const config = { permission: 'session.factors' as const };
const changing = { hide: true, response: { 200: FactorChange } };

function addOwnFactors(server: FastifyInstance, { accounts, setSession }: Parts): void {
  const shown = { schema: { hide: true, response: { 200: OwnFactors } }, config };
  server.get(`${api}/own/second-factors`, shown, ({ signedIn: actor }) => readOwnFactors(accounts, { actor }));
  const path = `${api}/own/authenticator`;
  const beginning = { schema: { hide: true, response: { 200: NewAuthenticator } }, config };
  server.post(path, beginning, ({ signedIn: actor }) => beginOwnAuthenticator(accounts, { actor }));
  server.post(`${path}/confirmation`, { schema: { ...changing, body: TypedCode }, config }, async (request, reply) => {
    const body = request.body as Static<typeof TypedCode>;
    const { recoveryCodes, opened } = await confirmOwnAuthenticator(accounts, { ...body, ...by(request) });
    if (opened) setSession(reply, opened);
    return { recoveryCodes };
  });
  server.delete(path, { schema: { hide: true }, config }, async (request, reply) => {
    await removeOwnAuthenticator(accounts, by(request));
    return reply.code(204).send();
  });
  server.post(`${api}/own/recovery-codes`, { schema: changing, config }, async (request) => ({
    recoveryCodes: await renewOwnRecoveryCodes(accounts, by(request)),
  }));
}

function addOwnPasskeys(server: FastifyInstance, { accounts, setSession }: Parts): void {
  const path = `${api}/own/passkeys`;
  const beginning = { schema: { hide: true, response: { 200: PasskeyOptions } }, config };
  server.post(`${path}/options`, beginning, async ({ signedIn: actor }) => ({
    options: await beginOwnPasskey(accounts, { actor }),
  }));
  server.post(path, { schema: { ...changing, body: NewPasskey }, config }, async (request, reply) => {
    const body = request.body as Static<typeof NewPasskey>;
    const { recoveryCodes, opened } = await addOwnPasskey(accounts, { ...body, ...by(request) });
    if (opened) setSession(reply, opened);
    return { recoveryCodes };
  });
  server.patch(`${path}/:id`, { schema: { hide: true, params: Id, body: Name }, config }, async (request, reply) => {
    const body = request.body as Static<typeof Name>;
    await renameOwnPasskey(accounts, { ...body, actor: request.signedIn, id: idOf(request) });
    return reply.code(204).send();
  });
  server.delete(`${path}/:id`, { schema: { hide: true, params: Id }, config }, async (request, reply) => {
    await removeOwnPasskey(accounts, { ...by(request), id: idOf(request) });
    return reply.code(204).send();
  });
}

function by(request: FastifyRequest) {
  return { actor: request.signedIn, caller: callerOf(request) };
}
