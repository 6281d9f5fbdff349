import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { recoveryCodesPerAccount } from '../limits/access.ts';
import { hashSecret } from './keys.ts';
import type { Permission } from './accounts.ts';

/**
 * How far a sign-in has come; the values of the table. SECOND_FACTOR: the password was right, and a second factor is missing.
 * ENROLMENT: the account must add its first second factor before it can do anything else.
 */
export type SessionStage = 'OPEN' | 'SECOND_FACTOR' | 'ENROLMENT';

/** The accounts that need a second factor: those that have one, all that sign in with a password, or all. */
export const secondFactorRules = ['optional', 'passwords', 'everyone'] as const;
export type SecondFactorRule = (typeof secondFactorRules)[number];

/**
 * Returns what follows the first step of a sign-in. Company accounts are exempt, because the issuer checks its own factors, unless
 * the rule is for everyone. Pure.
 */
export function findStage(
  rule: SecondFactorRule,
  { way, hasFactor }: { way: 'password' | 'company account'; hasFactor: boolean },
): SessionStage {
  if (way === 'company account' && rule !== 'everyone') return 'OPEN';
  if (hasFactor) return 'SECOND_FACTOR';
  return rule === 'optional' ? 'OPEN' : 'ENROLMENT';
}

const allowedAt: Record<Exclude<SessionStage, 'OPEN'>, readonly Permission[]> = {
  SECOND_FACTOR: ['session.enter'],
  ENROLMENT: ['session.enter', 'session.factors'],
};

/** True if a session of the stage may use the permission, if a role grants it. Pure. */
export function isOpenAt(stage: SessionStage, permission: Permission): boolean {
  return stage === 'OPEN' || allowedAt[stage].includes(permission);
}

/** Seconds of a step, digits and algorithm that every authenticator app supports (RFC 6238 §4). */
const stepSeconds = 30;
const form = { algorithm: 'SHA1', digits: 6, period: stepSeconds } as const;

/** Returns a new secret of 160 bits, the length of the algorithm's hash (RFC 4226 §4). */
export function makeAuthenticatorSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** Returns the address that authenticator apps read from a QR code. */
export function authenticatorAddress(secret: string, { email, host }: { email: string; host: string }): string {
  const issuer = host === '' ? 'Carillon' : `Carillon ${host}`;
  return new TOTP({ ...form, issuer, label: email, secret: Secret.fromBase32(secret) }).toString();
}

/**
 * Returns the step of the code if it is one of the present step or of a neighbour, because clocks differ. The caller stores the
 * step and accepts only later ones: a code works once (RFC 6238 §5.2). Pure.
 */
export function findCodeStep(secret: string, { code, at }: { code: string; at: Date }): number | undefined {
  const timestamp = at.getTime();
  const known = { ...form, secret: Secret.fromBase32(secret), token: code, timestamp, window: 1 };
  const delta = TOTP.validate(known);
  return delta === null ? undefined : TOTP.counter({ period: stepSeconds, timestamp }) + delta;
}

/** Without I, L, O and U, which are read as other characters or form words (Crockford's base 32). */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groups = 5;
const groupCharacters = 5;

/** Returns new recovery codes of 125 random bits each, as five groups of five characters. */
export function makeRecoveryCodes(): string[] {
  const group = () => Array.from({ length: groupCharacters }, () => alphabet[randomInt(alphabet.length)]).join('');
  return Array.from({ length: recoveryCodesPerAccount }, () => Array.from({ length: groups }, group).join('-'));
}

/** What a user typed: a code of the app, or a recovery code. Undefined: neither. */
export type TypedCode = { kind: 'authenticator'; code: string } | { kind: 'recovery code'; hash: Buffer };

/** Parses a typed code, ignoring case, spaces and hyphens, and reading I, L and O as the digits they look like. Pure. */
export function parseTypedCode(text: string): TypedCode | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, '');
  if (/^\d{6}$/.test(plain)) return { kind: 'authenticator', code: plain };
  const code = plain.replace(/[IL]/g, '1').replaceAll('O', '0');
  if (code.length !== groups * groupCharacters || [...code].some((one) => !alphabet.includes(one))) return undefined;
  return { kind: 'recovery code', hash: hashRecoveryCode(code) };
}

/** 125 random bits need neither salt nor a slow hash (NIST SP 800-63B section 3.1.2.2 requires one below 112). */
export function hashRecoveryCode(code: string): Buffer {
  return hashSecret(code.replaceAll('-', ''));
}

/** The site that passkeys belong to. */
export type PasskeySite = { id: string; origin: string };

/**
 * Returns the site of the configured public URL, or why it can have no passkeys. The Host of a request is not used: behind proxies it
 * is often another one, and a caller can forge it. Pure.
 */
export function findPasskeySite(publicUrl: string | undefined): PasskeySite | { fault: string } {
  if (publicUrl === undefined) return { fault: 'the setting CARILLON_PUBLIC_URL is missing' };
  const { protocol, hostname, origin } = new URL(publicUrl);
  if (protocol !== 'https:' && hostname !== 'localhost')
    return { fault: 'CARILLON_PUBLIC_URL does not begin with https' };
  // WebAuthn Level 3 section 5.1.3: the id of a site is a domain, not an address.
  if (/^[\d.]+$|^\[/.test(hostname)) return { fault: 'CARILLON_PUBLIC_URL names an IP address instead of a host' };
  return { id: hostname, origin };
}
