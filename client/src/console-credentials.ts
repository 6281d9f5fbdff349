import type { ConsoleCaller } from './console-caller.ts';
import type { CredentialCheck, ProviderName } from './console-overview.ts';

/** Everything of a credential but its secret. */
export type ConnectedCredential = {
  isSimulated: boolean;
  /** What tells it from others: project, ids, the public VAPID key. */
  summary: Record<string, string>;
  updatedAt: string;
  check: (CredentialCheck & { advice: string }) | null;
};

export type ProviderCredentialState = {
  platform: 'ANDROID' | 'IOS' | 'WEB';
  provider: ProviderName;
  name: string;
  connected: ConnectedCredential | null;
  /** What hangs on it: devices that take push, and sends under way. */
  hits: { devices: number; runs: number };
};

/** A key as its owner has it. */
export type GivenKey =
  | { provider: 'fcm'; keyFile: string }
  | {
      provider: 'apns';
      privateKey: string;
      teamId: string;
      keyId: string;
      topic: string;
      environment: 'production' | 'sandbox';
    }
  | { provider: 'webpush'; subject: string; keys?: { publicKey: string; privateKey: string } };

export type ConsoleCredentials = {
  list(workspaceId: string): Promise<ProviderCredentialState[]>;
  /**
   * Tries a key with its provider, then stores it in the place of the earlier one.
   *
   * @throws CarillonError 400 when it is no key, 422 with the provider's words, 502 when it could not be asked and
   *   `unasked` is not `store`
   */
  connect(key: GivenKey & { workspaceId: string; unasked?: 'store' }): Promise<ConnectedCredential>;
  /** Asks the provider now. */
  check(of: { workspaceId: string; provider: ProviderName }): Promise<ConnectedCredential>;
  /** Back to the simulated phones; in a sandbox only. */
  useSimulator(of: { workspaceId: string; provider: ProviderName }): Promise<ConnectedCredential>;
  /** @throws CarillonError 409 while sends need it and `whileSending` is not `pause` */
  remove(of: { workspaceId: string; provider: ProviderName; whileSending?: 'pause' }): Promise<void>;
};

type Answer = { connected: ConnectedCredential };

export function makeConsoleCredentials({ read, send }: ConsoleCaller): ConsoleCredentials {
  const query = (of: Record<string, string>) => new URLSearchParams(of).toString();
  return {
    list: async (workspaceId) =>
      (await read<{ credentials: ProviderCredentialState[] }>('credentials', { workspaceId })).credentials,
    connect: async ({ workspaceId, ...key }) =>
      (await send<Answer>('POST', `credentials?${query({ workspaceId })}`, key)).connected,
    check: async ({ workspaceId, provider }) =>
      (await send<Answer>('POST', `credentials/${provider}/check?${query({ workspaceId })}`)).connected,
    useSimulator: async ({ workspaceId, provider }) =>
      (await send<Answer>('POST', `credentials/${provider}/simulator?${query({ workspaceId })}`)).connected,
    remove: ({ provider, ...of }) => send('DELETE', `credentials/${provider}?${query(of)}`),
  };
}
