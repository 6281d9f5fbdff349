import { emailTrusts } from '../domain/access/accounts.ts';

/** Settings for console sign-in with a company account, and for the passwords that remain allowed next to it. */
export const companySettings = {
  oidcIssuer: {
    kind: 'text',
    variable: 'CARILLON_OIDC_ISSUER',
    pattern: /^(https:\/\/[^\s?#]+|http:\/\/(127\.0\.0\.1|localhost)(:\d+)?[^\s?#]*)$/,
    default: undefined,
    sentence:
      'Issuer of the company’s OpenID provider, for signing in to the console. Its hosts may be internal; plain http on this machine only.',
  },
  oidcClientId: {
    kind: 'text',
    variable: 'CARILLON_OIDC_CLIENT_ID',
    default: undefined,
    sentence: 'Client id there. The redirect address to register is `<origin>/console/api/company/callback`.',
  },
  oidcClientSecret: {
    kind: 'secret',
    variable: 'CARILLON_OIDC_CLIENT_SECRET',
    default: undefined,
    sentence: 'Client secret there.',
  },
  oidcName: {
    kind: 'text',
    variable: 'CARILLON_OIDC_NAME',
    pattern: /^.{1,60}$/,
    default: 'the company account',
    sentence: 'What the sign-in page calls it: “Sign in with …”.',
  },
  oidcDomains: {
    kind: 'list',
    variable: 'CARILLON_OIDC_DOMAINS',
    default: [],
    sentence:
      'Domains (comma-separated) that an e-mail address must have at the first sign-in. Default: any, of people who are invited or have an account.',
  },
  oidcFirstRole: {
    kind: 'choice',
    variable: 'CARILLON_OIDC_FIRST_ROLE',
    choices: ['none', 'analyst', 'marketer', 'developer'],
    default: 'none',
    sentence: 'Role of somebody of those domains whom nobody has invited; `none`: such people stay outside.',
  },
  oidcEmailTrust: {
    kind: 'choice',
    variable: 'CARILLON_OIDC_EMAIL_TRUST',
    choices: emailTrusts,
    default: 'verified',
    sentence:
      'Which e-mail address counts at the first sign-in: one that the issuer says is verified; with `issuer`, also one of which it says nothing, as Microsoft Entra does; with `issuer-or-username`, also the user name where there is no address. Read [the risk](operations.md#microsoft-entra) first. Needs `CARILLON_OIDC_DOMAINS` and an issuer of one tenant.',
  },
  passwordSignIn: {
    kind: 'choice',
    variable: 'CARILLON_PASSWORD_SIGN_IN',
    choices: ['everyone', 'owners'],
    default: 'everyone',
    sentence: 'Whose passwords open the console; `owners` leaves the others the company account.',
  },
} as const;
