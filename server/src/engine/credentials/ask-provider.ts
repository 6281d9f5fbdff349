import type { CredentialCheck } from '../../domain/credentials/credential-check.ts';
import type { ProviderCredential } from '../../domain/provider-credential.ts';
import { checkCredential } from '../delivery/check-credential.ts';
import { makeDelivery } from '../delivery/deliver.ts';
import type { DeliveryOptions } from '../delivery/deliver.ts';

export type AskProvider = (credential: ProviderCredential) => Promise<CredentialCheck>;

// An account's token and one message, each with 10 s to connect and 15 s to answer, take 50 s at worst; a person who waits
// for a page has given up by then.
const defaultMaxMilliseconds = 20_000;

/**
 * Asks a provider about a credential, over a connection of its own: nothing that was learned with another credential of
 * the same name plays a part, and nothing stays.
 */
export function makeAskProvider(options: DeliveryOptions & { maxMilliseconds?: number }): AskProvider {
  const { maxMilliseconds = defaultMaxMilliseconds } = options;
  return async (credential) => {
    const { simulators } = options.endpoints;
    if (credential.simulated && !simulators)
      return { verdict: 'UNKNOWN', words: 'It leads to the simulators of a sandbox, and none runs.' };
    const delivery = makeDelivery(options);
    const late = Promise.withResolvers<CredentialCheck>();
    const timer = setTimeout(
      () => late.resolve({ verdict: 'UNKNOWN', words: `no answer within ${maxMilliseconds / 1000} seconds` }),
      maxMilliseconds,
    );
    try {
      return await Promise.race([checkCredential({ delivery }, credential), late.promise]);
    } finally {
      clearTimeout(timer);
      // A connection that nobody answers on is closed without waiting for it.
      void delivery.close().catch(() => {});
    }
  };
}
