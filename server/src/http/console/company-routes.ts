import type { FastifyInstance, FastifyRequest } from 'fastify';
import { companySignInSeconds } from '../../domain/accounts/limits.ts';
import type { CompanySignInUseCases } from '../../app/accounts/company-sign-in.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Logger } from '../../log.ts';
import { consoleApi as api } from './console-access.ts';
import { companyCallbackPath } from './console-cookies.ts';
import type { ConsoleCookies } from './console-cookies.ts';
import { serviceOrigin } from './service-addresses.ts';
import { callerOf } from './session-routes.ts';
import { CompanySignIn, Entrance } from './account-shapes.ts';

export type CompanyRouteDependencies = {
  /** Undefined: people sign in by passwords only. */
  company: CompanySignInUseCases | undefined;
  passwordSignIn: 'everyone' | 'owners';
  /** The origin of the service where one is set; otherwise that of the request. */
  publicUrl: string | undefined;
  cookies: ConsoleCookies;
  log: Pick<Logger, 'info'>;
};

/** Signing in by the company's account, and what the entrance offers. */
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

  // A POST, so that no other site begins a sign-in.
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
      // A word of a closed list: the page has a sentence for each, and shows no text of an address.
      return reply.redirect(`/console/#refused=${error.context.reason ?? ''}`, 303);
    }
  });
}
