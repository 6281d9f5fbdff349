import type { Role } from './roles.ts';

/** What an OpenID provider says of a person, after everything about it was verified. */
export type CompanyClaims = {
  issuer: string;
  subject: string;
  email: string | undefined;
  isEmailVerified: boolean;
  name: string | undefined;
};

export type CompanyRules = {
  /** Domains of e-mail addresses, in lower case. Empty: any domain, but only known users. */
  domains: readonly string[];
  /** The role of users without an invitation; undefined: they cannot sign in. */
  firstRole: Role | undefined;
};

/** Why a company account opens nothing; the sign-in page has a sentence for each. */
export const companyRefusals = ['expired', 'provider', 'unverified', 'domain', 'unknown', 'taken', 'disabled'] as const;
export type CompanyRefusal = (typeof companyRefusals)[number];

/**
 * The address that identifies a user at the first sign-in: verified by the issuer and in an allowed domain. Pure.
 */
export function readVerifiedEmail(
  { email, isEmailVerified }: CompanyClaims,
  { domains }: CompanyRules,
): { email: string } | { refusal: CompanyRefusal } {
  if (email === undefined || !isEmailVerified) return { refusal: 'unverified' };
  const domain = email.toLowerCase().split('@').at(-1)!;
  return domains.length > 0 && !domains.includes(domain) ? { refusal: 'domain' } : { email };
}
