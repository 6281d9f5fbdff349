import type { ConsoleCaller } from './console-caller.ts';
import type { ProviderName } from './generated/overview.ts';

/** A credential as a user enters it: the members of the provider's form. */
export type GivenKey = { provider: ProviderName } & {
  readonly [name: string]: string | Readonly<Record<string, string>>;
};

type OfProvider = { workspaceId: string; provider: ProviderName };

export function makeCredentialCalls({ ask }: ConsoleCaller) {
  return {
    list: async (workspaceId: string) => (await ask('GET credentials', { query: { workspaceId } })).credentials,
    /**
     * Checks a credential with its provider, then stores it and replaces the previous one. @throws CarillonError 400 if
     * it is not a valid credential, 409 if `inPlaceOf` does not name the VAPID key in use, 422 with the provider's
     * reason, 502 if the provider could not be reached and `unasked` is not `store`
     */
    connect: async ({ workspaceId, ...key }: GivenKey & { workspaceId: string; unasked?: 'store' }) =>
      (await ask('POST credentials', { query: { workspaceId }, body: key })).connected,
    /** Checks the stored credential with the provider now. */
    check: async ({ workspaceId, provider }: OfProvider) =>
      (await ask('POST credentials/:provider/check', { params: { provider }, query: { workspaceId } })).connected,
    /** Returns to the simulated phones. Sandbox only. */
    useSimulator: async ({ workspaceId, provider }: OfProvider) =>
      (await ask('POST credentials/:provider/simulator', { params: { provider }, query: { workspaceId } })).connected,
    /** @throws CarillonError 409 while a send needs it and `whileSending` is not `pause` */
    remove: ({ provider, ...query }: OfProvider & { whileSending?: 'pause' }) =>
      ask('DELETE credentials/:provider', { params: { provider }, query }),
  };
}
