import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { registerDevice } from '../data/register-device.ts';
import { retryDeadlock } from '../data/retry-deadlock.ts';
import { upsertUser } from '../data/upsert-user.ts';

export type BrowserDependencies = {
  database: Database;
  clock: Clock;
  /** The demo workspace, to which the browser is added. */
  demoWorkspaceId: () => string | undefined;
};

export type RegisterBrowserCommand = {
  customerId: string;
  /** JSON text of the browser's PushSubscription. */
  subscription: string;
};

/** What a page needs to subscribe. @throws ServiceError NOT_FOUND without a Web Push credential */
export async function readBrowserSettings(
  deps: BrowserDependencies,
): Promise<{ workspaceId: string; publicKey: string }> {
  const workspaceId = requireDemo(deps);
  const credentials = await listProviderCredentials(deps.database, workspaceId);
  const publicKey = credentials.find(({ provider, appId }) => provider === 'webpush' && appId === defaultAppId)?.summary
    .publicKey;
  if (publicKey === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no Web Push credential' });
  return { workspaceId, publicKey };
}

/**
 * Registers the current browser as a device of the demo workspace, in addition to its simulated ones. An unknown
 * customer is created. @throws ServiceError NOT_FOUND without a demo workspace
 */
export async function registerBrowser(
  deps: BrowserDependencies,
  { customerId, subscription }: RegisterBrowserCommand,
): Promise<{ deviceId: string }> {
  const { database, clock } = deps;
  const customer = { workspaceId: requireDemo(deps), customerId, at: clock.now() };
  const digest = createHash('sha256').update(subscription).digest('hex');
  const device = { deviceId: `browser-${digest.slice(0, 16)}`, platform: 'WEB', pushId: subscription } as const;
  await retryDeadlock(() =>
    inTransaction(database, async (tx) => {
      await upsertUser(tx, { ...customer, attributes: {} });
      await registerDevice(tx, { ...customer, ...device });
    }),
  );
  return { deviceId: device.deviceId };
}

function requireDemo({ demoWorkspaceId }: BrowserDependencies): string {
  const workspaceId = demoWorkspaceId();
  if (workspaceId === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no demo workspace' });
  return workspaceId;
}
