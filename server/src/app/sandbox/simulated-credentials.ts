import { generateKeyPair } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { providerNames, providers } from '../../domain/delivery/providers.ts';
import type { CredentialOf, ProviderName } from '../../domain/delivery/providers.ts';

const generate = promisify(generateKeyPair);

/**
 * Generates real keys for a workspace with simulated phones, one credential for each provider. The simulators check signatures
 * and secrets against them as the providers would.
 *
 * @param name lower-case letters and digits; part of the project, team and bundle names
 */
export async function makeSimulatedCredentials(name: string): Promise<{ [Name in ProviderName]: CredentialOf<Name> }> {
  const [rsa, p256] = await Promise.all([
    generate('rsa', { modulusLength: 2048 }),
    generate('ec', { namedCurve: 'P-256' }),
  ]);
  const keys = { rsa: pemOf(rsa), p256: pemOf(p256) };
  const made = providerNames.map((provider) => [provider, providers[provider].sandbox.makeCredential({ name, keys })]);
  return Object.fromEntries(made) as { [Name in ProviderName]: CredentialOf<Name> };
}

function pemOf({ privateKey }: { privateKey: KeyObject }): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}
