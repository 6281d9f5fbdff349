import { secondFactorRules } from '../domain/access/second-factor.ts';
import { emailTrusts } from '../domain/access/company-accounts.ts';

/** Settings for console sign-in with a company account, and for the passwords that remain allowed next to it. */
export const companySettings = {
  oidcIssuer: {
    kind: 'text',
    variable: 'CARILLON_OIDC_ISSUER',
    pattern: /^(https:\/\/[^\s?#]+|http:\/\/(127\.0\.0\.1|localhost)(:\d+)?[^\s?#]*)$/,
    default: undefined,
    sentence:
      'Issuer of the company’s OpenID provider, for signing in to the console. Its hosts may be internal; plain http is allowed only on this machine.',
  },
  oidcClientId: {
    kind: 'text',
    variable: 'CARILLON_OIDC_CLIENT_ID',
    default: undefined,
    sentence: 'Client id at the issuer. The redirect address to register is `<origin>/console/api/company/callback`.',
  },
  oidcClientSecret: {
    kind: 'secret',
    variable: 'CARILLON_OIDC_CLIENT_SECRET',
    default: undefined,
    sentence: 'Client secret at the issuer.',
  },
  oidcName: {
    kind: 'text',
    variable: 'CARILLON_OIDC_NAME',
    pattern: /^.{1,60}$/,
    default: 'the company account',
    sentence: 'Name on the sign-in page: “Sign in with …”.',
  },
  oidcDomains: {
    kind: 'list',
    variable: 'CARILLON_OIDC_DOMAINS',
    default: [],
    sentence:
      'Domains (comma-separated) that an email address must have at the first sign-in. Default: any domain, for users who are invited or have an account.',
  },
  oidcFirstRole: {
    kind: 'choice',
    variable: 'CARILLON_OIDC_FIRST_ROLE',
    choices: ['none', 'analyst', 'marketer', 'developer'],
    default: 'none',
    sentence: 'Role of users of those domains who sign in without an invitation; `none` rejects them.',
  },
  oidcEmailTrust: {
    kind: 'choice',
    variable: 'CARILLON_OIDC_EMAIL_TRUST',
    choices: emailTrusts,
    default: 'verified',
    sentence:
      'Email address that is accepted at the first sign-in: `verified` requires that the issuer reports it as verified; `issuer` also accepts an address without such a statement, as from Microsoft Entra; `issuer-or-username` also accepts the user name if there is no address. Read [the risk](operations.md#microsoft-entra) first. Needs `CARILLON_OIDC_DOMAINS` and an issuer of one tenant.',
  },
  oidcGroupRoles: {
    kind: 'list',
    variable: 'CARILLON_OIDC_GROUP_ROLES',
    default: [],
    sentence:
      'Roles by groups of the company (comma-separated): `group=role` for a role in the installation, which cannot be `owner`, or `group=role@workspace` for a role in the workspace of that id or app id. They are replaced at each sign-in; roles assigned in the console stay. [How](operations.md#roles-by-groups).',
  },
  oidcGroupsClaim: {
    kind: 'text',
    variable: 'CARILLON_OIDC_GROUPS_CLAIM',
    pattern: /^.{1,200}$/,
    default: 'groups',
    sentence:
      'Claim of the identity token with the groups of a user: a list of texts. A name with dots may lead into an object, as `realm_access.roles` of Keycloak.',
  },
  secondFactor: {
    kind: 'choice',
    variable: 'CARILLON_SECOND_FACTOR',
    choices: secondFactorRules,
    default: 'optional',
    sentence:
      'Accounts of the console that need a [second factor](console.md#second-factors): `optional` only those that added one; `passwords` all that sign in with a password; `everyone` also company accounts, which otherwise rely on the issuer. Users without one must add it before they can do anything else.',
  },
  passwordSignIn: {
    kind: 'choice',
    variable: 'CARILLON_PASSWORD_SIGN_IN',
    choices: ['everyone', 'owners'],
    default: 'everyone',
    sentence: 'Users who can sign in with a password; with `owners`, the others must use the company account.',
  },
} as const;
