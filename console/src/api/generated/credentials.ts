// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';
import type { Platform } from './shape-parts.ts';

/** Everything of a credential but its secret. */
export type ConnectedCredential = {
  isSimulated: boolean;

  /** Values that identify the credential: the project, ids, or the public VAPID key. */
  summary: Record<string, string>;
  updatedAt: string;
  check: {
    verdict: 'ACCEPTED' | 'REFUSED' | 'UNKNOWN';
    words: string;
    at: string;
    advice: string;
  } | null;
};

export type ProviderCredentialState = {
  platform: Platform;
  provider: ProviderName;
  name: string;
  connected: ConnectedCredential | null;

  /** Credentials of apps other than the default one (docs/apps.md). */
  ofOtherApps: {
    appId: string;
    connected: ConnectedCredential;
  }[];

  /** What depends on the credential: devices that accept pushes, and sends in progress. */
  hits: {
    devices: number;
    runs: number;
  };
};
