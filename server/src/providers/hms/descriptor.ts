import { createHash } from 'node:crypto';
import type { HmsCredential } from '../../domain/providers/hms.ts';
import type { TokenEndpoints } from '../access-tokens.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import { hmsAnswers } from './classify.ts';
import { makeHmsProvider } from './provider.ts';
import type { HmsAccount } from './simulator.ts';

export const hmsDescriptor: ProviderDescriptor<HmsCredential, TokenEndpoints, TokenEndpoints, HmsAccount> = {
  endpoints: {
    messagesOrigin: 'https://push-api.cloud.huawei.com',
    tokenOrigin: 'https://oauth-login.cloud.huawei.com',
  },
  simulatorEndpoints: (origin) => ({ messagesOrigin: origin, tokenOrigin: origin }),
  make: makeHmsProvider,
  canValidateOnly: true,
  answers: hmsAnswers,
  simulatedAccount: ({ clientId, clientSecret, owner }) => ({
    clientId,
    owner,
    secretDigest: createHash('sha256').update(clientSecret).digest('hex'),
  }),
  loadSimulator: async () => (await import('./simulator.ts')).hmsSimulator,
};
