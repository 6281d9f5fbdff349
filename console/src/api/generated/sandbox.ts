// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';
import type { Platform } from './shape-parts.ts';

/** `works`, or how the provider responds for the address of the device. */
export type DeviceBehaviour =
  | 'works'
  | 'gone'
  | 'invalid'
  | 'rejected'
  | 'busy'
  | 'limited'
  | 'sporadic'
  | 'malformed'
  | 'throttled'
  | 'outdated'
  | 'silent';

/** A fault switch of `POST /sandbox/faults`. */
export type SandboxFault = {
  status?: number;
  answer?: string;
  delayMilliseconds?: number;
  reset?: boolean;

  /** The number of times that are left; absent: always. */
  count?: number;
  device?: string;
  route?: string;
} & Record<string, unknown>;

export type SandboxState = {
  clock: {
    now: string;
    offsetSeconds: number;
    isFrozen: boolean;

    /** The progress of an advance; null while the clock is not being moved. */
    advancing: {
      stops: number;
      remainingSeconds: number;
    } | null;
  };

  /** What the simulated providers counted. */
  counters: {
    ANDROID?: {
      received: number;
      accepted: number;
      refused: number;
    };
    IOS?: {
      received: number;
      accepted: number;
      refused: number;
    };
    WEB?: {
      received: number;
      accepted: number;
      refused: number;
    };
    HMS?: {
      received: number;
      accepted: number;
      refused: number;
    };
    ADM?: {
      received: number;
      accepted: number;
      refused: number;
    };
  };

  /** The faults that may still apply. */
  faults: {
    fcm: SandboxFault[];
    apns: SandboxFault[];
    webpush: SandboxFault[];
    hms: SandboxFault[];
    adm: SandboxFault[];
    api: SandboxFault[];
  };
};

/** A device of a person who is marked for tests. */
export type VirtualDevice = {
  id: string;
  userId: string;
  customerId: string;
  deviceId: string;
  platform: Platform;

  /** Null for the default provider of the platform. */
  provider: ProviderName | null;
  state: string;

  /** The token by which messages in the inbox identify the device. */
  token: string;

  /** The newest three. */
  messages: {
    id: string;
    deviceToken: string;
    title: string;
    body: string;
    receivedAt: string;
  }[];
  behaviour: DeviceBehaviour;
};
