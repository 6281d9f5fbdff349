import type { FcmEndpoints } from './fcm/provider.ts';
import type { HmsEndpoints } from './hms/provider.ts';

/** Addresses of the providers. */
export type DeliveryEndpoints = {
  fcm: FcmEndpoints;
  apns: { production: string; sandbox: string };
  hms: HmsEndpoints;
  simulators?: SimulatorEndpoints;
};

/** Loopback origins of the sandbox's simulators. */
export type SimulatorEndpoints = {
  fcm: FcmEndpoints;
  apns: string;
  /** `origin` is the origin in subscriptions; `connectTo` is where the simulator listens. */
  webPush: { origin: string; connectTo: string };
  hms: HmsEndpoints;
};

export const realProviderEndpoints: DeliveryEndpoints = {
  fcm: { messagesOrigin: 'https://fcm.googleapis.com', tokenOrigin: 'https://oauth2.googleapis.com' },
  apns: { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' },
  hms: {
    messagesOrigin: 'https://push-api.cloud.huawei.com',
    tokenOrigin: 'https://oauth-login.cloud.huawei.com',
  },
};
