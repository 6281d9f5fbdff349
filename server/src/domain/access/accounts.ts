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

type Rule = {
  may: string;
  /**
   * `account`: every signed-in user, on their own account. `workspace`: users with a role in the workspace, or in the
   * installation. `installation`: only users with a role in the installation, because it concerns all workspaces.
   */
  on: 'account' | 'workspace' | 'installation';
  roles: readonly Role[];
};

/** Everything that can be done in the console, and the roles that may do it. Only these permissions open a route. */
export const permissions = {
  'session.enter': { on: 'account', may: 'sign out, present a second factor', roles },
  'session.factors': { on: 'account', may: 'add and remove own second factors', roles },
  'session.own': { on: 'account', may: 'see and end own sessions, change the own password', roles },
  'overview.read': { on: 'workspace', may: 'see the overview, campaigns, reports and segments', roles },
  'campaigns.write': {
    on: 'workspace',
    may: 'make, change, send, pause, resume, stop and clone campaigns',
    roles: ['owner', 'marketer'],
  },
  'segments.write': {
    on: 'workspace',
    may: 'make and change segments, of files and of filters',
    roles: ['owner', 'marketer'],
  },
  'people.read': {
    on: 'workspace',
    may: 'see people, their devices and messages',
    roles: ['owner', 'marketer', 'developer'],
  },
  'people.write': { on: 'workspace', may: 'change and erase people', roles: ['owner', 'developer'] },
  'log.read': {
    on: 'workspace',
    may: 'see callbacks, mails and the API log',
    roles: ['owner', 'marketer', 'developer'],
  },
  'log.resend': { on: 'workspace', may: 'send a callback again', roles: ['owner', 'marketer', 'developer'] },
  'sandbox.use': {
    on: 'installation',
    may: 'move the clock, break providers, reset the demo',
    roles: ['owner', 'developer'],
  },
  'keys.read': { on: 'workspace', may: 'see API keys', roles: ['owner', 'developer'] },
  'keys.write': {
    on: 'workspace',
    may: 'make, rotate and revoke API keys; see the secret of callbacks',
    roles: ['owner', 'developer'],
  },
  'settings.write': { on: 'workspace', may: 'change the workspace and its provider credentials', roles: ['owner'] },
  'system.read': {
    on: 'installation',
    may: 'see nodes, queues and the database, copy diagnostics',
    roles: ['owner', 'developer'],
  },
  'accounts.manage': { on: 'installation', may: 'invite people, change roles, disable accounts', roles: ['owner'] },
  'audit.read': { on: 'workspace', may: 'read the audit log', roles: ['owner'] },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;

export function mayDo(role: Role, permission: Permission): boolean {
  return (permissions[permission].roles as readonly Role[]).includes(role);
}

export function permissionsOf(role: Role): Permission[] {
  return allPermissions.filter((permission) => mayDo(role, permission));
}

const allPermissions = Object.keys(permissions) as Permission[];

/** The roles that a user has. Several roles of one place add up. */
export type Access = {
  /** Apply in every workspace. */
  installation: readonly Role[];
  /** By the id of the workspace. */
  workspaces: Readonly<Record<string, readonly Role[]>>;
};

/** A role in one place: assigned by an owner, and given by the groups of the company account. At least one is set. */
export type AssignedRole = { role: Role | null; groupRole: Role | null };
export type WorkspaceRole = AssignedRole & { workspaceId: string };

/** Returns the access that the assigned roles add up to. Pure. */
export function accessOf({ workspaceRoles, ...assigned }: AssignedRole & { workspaceRoles: WorkspaceRole[] }): Access {
  return {
    installation: rolesOf(assigned),
    workspaces: Object.fromEntries(workspaceRoles.map((one) => [one.workspaceId, rolesOf(one)])),
  };
}

function rolesOf({ role, groupRole }: AssignedRole): Role[] {
  return roles.filter((one) => one === role || one === groupRole);
}

/** Returns the roles that apply in a workspace, including those of the installation. Pure. */
export function rolesIn(access: Access, workspaceId: string): Role[] {
  const own = Object.hasOwn(access.workspaces, workspaceId) ? access.workspaces[workspaceId]! : [];
  return roles.filter((role) => own.includes(role) || access.installation.includes(role));
}

/**
 * True if the user may do this in the workspace. Without a workspace, only roles of the installation count. A user without a
 * role in a workspace may not even do things on the own account that name it. Pure.
 */
export function isPermitted(
  access: Access,
  { permission, workspaceId }: { permission: Permission; workspaceId: string | undefined },
): boolean {
  const { on } = permissions[permission];
  const here = workspaceId === undefined ? access.installation : rolesIn(access, workspaceId);
  if (on === 'account') return workspaceId === undefined || here.length > 0;
  return (on === 'installation' ? access.installation : here).some((role) => mayDo(role, permission));
}

/** Returns what the user may do in the workspace. Pure. */
export function permissionsIn(access: Access, workspaceId: string | undefined): Permission[] {
  return allPermissions.filter((permission) => isPermitted(access, { permission, workspaceId }));
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
