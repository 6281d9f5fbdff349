import { roles } from './accounts.ts';
import type { Role } from './accounts.ts';

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
  /** Undefined if the token has no claim of groups. */
  groups: readonly string[] | undefined;
};

/** Which claims identify a user at the first sign-in if the issuer does not state whether the address is verified. */
export const emailTrusts = ['verified', 'issuer', 'issuer-or-username'] as const;
export type EmailTrust = (typeof emailTrusts)[number];

export type CompanyRules = {
  /** Domains of e-mail addresses, in lower case. Empty: any domain, but only known users. */
  domains: readonly string[];
  /** The role of users without an invitation; undefined: they cannot sign in. */
  firstRole: Role | undefined;
  /** Roles by groups of the company. Empty: groups give no roles. */
  groupRoles: readonly GroupRole[];
  /** Values other than `verified` require domains and an issuer that is not shared. */
  emailTrust: EmailTrust;
};

/** Why a company account cannot sign in; the sign-in page has a sentence for each. */
export const companyRefusals = [
  ...(['expired', 'provider', 'unverified', 'domain'] as const),
  ...(['unknown', 'taken', 'disabled', 'groups'] as const),
] as const;
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

/** A role that members of a company's group have. */
export type GroupRole = {
  group: string;
  role: Role;
  /** The workspace's id or its app id; undefined for a role of the installation. */
  workspace: string | undefined;
};

/**
 * Parses `group=role` or `group=role@workspace`. The group may contain `=`: the last one counts. No group makes an owner of the
 * installation, because a mistake in a mapping or at the issuer would then open everything (decision 0023). Pure.
 *
 * @returns the fault as a sentence if the text is not valid
 */
export function parseGroupRole(text: string): GroupRole | { fault: string } {
  const end = text.lastIndexOf('=');
  const group = text.slice(0, Math.max(0, end)).trim();
  const [name = '', ...rest] = text.slice(end + 1).split('@');
  const workspace = rest.length === 0 ? undefined : rest.join('@').trim();
  const role = roles.find((one) => one === name.trim());
  if (group === '' || workspace === '') return { fault: `"${text}" must be group=role or group=role@workspace.` };
  if (role === undefined) return { fault: `"${text}" must end with one of the roles ${roles.join(', ')}.` };
  if (role === 'owner' && workspace === undefined)
    return { fault: `"${text}" must name a workspace: no group makes an owner of the installation.` };
  return { group, role, workspace };
}

export type GrantedRoles = { installation: Role | null; workspaces: ReadonlyMap<string, Role> };

/**
 * Returns the roles that the groups give. If several groups give roles in one place, the first one of the setting counts.
 * Entries of workspaces that do not exist give nothing: such a workspace may be created later. Pure.
 *
 * @param idsOf ids by the names that the setting uses
 */
export function grantRoles(
  groupRoles: readonly GroupRole[],
  { groups, idsOf }: { groups: readonly string[]; idsOf: ReadonlyMap<string, string> },
): GrantedRoles {
  const workspaces = new Map<string, Role>();
  let installation: Role | null = null;
  for (const { group, role, workspace } of groupRoles) {
    if (!groups.includes(group)) continue;
    const id = workspace === undefined ? undefined : idsOf.get(workspace);
    if (workspace === undefined) installation ??= role;
    else if (id !== undefined && !workspaces.has(id)) workspaces.set(id, role);
  }
  return { installation, workspaces };
}

/**
 * Returns the groups of a token: the claim of this name, or the member that a dotted name leads to (`realm_access.roles` of
 * Keycloak). The whole name comes first, because names may be URLs. Undefined if there is none, as in a token of Microsoft
 * Entra for a user with more than 200 groups. Pure.
 */
export function readGroups(claims: Readonly<Record<string, unknown>>, name: string): readonly string[] | undefined {
  const found = Object.hasOwn(claims, name) ? claims[name] : name.split('.').reduce(readMember, claims as unknown);
  if (typeof found === 'string') return [found];
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : undefined;
}

function readMember(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, name)
    ? (of as Record<string, unknown>)[name]
    : undefined;
}
