import { expect } from 'vitest';
import { addApp } from '../../src/app/apps.ts';
import { makeClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { App } from '../../src/domain/apps.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';

export type AppsBundle = Awaited<ReturnType<typeof startAppsBundle>>;

/** A whole node, to whose demo workspace apps, devices and campaigns are added. */
export async function startAppsBundle() {
  const masterKey = Buffer.alloc(32, 9);
  const bundle = await startCarillonBundle({ CARILLON_MASTER_KEY: masterKey.toString('base64') });
  const { database, workspaceId } = bundle;
  const post = (family: string, body: object) =>
    bundle.call('POST', `/v1/${family}/${workspaceId}`, { headers: bundle.basic(), body });
  return {
    ...bundle,
    encryption: makeEncryption(masterKey),
    addApp: (app: Pick<App, 'platform' | 'appId' | 'identifier'> & Partial<App>) =>
      addApp(
        { database, clock: makeClock() },
        {
          ...{ actor: { kind: 'account', id: null, name: 'Olga' }, workspaceId, name: app.appId },
          ...{ environment: null, restrictsPackage: false },
          ...app,
        },
      ),
    /** A person with one device of the same name. */
    async register(customerId: string, attributes: Record<string, unknown>): Promise<void> {
      await post('customer', { type: 'customer', customer_id: customerId });
      const device = { type: 'device', customer_id: customerId, device_id: customerId, attributes };
      expect((await post('device', device)).status).toBe(200);
    },
    /** @returns the campaign's id, once it is sent */
    async pushToEnd(body: { campaignName: string; targetAudience: string } & Record<string, unknown>): Promise<string> {
      const { cid } = (await bundle.push(body)).json();
      await until(async () => {
        const [row] = await database`select 1 from campaigns where id = ${cid} and status = 'SENT'`;
        return row !== undefined;
      });
      return cid as string;
    },
  };
}
