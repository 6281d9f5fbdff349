import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { registerDevice } from '../data/register-device.ts';
import { upsertUser } from '../data/upsert-user.ts';

export type BrowserDependencies = {
  database: Database;
  clock: Clock;
  /** The demo workspace, to which the browser is added. */
  workspaceId: () => string | undefined;
};

export type RegisterBrowserCommand = {
  customerId: string;
  /** JSON text of the browser's PushSubscription. */
  subscription: string;
};

/** Registers the current browser as a device of the demo workspace, in addition to its simulated ones. */
export function makeBrowserUseCases({ database, clock, workspaceId: demoWorkspaceId }: BrowserDependencies) {
  const demo = (): string => {
    const workspaceId = demoWorkspaceId();
    if (workspaceId === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no demo workspace' });
    return workspaceId;
  };
  return {
    /** What a page needs to subscribe. @throws ServiceError NOT_FOUND without a Web Push credential */
    async readSettings(): Promise<{ workspaceId: string; publicKey: string }> {
      const workspaceId = demo();
      const credentials = await listProviderCredentials(database, workspaceId);
      const publicKey = credentials.find(({ provider }) => provider === 'webpush')?.summary.publicKey;
      if (publicKey === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no Web Push credential' });
      return { workspaceId, publicKey };
    },

    /** An unknown customer is created. */
    async registerBrowser({ customerId, subscription }: RegisterBrowserCommand): Promise<{ deviceId: string }> {
      const customer = { workspaceId: demo(), customerId, at: clock.now() };
      const digest = createHash('sha256').update(subscription).digest('hex');
      const device = { deviceId: `browser-${digest.slice(0, 16)}`, platform: 'WEB', pushId: subscription } as const;
      await inTransaction(database, async (tx) => {
        await upsertUser(tx, { ...customer, attributes: {} });
        await registerDevice(tx, { ...customer, ...device });
      });
      return { deviceId: device.deviceId };
    },
  };
}

export type BrowserUseCases = ReturnType<typeof makeBrowserUseCases>;
