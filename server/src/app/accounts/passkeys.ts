import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { PasskeySite } from '../../domain/access/second-factor.ts';
import { challengeSeconds } from '../../domain/limits/access.ts';
import { setChallenge } from '../../storage/accounts/second-factors.ts';
import type { Passkey } from '../../storage/accounts/second-factors.ts';
import type { Queryable } from '../../storage/database.ts';

/**
 * Loads @simplewebauthn/server, which verifies challenge, origin, site, user verification and signature. Loaded with the first
 * passkey: it is large, and makes Node warn about algorithms that it tries.
 */
const loadLibrary = () => import('@simplewebauthn/server');

type Asked = { sessionId: string; site: PasskeySite; passkeys: readonly Passkey[]; at: Date };

/** Returns what the browser passes to the authenticator to make a passkey. The session remembers the challenge. */
export async function askForNewPasskey(
  tx: Queryable,
  { accountId, email, name, site, passkeys, ...session }: Asked & { accountId: string; email: string; name: string },
) {
  const { generateRegistrationOptions } = await loadLibrary();
  return await generateRegistrationOptions({
    rpName: 'Carillon',
    rpID: site.id,
    userName: email,
    userDisplayName: name,
    userID: Uint8Array.from(Buffer.from(accountId, 'hex')),
    challenge: await makeChallenge(tx, session),
    timeout: challengeSeconds * 1000,
    attestationType: 'none',
    // An authenticator that has a passkey of this account already does not make a second one.
    excludeCredentials: passkeys.map(describeCredential),
    authenticatorSelection: { userVerification: 'required', residentKey: 'discouraged' },
  });
}

/** Returns what the browser passes to the authenticator to sign with one of the passkeys. */
export async function askForPasskey(tx: Queryable, { site, passkeys, ...session }: Asked) {
  const { generateAuthenticationOptions } = await loadLibrary();
  return await generateAuthenticationOptions({
    rpID: site.id,
    challenge: await makeChallenge(tx, session),
    timeout: challengeSeconds * 1000,
    allowCredentials: passkeys.map(describeCredential),
    userVerification: 'required',
  });
}

async function makeChallenge(tx: Queryable, { sessionId, at }: { sessionId: string; at: Date }) {
  const challenge = randomBytes(32);
  await setChallenge(tx, { sessionId, challenge, until: new Date(at.getTime() + challengeSeconds * 1000) });
  return Uint8Array.from(challenge);
}

function describeCredential({ credentialId, transports }: Passkey) {
  return { id: credentialId.toString('base64url'), transports };
}

type NewPasskey = Pick<Passkey, 'credentialId' | 'publicKey' | 'signCount' | 'transports'>;

/** Returns the new passkey if the response proves it, or undefined. */
export async function readNewPasskey(
  response: unknown,
  { challenge, site }: { challenge: Buffer; site: PasskeySite },
): Promise<NewPasskey | undefined> {
  const { verifyRegistrationResponse } = await loadLibrary();
  const verified = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    ...expected({ challenge, site }),
  }).catch(() => undefined);
  if (!verified?.verified) return undefined;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return {
    credentialId: Buffer.from(id, 'base64url'),
    publicKey: Buffer.from(publicKey),
    signCount: counter,
    // The browser reports them; only words that are names of transports are stored.
    transports: transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 10),
  };
}

/** Returns the passkey that signed the response and its new counter, or undefined. */
export async function readPasskeyUse(
  response: unknown,
  { challenge, site, passkeys }: { challenge: Buffer; site: PasskeySite; passkeys: readonly Passkey[] },
): Promise<{ passkey: Passkey; signCount: number } | undefined> {
  const { id } = response as AuthenticationResponseJSON;
  const passkey = passkeys.find(({ credentialId }) => credentialId.toString('base64url') === id);
  if (!passkey) return undefined;
  const { verifyAuthenticationResponse } = await loadLibrary();
  const verified = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    ...expected({ challenge, site }),
    credential: {
      id,
      publicKey: Uint8Array.from(passkey.publicKey),
      counter: passkey.signCount,
    },
  }).catch(() => undefined);
  return verified?.verified ? { passkey, signCount: verified.authenticationInfo.newCounter } : undefined;
}

function expected({ challenge, site }: { challenge: Buffer; site: PasskeySite }) {
  return {
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
  };
}
