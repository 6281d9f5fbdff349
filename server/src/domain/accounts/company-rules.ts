import type { Role } from './roles.ts';

/** What an OpenID provider says of a person, after everything about it was verified. */
export type CompanyClaims = {
  issuer: string;
  subject: string;
  email: string | undefined;
  /** What the issuer says of the address; Microsoft Entra says nothing. */
  emailVerification: 'verified' | 'denied' | 'unstated';
  /** `preferred_username`, which is an address at Microsoft Entra (the user principal name). */
  username: string | undefined;
  name: string | undefined;
};

/** The claims that identify a user at the first sign-in without a word of the issuer on verification. */
export const emailTrusts = ['verified', 'issuer', 'issuer-or-username'] as const;
export type EmailTrust = (typeof emailTrusts)[number];

export type CompanyRules = {
  /** Domains of e-mail addresses, in lower case. Empty: any domain, but only known users. */
  domains: readonly string[];
  /** The role of users without an invitation; undefined: they cannot sign in. */
  firstRole: Role | undefined;
  /** Other than `verified` only with domains, and with an issuer that is not shared. */
  emailTrust: EmailTrust;
};

/** Why a company account opens nothing; the sign-in page has a sentence for each. */
export const companyRefusals = ['expired', 'provider', 'unverified', 'domain', 'unknown', 'taken', 'disabled'] as const;
export type CompanyRefusal = (typeof companyRefusals)[number];

/** Why an address counts. */
type EmailBasis = 'verified' | 'issuer' | 'username';

/**
 * The address that identifies a user at the first sign-in: verified by the issuer, or taken on trust where the operator
 * said so, and in an allowed domain. An issuer that denies the verification is never overruled (decision 0061). Pure.
 */
export function readCompanyEmail(
  claims: CompanyClaims,
  { domains, emailTrust }: CompanyRules,
): { email: string; basis: EmailBasis } | { refusal: CompanyRefusal } {
  const found = findEmail(claims, emailTrust);
  if (!found) return { refusal: 'unverified' };
  const domain = found.email.toLowerCase().split('@').at(-1)!;
  return domains.length > 0 && !domains.includes(domain) ? { refusal: 'domain' } : found;
}

function findEmail(
  { email, emailVerification, username }: CompanyClaims,
  trust: EmailTrust,
): { email: string; basis: EmailBasis } | undefined {
  if (emailVerification === 'denied') return undefined;
  if (email !== undefined) {
    if (emailVerification === 'verified') return { email, basis: 'verified' };
    return trust === 'verified' ? undefined : { email, basis: 'issuer' };
  }
  // It may also be a telephone number or a bare name (OpenID Connect Core 1.0 section 5.1).
  const isAddress = username !== undefined && /^[^\s@]+@[^\s@]+$/.test(username);
  return trust === 'issuer-or-username' && isAddress ? { email: username, basis: 'username' } : undefined;
}

/** Tenants of Microsoft Entra in which every organization, and everybody with a personal account, can sign in. */
const sharedTenants: ReadonlySet<string> = new Set([
  'common',
  'organizations',
  'consumers',
  '9188040d-6c67-4c5b-b112-36a304b66dad',
]);
const entraHosts = /(^|\.)(microsoftonline\.(com|us|de|cn)|windows\.net|chinacloudapi\.cn|login\.microsoft\.com)$/;
const publicHosts: ReadonlySet<string> = new Set(['accounts.google.com', 'login.live.com', 'appleid.apple.com']);

/**
 * True for an issuer at which anybody can have an account, and administrators of any organization write the addresses of
 * theirs: what it says of an address without having verified it proves nothing ("nOAuth", 2023). Pure.
 */
export function isSharedIssuer(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  if (publicHosts.has(hostname)) return true;
  const tenant = pathname.split('/').find((part) => part !== '') ?? '';
  return entraHosts.test(hostname) && sharedTenants.has(decode(tenant).toLowerCase());
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
