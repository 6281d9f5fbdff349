import { ServiceError } from '../errors.ts';
import {
  maxAccountNameCharacters,
  maxPasswordCharacters,
  minPasswordCharacters,
  minPasswordGuesses,
} from '../limits/access.ts';

/** The roles of console accounts; docs/console.md shows the table below. */
export const roles = ['owner', 'marketer', 'analyst', 'developer'] as const;
export type Role = (typeof roles)[number];

type Rule = { may: string; roles: readonly Role[] };

/** Everything that can be done in the console, and the roles that may do it. Only these permissions open a route. */
export const permissions = {
  'session.own': { may: 'sign out, see and end own sessions, change the own password', roles },
  'overview.read': { may: 'see the overview, campaigns, reports and segments', roles },
  'campaigns.write': {
    may: 'make, change, send, pause, resume, stop and clone campaigns',
    roles: ['owner', 'marketer'],
  },
  'segments.write': { may: 'make and change segments, of files and of filters', roles: ['owner', 'marketer'] },
  'people.read': { may: 'see people, their devices and messages', roles: ['owner', 'marketer', 'developer'] },
  'people.write': { may: 'change and erase people', roles: ['owner', 'developer'] },
  'log.read': { may: 'see callbacks, mails and the API log', roles: ['owner', 'marketer', 'developer'] },
  'log.resend': { may: 'send a callback again', roles: ['owner', 'marketer', 'developer'] },
  'sandbox.use': { may: 'move the clock, break providers, reset the demo', roles: ['owner', 'developer'] },
  'keys.read': { may: 'see API keys', roles: ['owner', 'developer'] },
  'keys.write': { may: 'make, rotate and revoke API keys; see the secret of callbacks', roles: ['owner', 'developer'] },
  'settings.write': { may: 'change the workspace and its provider credentials', roles: ['owner'] },
  'system.read': { may: 'see nodes, queues and the database, copy diagnostics', roles: ['owner', 'developer'] },
  'accounts.manage': { may: 'invite people, change roles, disable accounts', roles: ['owner'] },
  'audit.read': { may: 'read the audit log', roles: ['owner'] },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;

export function mayDo(role: Role, permission: Permission): boolean {
  return (permissions[permission].roles as readonly Role[]).includes(role);
}

export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((permission) => mayDo(role, permission));
}

/** Trims and validates an e-mail address; its case is kept. @throws ServiceError PARAMETER_INVALID */
export function readEmail(text: string): string {
  const email = text.trim();
  const isAddress = /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(email) && email.length <= 254 && email.isWellFormed();
  // An address with an invisible character looks like another address.
  if (/[\p{Cc}\p{Cf}]/u.test(email)) throw invalid('email', 'must be an e-mail address');
  if (!isAddress) throw invalid('email', 'must be an e-mail address');
  return email;
}

/** @throws ServiceError PARAMETER_INVALID */
export function readAccountName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxAccountNameCharacters)
    throw invalid('name', `must have 1 to ${maxAccountNameCharacters} characters`);
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) throw invalid('name', 'must be plain text');
  return name;
}

/**
 * Returns the password if it is long and not easy to guess (NIST SP 800-63B: length before composition rules; ASVS 6.2.4: not
 * one of the most used). It takes 10 to 60 ms of the processor, and about 200 ms the first time.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function readNewPassword(
  password: string,
  { email, name }: { email: string; name: string },
): Promise<string> {
  const length = [...password].length;
  if (length < minPasswordCharacters || length > maxPasswordCharacters)
    throw invalid('password', `must have ${minPasswordCharacters} to ${maxPasswordCharacters} characters`);
  const folded = password.toLowerCase();
  const [local] = email.toLowerCase().split('@');
  if (new Set(folded).size < 5) throw invalid('password', 'must have more than four different characters');
  if ([email.toLowerCase(), local!, name.toLowerCase()].includes(folded))
    throw invalid('password', 'must not be your name or address');
  if ((await countGuesses(password, [email, local!, name, ...name.split(/\s+/), 'carillon'])) < minPasswordGuesses)
    throw invalid('password', 'is easy to guess; use several unrelated words');
  return password;
}

let estimator: Promise<{ check(password: string, userInputs: string[]): { guesses: number } }> | undefined;

/** Estimates how many guesses find the password, from lists of used passwords, words, keyboard patterns, dates and repetitions. */
async function countGuesses(password: string, known: string[]): Promise<number> {
  // The lists take 3 MB and 200 ms, so they are loaded with the first password.
  estimator ??= Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')]).then(
    ([{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }]) =>
      new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }),
  );
  return (await estimator).check(password, known).guesses;
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}

