import { randomBytes } from 'node:crypto';
import { readAccountName, readEmail } from '../../domain/access/accounts.ts';
import { grantRoles, readCompanyEmail } from '../../domain/access/company-accounts.ts';
import type {
  CompanyClaims,
  CompanyRefusal,
  CompanyRules,
  GrantedRoles,
} from '../../domain/access/company-accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import { hashSecret } from '../../domain/access/keys.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  findAccount,
  findAccountByEmail,
  insertAccount,
  noteSignIn,
  replaceGroupRoles,
  takeInvitationsOf,
} from '../../storage/accounts/accounts.ts';
import { findWorkspaceIds } from '../../storage/workspaces.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import {
  deleteExpiredCompanySignIns,
  findAccountByIdentity,
  insertAccountIdentity,
  insertCompanySignIn,
  takeCompanySignIn,
} from '../../storage/accounts/console-sessions.ts';
import type { AccountDependencies, ConsoleCaller, OpenedSession } from './audit.ts';
import { accountActor, audit } from './audit.ts';
import { assignRoles } from './links.ts';
import { enter, notingFailure, limitSource } from './sign-in.ts';
import { companySignInSeconds } from '../../domain/limits/access.ts';

/** Values that must match between the redirect to the provider and the callback. */
export type CompanyChecks = { state: string; nonce: string; codeVerifier: string };

/** The company's OpenID provider, as configured by the operator. */
export type CompanyProvider = {
  /** Shown on the button: "Sign in with Example". */
  name: string;
  /** Returns the URL that the browser is sent to. @throws when the provider cannot be reached */
  authorize(request: CompanyChecks & { redirectUri: string }): Promise<string>;
  /** Redeems the code and verifies the whole response. @throws when any check fails */
  redeem(answer: CompanyChecks & { callbackUrl: URL }): Promise<CompanyClaims>;
};

export type CompanySignInDependencies = Pick<
  AccountDependencies,
  'database' | 'clock' | 'encryption' | 'secondFactor'
> & {
  provider: CompanyProvider;
  rules: CompanyRules;
};

export type CompanySignInUseCases = ReturnType<typeof makeCompanySignIn>;

/** Sign-in with a company account: the authorization code flow with PKCE, state and nonce. */
export function makeCompanySignIn(deps: CompanySignInDependencies) {
  return {
    name: deps.provider.name,

    /**
     * Starts a sign-in. `browser` goes into a cookie, so that the callback is valid in this browser only.
     *
     * @throws ServiceError ACCOUNT_ATTEMPTS_LIMITED, ACCOUNT_COMPANY_REFUSED
     */
    begin: (request: Departure) =>
      notingFailure(deps, { way: 'company account', caller: request.caller }, () => begin(deps, request)),

    /**
     * Completes a sign-in that `begin` started, once.
     *
     * @throws ServiceError ACCOUNT_COMPANY_REFUSED with the kind of refusal
     */
    end(request: Return): Promise<OpenedSession> {
      let email: string | undefined;
      const attempt = { way: 'company account', caller: request.caller, email: () => email } as const;
      const onClaims = (claims: CompanyClaims): void => void ({ email } = claims);
      return notingFailure(deps, attempt, () => end(deps, { ...request, onClaims }));
    },
  };
}

type Departure = { redirectUri: string; caller: ConsoleCaller };
type Return = { callbackUrl: URL; browser: string | undefined; caller: ConsoleCaller };
type Eligibility = { claims: CompanyClaims; rules: CompanyRules; granted: GrantedRoles | undefined; at: Date };

async function begin(
  { database, clock, encryption, provider }: CompanySignInDependencies,
  { redirectUri, caller }: Departure,
): Promise<{ location: string; browser: string }> {
  const at = clock.realNow();
  await limitSource(database, { address: caller.address, at });
  const [state, browser, nonce, codeVerifier] = Array.from({ length: 4 }, () =>
    randomBytes(32).toString('base64url'),
  ) as [string, string, string, string];
  const location = await provider
    .authorize({ redirectUri, state, nonce, codeVerifier })
    .catch((error: unknown) => refuse('provider', error));
  await deleteExpiredCompanySignIns(database, at);
  await insertCompanySignIn(database, {
    stateHash: hashSecret(state),
    browserHash: hashSecret(browser),
    encrypted: encryption.encrypt(JSON.stringify({ nonce, codeVerifier }), encryptionContext.companySignIn()),
    expiresAt: new Date(at.getTime() + companySignInSeconds * 1000),
  });
  return { location, browser };
}

async function end(
  deps: CompanySignInDependencies,
  { callbackUrl, browser, caller, onClaims }: Return & { onClaims(claims: CompanyClaims): void },
): Promise<OpenedSession> {
  const { database, clock, encryption, provider, rules } = deps;
  const state = callbackUrl.searchParams.get('state') ?? '';
  const at = clock.realNow();
  const encrypted = await takeCompanySignIn(database, {
    stateHash: hashSecret(state),
    browserHash: hashSecret(browser ?? ''),
    at,
  });
  if (!encrypted) return refuse('expired');
  const checks = JSON.parse(encryption.decrypt(encrypted, encryptionContext.companySignIn()).toString('utf8')) as Omit<
    CompanyChecks,
    'state'
  >;
  const claims = await provider
    .redeem({ ...checks, state, callbackUrl })
    .catch((error: unknown) => refuse('provider', error));
  onClaims(claims);
  const opened = await inTransaction(database, async (tx) => {
    const granted = await readGranted(tx, { claims, rules });
    const account = await findOrAdmit(tx, { claims, rules, granted, at });
    if (account.disabledAt || !(await noteSignIn(tx, { id: account.id, at: null }))) return refuse('disabled');
    // Stored even if the sign-in is rejected for it: open sessions lose the roles as well.
    if (granted && !(await applyGroups(tx, { account, granted, at }))) return undefined;
    return enter(tx, deps, { account, way: 'company account', caller, detail: { by: provider.name } });
  });
  return opened ?? refuse('groups', claims.groups ? undefined : new Error(noGroups));
}

