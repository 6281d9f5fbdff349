import { makeCompanySignIn } from '../app/accounts/company-sign-in.ts';
import type { CompanySignInUseCases } from '../app/accounts/company-sign-in.ts';
import { makeCompanyProvider } from '../engine/company-account/make-company-provider.ts';
import type { Composition } from './composition.ts';

/** Signing in by the company's account, where one is set. */
export function startCompanySignIn({
  config,
  proxy,
  clock,
  installation,
  started,
}: Composition): CompanySignInUseCases | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcFirstRole } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const provider = makeCompanyProvider({ issuer, clientId, clientSecret, name: config.oidcName, proxy });
  started.push({ stop: () => provider.close() });
  const rules = {
    domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
    firstRole: oidcFirstRole === 'none' ? undefined : oidcFirstRole,
  };
  return makeCompanySignIn({
    database: installation.acrossWorkspaces,
    encryption: installation.encryption,
    clock,
    provider,
    rules,
  });
}
