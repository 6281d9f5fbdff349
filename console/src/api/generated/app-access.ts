// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type AppAccess = {
  webOrigins: string[];

  /** Attributes that apps may write, without the prefix. */
  attributes: string[];
  identityKeys: IdentityKey[];
  maxIdentityKeys: number;

  /** The VAPID key with which a browser subscribes; null without a Web Push credential. */
  webPushPublicKey: string | null;
};

export type CreatedIdentityKey = {
  key: IdentityKey;

  /** HS256 only. The only response that contains it. */
  secret: string | null;
};

export type IdentityKey = {
  /** The kid in the header of tokens. */
  id: string;
  algorithm: 'HS256' | 'ES256';
  createdAt: string;
};

export type Installation = {
  id: string;
  platform: Platform | null;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;

  /** The name of the app key that it sent last. */
  keyName: string | null;

  /** Null while it has no user. */
  userId: string | null;
  customerId: string | null;

  /** False for an anonymous user. */
  isIdentified: boolean;
  canReceive: boolean;
  isOptedIn: boolean;
  createdAt: string;

  /** The last registration or change. */
  refreshedAt: string;
  signedInAt: string | null;
  signedOutAt: string | null;
};
