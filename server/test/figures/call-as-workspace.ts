import { gunzipSync } from 'node:zlib';
import type { ApiNode } from '../rig/fleet.ts';

export type Call = ReturnType<typeof callAsWorkspace>;

/** Calls the campaign and data routes of a node as its demo workspace; a reply that is no success is an error. */
export function callAsWorkspace({ url, keys }: Pick<ApiNode, 'url' | 'keys'>, workspaceId: string) {
  const basic = (key: string): string => `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`;
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, any>> => {
    const key = /^\/v1\/(transition|event-streams)/.test(path) ? keys.data : keys.campaigns;
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: basic(key), 'svc-appkey': workspaceId, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  };
  return Object.assign(call, {
    workspaceId,
    async readGzip(path: string, headers: Record<string, string>): Promise<string> {
      const reply = await fetch(`${url}${path}`, { headers });
      if (!reply.ok) throw new Error(`GET ${path}: ${reply.status}`);
      return gunzipSync(Buffer.from(await reply.arrayBuffer())).toString('utf8');
    },
  });
}
