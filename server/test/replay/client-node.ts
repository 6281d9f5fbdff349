import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

/**
 * A public client of the interface: what it sends and what it does with the answers, in our own words. Only base URL, keys and
 * abbreviation are those of this node. `replay` fails if the client would fail, and if what it asked for did not happen.
 */
export type PublicClient = {
  kind: string;
  /** What its users report when a server behaves otherwise. */
  breaksOn: string;
  replay(node: ClientNode): Promise<void>;
};

export type ClientNode = CarillonBundle & Awaited<ReturnType<typeof makeCalls>>;

export async function startClientNode(): Promise<ClientNode> {
  const bundle = await startCarillonBundle();
  return Object.assign(bundle, makeCalls(bundle));
}

type Sent = { headers?: Record<string, string>; gzip?: true; mark?: true };

function makeCalls(bundle: CarillonBundle) {
  const { url, workspaceId, keys } = bundle;

  async function send(route: `${'GET' | 'POST'} ${string}`, body: unknown, { headers = {}, gzip, mark }: Sent = {}) {
    const [method, path] = route.split(' ') as [string, string];
    const text = `${mark ? '\uFEFF' : ''}${JSON.stringify(body)}`;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(gzip && { 'content-encoding': 'gzip' }), ...headers },
      ...(method === 'GET' ? {} : { body: gzip ? gzipSync(text) : text }),
    });
    return { status: answer.status, headers: answer.headers, json: (await answer.json()) as any };
  }

  const data = (path: string, body: unknown, sent: Sent = {}) =>
    send(`POST ${path}`, body, { ...sent, headers: { ...bundle.basic(), 'svc-appkey': workspaceId, ...sent.headers } });

  return {
    send,
    data,
    segments: (route: `${'GET' | 'POST'} ${string}`, body?: unknown) =>
      send(route, body, {
        headers: { ...bundle.basic(), 'svc-appkey': workspaceId, 'svc-dbname': bundle.block.dbName! },
      }),
    reading: (path: string, body: unknown) =>
      send(`POST ${path}`, body, { headers: { ...bundle.basic(keys.campaigns), 'svc-appkey': workspaceId } }),
    /** A user with an Android phone. */
    async addPhone(customerId: string, attributes: object = {}): Promise<void> {
      const elements = [
        { type: 'customer', customer_id: customerId, attributes },
        {
          ...{ type: 'device', customer_id: customerId, device_id: `phone-of-${customerId}` },
          attributes: { platform: 'ANDROID', push_id: `token-of-${customerId}` },
        },
      ];
      expect((await data(`/v1/transition/${workspaceId}`, { type: 'transition', elements })).status).toBe(200);
    },
    /** The signature of v2 in the body. */
    signed: (campaignName: string) => ({
      ...{ appId: workspaceId, campaignName },
      signature: signPush({ appId: workspaceId, campaignName, key: keys.push }),
    }),
    /** The headers of v2.1. */
    signedHeaders: (campaignName: string, queryType: string) => ({
      'x-svc-appkey': workspaceId,
      'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys.push }),
      'x-svc-query-type': queryType,
    }),
    /** Waits until a phone shows a message with this title. */
    async shows(title: string): Promise<any> {
      let found: any;
      await until(
        async () =>
          (found = (await bundle.inbox('?limit=500')).find((message) => JSON.stringify(message).includes(title))),
      );
      return found;
    },
    async attributesOf(customerId: string): Promise<Record<string, unknown>> {
      const [row] = await bundle.database`select attributes from users where customer_id = ${customerId}`;
      return row?.attributes as Record<string, unknown>;
    },
  };
}

export const soon = { type: 'soon' };

/** A push to one user of the data. */
export const toUser = (attributeValue: unknown, attribute = 'USER_ATTRIBUTE_UNIQUE_ID') => ({
  ...{ targetPlatform: ['ANDROID'], targetAudience: 'User', campaignDelivery: soon },
  targetUserAttributes: { attribute, comparisonParameter: 'is', attributeValue },
});
