import { createHash } from 'node:crypto';
import type { AdmCredential } from '../../domain/providers/adm.ts';
import { makeClientTokens, makeTokenAccess, sendByRoute } from '../access-tokens.ts';
import type { TokenEndpoints } from '../access-tokens.ts';
import type { ProviderContext, ProviderDescriptor } from '../descriptor.ts';
import type { RoutedProvider } from '../provider.ts';
import { admAnswers, classifyAdmAnswer, isAdmTokenExpired } from './classify.ts';
import { maxPayloadBytes, planAdmRequest } from './plan.ts';
import type { AdmAccount } from './simulator.ts';

export const admDescriptor: ProviderDescriptor<AdmCredential, TokenEndpoints, TokenEndpoints, AdmAccount> = {
  // One host serves all regions and both services.
  endpoints: { messagesOrigin: 'https://api.amazon.com', tokenOrigin: 'https://api.amazon.com' },
  simulatorEndpoints: (origin) => ({ messagesOrigin: origin, tokenOrigin: origin }),
  make: makeAdmProvider,
  answers: admAnswers,
  simulatedAccount: ({ clientId, clientSecret }) => ({
    clientId,
    secretDigest: createHash('sha256').update(clientSecret).digest('hex'),
  }),
  loadSimulator: async () => (await import('./simulator.ts')).admSimulator,
};

type AdmContext = Pick<
  ProviderContext<TokenEndpoints, TokenEndpoints>,
  'clock' | 'transport' | 'endpoints' | 'simulator'
>;

/** Makes the provider for Amazon Device Messaging: one message per request, with an access token of the security profile. */
export function makeAdmProvider({ clock, transport, endpoints, simulator }: AdmContext): RoutedProvider<AdmCredential> {
  const access = makeTokenAccess<AdmCredential>({
    ...{ name: 'adm', endpoints, simulator },
    tokens: makeClientTokens({ clock, transport, path: '/auth/O2/token', scope: 'messaging:push' }),
    accountOf: ({ clientId }) => clientId,
    isRefused: isAdmTokenExpired,
    describeRefusal: (said) => ({ reason: 'ADM_TOKEN_REFUSED', message: `the client was refused: ${said}` }),
    // Amazon documents HTTP/1.1 only, and all public clients use it.
    fallback: 'http/1.1',
  });

  return {
    plan: (input) => planAdmRequest(input, endpoints.messagesOrigin),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyAdmAnswer,
    close: async () => {},
    access,
    // The id of the request is in a header, the device's current registration id in the body.
    reads: 'all',
    texts: 'copied',
    smallBodyBytes: maxPayloadBytes,
    addressOf: encodeURIComponent,
  };
}
