import { simulatedPushOrigin } from '../../domain/delivery/push-services.ts';
import type { WebPushCredential } from '../../domain/providers/webpush.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import type { BrowserMessage } from '../payload/browser.ts';
import { webPushAnswers } from './classify.ts';
import { measureWebPushMessage } from './plan.ts';
import { makeWebPushProvider } from './provider.ts';
import type { WebPushAccount } from './simulator.ts';

/** `origin` is the origin in subscriptions; `connectTo` is where the simulator listens. */
type SimulatedService = { origin: string; connectTo: string };

export const webPushDescriptor: ProviderDescriptor<WebPushCredential, undefined, SimulatedService, WebPushAccount> = {
  endpoints: undefined,
  simulatorEndpoints: (origin) => ({ origin: simulatedPushOrigin, connectTo: origin }),
  make: makeWebPushProvider,
  answers: webPushAnswers,
  measure: (message: BrowserMessage) => measureWebPushMessage(message),
  simulatedAccount: ({ publicKey }) => ({ publicKey }),
  loadSimulator: async () => (await import('./simulator.ts')).webPushSimulator,
};
