import { emailTrusts } from '../domain/access/accounts.ts';

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
  passwordSignIn: {
    kind: 'choice',
    variable: 'CARILLON_PASSWORD_SIGN_IN',
    choices: ['everyone', 'owners'],
    default: 'everyone',
    sentence: 'Users who can sign in with a password; with `owners`, the others must use the company account.',
  },
} as const;
