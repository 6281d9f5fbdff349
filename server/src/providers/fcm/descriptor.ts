import { createPublicKey } from 'node:crypto';
import type { FcmCredential } from '../../domain/providers/fcm.ts';
import type { TokenEndpoints } from '../access-tokens.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import type { AndroidMessage } from '../payload/android.ts';
import { fcmAnswers } from './classify.ts';
import { measureFcmMessage } from './plan.ts';
import { makeFcmProvider } from './provider.ts';
import type { FcmAccount } from './simulator.ts';

export const fcmDescriptor: ProviderDescriptor<FcmCredential, TokenEndpoints, TokenEndpoints, FcmAccount> = {
  endpoints: { messagesOrigin: 'https://fcm.googleapis.com', tokenOrigin: 'https://oauth2.googleapis.com' },
  simulatorEndpoints: (origin) => ({ messagesOrigin: origin, tokenOrigin: origin }),
  make: makeFcmProvider,
  canValidateOnly: true,
  answers: fcmAnswers,
  measure: (message: AndroidMessage) => measureFcmMessage(message),
  simulatedAccount: ({ projectId, clientEmail, privateKey }) => ({
    projectId,
    clientEmail,
    publicKeyPem: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
  }),
  loadSimulator: async () => (await import('./simulator.ts')).fcmSimulator,
};
