import type { Platform } from '../content/content.ts';
import type { ProviderName } from '../delivery/providers.ts';

/** What an app says about its installation. Null: it said nothing. */
export type Registration = {
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  /** Null: the app may not, or cannot yet, receive pushes. */
  pushId: string | null;
  pushIdType: 'fid' | null;
  /** Null: the default app. */
  appId: string | null;
  isOptedOut: boolean;
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  /** A language tag in its canonical form. */
  locale: string | null;
  /** A name of a zone. */
  timeZone: string | null;
};
