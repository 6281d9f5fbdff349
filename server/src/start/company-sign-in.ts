import { makeCompanySignIn } from '../app/accounts/company-sign-in.ts';
import type { CompanySignInUseCases } from '../app/accounts/company-sign-in.ts';
import type { Composition } from './composition.ts';

/** Signing in by the company's account, where one is set. */
export async function startCompanySignIn({
  config,
  proxy,
  clock,
  installation,
  started,
}: Composition): Promise<CompanySignInUseCases | undefined> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcFirstRole } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  // Few set one, and a start need not wait for the protocol's library.
  const { makeCompanyProvider } = await import('../engine/company-account/make-company-provider.ts');
  const provider = makeCompanyProvider({ issuer, clientId, clientSecret, name: config.oidcName, proxy });
  started.push({ stop: () => provider.close() });
  const rules = {
    domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
    firstRole: oidcFirstRole === 'none' ? undefined : oidcFirstRole,
    emailTrust: config.oidcEmailTrust,
  };
  return makeCompanySignIn({
    database: installation.acrossWorkspaces,
    encryption: installation.encryption,
    clock,
    provider,
    rules,
  });
}