/** Why a one-time link does not work; the sign-in page has a sentence for each. */
export const linkFaults = ['expired', 'used', 'withdrawn', 'unknown'] as const;
export type LinkFault = (typeof linkFaults)[number];

/** How a link ended before its expiry; the values of the table. */
export type LinkEnd = 'USED' | 'WITHDRAWN';

type PresentedLink = { purpose: string; expiresAt: Date; endedAs: LinkEnd | null };

/**
 * Returns why a link does not work, or undefined if it works. A link made for another purpose is reported as unknown: it
 * would do something that its page did not announce. Pure.
 */
export function findLinkFault(
  link: PresentedLink | undefined,
  { purpose, at }: { purpose: string; at: Date },
): LinkFault | undefined {
  if (link?.purpose !== purpose) return 'unknown';
  if (link.endedAs !== null) return link.endedAs === 'USED' ? 'used' : 'withdrawn';
  return link.expiresAt <= at ? 'expired' : undefined;
}

/** Screens with searches that can be saved under a name; the values of the table. */
export const viewedScreens = ['campaigns', 'segments', 'deliveries', 'calls', 'audit'] as const;
export type ViewedScreen = (typeof viewedScreens)[number];

/** The claims of an OpenID provider about a user, after they were verified. */
export type CompanyClaims = {
  issuer: string;
  subject: string;
  email: string | undefined;
  /** The issuer's statement about the address; Microsoft Entra makes none. */
  emailVerification: 'verified' | 'denied' | 'unstated';
  /** `preferred_username`, which is an address at Microsoft Entra (the user principal name). */
  username: string | undefined;
  name: string | undefined;
};

/** Which claims identify a user at the first sign-in if the issuer does not state whether the address is verified. */
export const emailTrusts = ['verified', 'issuer', 'issuer-or-username'] as const;
export type EmailTrust = (typeof emailTrusts)[number];

export type CompanyRules = {
  /** Domains of e-mail addresses, in lower case. Empty: any domain, but only known users. */
  domains: readonly string[];
  /** The role of users without an invitation; undefined: they cannot sign in. */
  firstRole: Role | undefined;
  /** Values other than `verified` require domains and an issuer that is not shared. */
  emailTrust: EmailTrust;
};

/** Why a company account cannot sign in; the sign-in page has a sentence for each. */
export const companyRefusals = ['expired', 'provider', 'unverified', 'domain', 'unknown', 'taken', 'disabled'] as const;
export type CompanyRefusal = (typeof companyRefusals)[number];

/** Why an address is trusted. */
type EmailBasis = 'verified' | 'issuer' | 'username';

/**
 * Returns the address that identifies a user at the first sign-in. The issuer verified it, or the operator decided to trust
 * it, and it is in an allowed domain. An issuer that denies the verification is never overruled (decision 0061). Pure.
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
  // The user name may also be a telephone number or a bare name (OpenID Connect Core 1.0 section 5.1).
  const isAddress = username !== undefined && /^[^\s@]+@[^\s@]+$/.test(username);
  return trust === 'issuer-or-username' && isAddress ? { email: username, basis: 'username' } : undefined;
}

/** Tenants of Microsoft Entra in which users of every organization, or with a personal account, can sign in. */
const sharedTenants: ReadonlySet<string> = new Set([
  'common',
  'organizations',
  'consumers',
  '9188040d-6c67-4c5b-b112-36a304b66dad',
]);
const entraHosts = /(^|\.)(microsoftonline\.(com|us|de|cn)|windows\.net|chinacloudapi\.cn|login\.microsoft\.com)$/;
const publicHosts: ReadonlySet<string> = new Set(['accounts.google.com', 'login.live.com', 'appleid.apple.com']);

/**
 * True for an issuer that gives accounts to any user, and lets administrators of any organization set the addresses of their
 * users. An address that such an issuer has not verified proves nothing ("nOAuth", 2023). Pure.
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
