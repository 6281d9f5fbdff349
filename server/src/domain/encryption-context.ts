import { defaultAppId } from './apps/app.ts';

/**
 * What each encrypted value is bound to: everything that is encrypted takes its context from here, so that a rotation of
 * the master key finds the context of every row again (`storage/installation/encrypted-values.ts`).
 */
export const encryptionContext = {
  /** A push key: a copy in another workspace cannot be decrypted. */
  pushKey: ({ workspaceId, id }: { workspaceId: string; id: string }) => `push-key:${workspaceId}:${id}`,
  /** That of a default app is as it was before there were others: no app is called so, and what was stored is still read. */
  providerCredential: ({ workspaceId, provider, appId }: { workspaceId: string; provider: string; appId: string }) =>
    appId === defaultAppId
      ? `provider-credential:${workspaceId}:${provider}`
      : `provider-credential:${workspaceId}:${provider}:${appId}`,
  /** The provider token that all nodes share, by the key it was signed with. */
  providerToken: ({ key }: { key: string }) => `provider-token:${key}`,
  webhookSecret: ({ workspaceId }: { workspaceId: string }) => `webhook-secret:${workspaceId}`,
  eventStreamSecret: ({ workspaceId, id }: { workspaceId: string; id: string }) =>
    `event-stream-secret:${workspaceId}:${id}`,
  idempotentAnswer: (row: { workspaceId: string; operation: string; keyHash: Uint8Array }) =>
    `idempotency:${row.workspaceId}:${row.operation}:${Buffer.from(row.keyHash).toString('hex')}`,
  companySignIn: () => 'company-sign-in',
  demoSeed: () => 'demo-seed',
  /** The word that tells at the start whether the master key is the right one. */
  masterKeyCheck: () => 'installation',
  installationSecret: (purpose: InstallationPurpose) => `installation-secret:${purpose}`,
} as const;

/** What an installation keeps a secret of its own for. */
export type InstallationPurpose = 'interactions' | 'simulator';
