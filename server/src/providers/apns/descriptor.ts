import { createPublicKey } from 'node:crypto';
import type { ApnsCredential } from '../../domain/providers/apns.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import type { IosMessage } from '../payload/ios.ts';
import { apnsAnswers } from './classify.ts';
import { measureApnsMessage } from './plan.ts';
import { makeApnsProvider } from './provider.ts';
import type { ApnsEndpoints } from './provider.ts';
import type { ApnsAccount } from './simulator.ts';

export const apnsDescriptor: ProviderDescriptor<ApnsCredential, ApnsEndpoints, string, ApnsAccount> = {
  endpoints: { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' },
  simulatorEndpoints: (origin) => origin,
  make: ({ simulator, ...context }) => makeApnsProvider({ ...context, simulatorOrigin: simulator }),
  answers: apnsAnswers,
  measure: (message: IosMessage) => measureApnsMessage(message),
  simulatedAccount({ teamId, keyId, topic, privateKey }, apps) {
    // An Apple key is valid for all apps of its team.
    const others = apps.filter(({ platform }) => platform === 'IOS').map(({ identifier }) => identifier);
    const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
    return { teamId, keyId, topics: [topic, ...others], publicKeyPem };
  },
  loadSimulator: async () => (await import('./simulator.ts')).apnsSimulator,
};
