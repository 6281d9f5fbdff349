import type { ConsoleCaller } from './console-caller.ts';
import type { ProviderName } from './generated/overview.ts';

/** A key as its owner has it: the members of the provider's form. */
export type GivenKey = { provider: ProviderName } & {
  readonly [name: string]: string | Readonly<Record<string, string>>;
};

type OfProvider = { workspaceId: string; provider: ProviderName };

export function makeCredentialCalls({ ask }: ConsoleCaller) {
  return {
    list: async (workspaceId: string) => (await ask('GET credentials', { query: { workspaceId } })).credentials,
    /**
     * Tries a key with its provider, then stores it in the place of the earlier one.
     *
     * @throws CarillonError 400 when it is no key, 409 when the VAPID key in use is not named, 422 with the provider's words, 502 when it could not be asked and
     *   `unasked` is not `store`
     */
    connect: async ({ workspaceId, ...key }: GivenKey & { workspaceId: string; unasked?: 'store' }) =>
      (await ask('POST credentials', { query: { workspaceId }, body: key })).connected,
    /** Asks the provider now. */
    check: async ({ workspaceId, provider }: OfProvider) =>
      (await ask('POST credentials/:provider/check', { params: { provider }, query: { workspaceId } })).connected,
    /** Back to the simulated phones; in a sandbox only. */
    useSimulator: async ({ workspaceId, provider }: OfProvider) =>
      (await ask('POST credentials/:provider/simulator', { params: { provider }, query: { workspaceId } })).connected,
    /** @throws CarillonError 409 while sends need it and `whileSending` is not `pause` */
    remove: ({ provider, ...query }: OfProvider & { whileSending?: 'pause' }) =>
      ask('DELETE credentials/:provider', { params: { provider }, query }),
  };
}