/** Returns the roles that the token's groups give, or undefined if groups give none in this installation. */
async function readGranted(
  tx: Transaction,
  { claims, rules }: Pick<Eligibility, 'claims' | 'rules'>,
): Promise<GrantedRoles | undefined> {
  const { groupRoles } = rules;
  if (groupRoles.length === 0) return undefined;
  const names = groupRoles.flatMap(({ workspace }) => (workspace === undefined ? [] : [workspace]));
  const idsOf = names.length === 0 ? new Map<string, string>() : await findWorkspaceIds(tx, names);
  // Without the claim no group is certain, so none counts.
  return grantRoles(groupRoles, { groups: claims.groups ?? [], idsOf });
}

/**
 * Replaces the roles that earlier groups gave. Roles that an owner assigned stay, so a mapping locks no owner out.
 *
 * @returns whether the account has any role left
 */
async function applyGroups(
  tx: Transaction,
  { account, granted, at }: { account: Account; granted: GrantedRoles; at: Date },
): Promise<boolean> {
  await replaceGroupRoles(tx, { accountId: account.id, ...granted });
  const after = (await findAccount(tx, account.id))!;
  if (nameGroupRoles(after) !== nameGroupRoles(account)) {
    const detail = { role: granted.installation, workspaceRoles: Object.fromEntries(granted.workspaces) };
    const object = { id: account.id, name: account.email };
    await audit(tx, { actor: accountActor(account), action: 'account.group-roles', object, detail, at });
  }
  return after.role !== null || after.groupRole !== null || after.workspaceRoles.length > 0;
}

function nameGroupRoles({ groupRole, workspaceRoles }: Account): string {
  const given = workspaceRoles.filter((one) => one.groupRole !== null);
  return JSON.stringify([groupRole, given.map(({ workspaceId, groupRole: role }) => [workspaceId, role])]);
}

/** Detail for the log. */
const noGroups =
  'the token has no claim of groups; see CARILLON_OIDC_GROUPS_CLAIM, and for Microsoft Entra the limit of 200 groups in a token';

/**
 * Finds the account by issuer and subject. The first sign-in uses an address that the issuer verified or is trusted for: it
 * links an existing account, accepts an invitation, or creates an account with the first role.
 */
async function findOrAdmit(tx: Transaction, { claims, rules, granted, at }: Eligibility): Promise<Account> {
  const { issuer, subject } = claims;
  const known = await findAccountByIdentity(tx, { issuer, subject });
  if (known) return known;
  const read = readCompanyEmail(claims, rules);
  if ('refusal' in read) {
    const isSilent = read.refusal === 'unverified' && claims.emailVerification === 'unstated';
    return refuse(read.refusal, isSilent ? new Error(silentIssuer) : undefined);
  }
  const email = readEmail(read.email);
  const account = (await findAccountByEmail(tx, email)) ?? (await create(tx, { claims, rules, granted, email, at }));
  // The account may be linked to another subject of this issuer if its address was reassigned.
  if (!(await insertAccountIdentity(tx, { issuer, subject, accountId: account.id, at }))) return refuse('taken');
  const object = { id: account.id, name: account.email };
  // Marks an address that was accepted on trust.
  const detail = { issuer, ...(read.basis !== 'verified' && { address: read.basis }) };
  await audit(tx, { actor: accountActor(account), action: 'account.link', object, detail, at });
  return account;
}

/** Detail for the log; the browser gets only the kind of refusal. */
const silentIssuer =
  'the token has no address that the issuer says is verified; if the issuer never says so (Microsoft Entra), see CARILLON_OIDC_EMAIL_TRUST';

async function create(
  tx: Transaction,
  { claims, rules, granted, email, at }: Eligibility & { email: string },
): Promise<Account> {
  const [invitation] = await takeInvitationsOf(tx, { email, at });
  const role = invitation ? invitation.role : (rules.firstRole ?? null);
  const byGroups = granted !== undefined && (granted.installation !== null || granted.workspaces.size > 0);
  if (role === null && !invitation && !byGroups) return refuse('unknown');
  const name = readName(claims.name) ?? email.split('@')[0]!;
  const created = await insertAccount(tx, { id: makeId(at), email, name, role, passwordHash: null, at });
  if (!created) return refuse('taken');
  const workspaceRoles = invitation?.workspaceRoles ?? {};
  await assignRoles(tx, { accountId: created.id, workspaceRoles });
  const detail = { role, workspaceRoles, by: invitation ? `invitation of ${invitation.createdBy}` : 'first sign-in' };
  await audit(tx, {
    actor: accountActor(created),
    action: 'account.create',
    object: { id: created.id, name: email },
    detail,
    at,
  });
  return created;
}

/** Returns undefined if the issuer's name is not valid here. */
function readName(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : readAccountName([...name].slice(0, 100).join(''));
  } catch {
    return undefined;
  }
}

function refuse(reason: CompanyRefusal, cause?: unknown): never {
  const detail = cause === undefined ? reason : `${reason}: ${(cause as Error).message}`;
  throw new ServiceError('ACCOUNT_COMPANY_REFUSED', { reason, detail, cause });
}
