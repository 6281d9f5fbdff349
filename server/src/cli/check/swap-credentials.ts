import { signPush } from '../../domain/signature/sign-push.ts';
import { isRecord, readBody } from './read-recording.ts';
import type { RecordedCall } from './read-recording.ts';

/** Of the workspace that is checked. What is missing stays as it was recorded. */
export type CheckedWorkspace = {
  workspaceId?: string | undefined;
  dbName?: string | undefined;
  oauthKey?: string | undefined;
  dataKey?: string | undefined;
  pushKey?: string | undefined;
  campaignsKey?: string | undefined;
  /** Of the newest token reply. */
  accessToken?: string | undefined;
  refreshToken?: string | undefined;
};

/** The call with the credentials of another workspace: ids, keys, tokens, and signatures made anew. */
export function swapCredentials(call: RecordedCall, workspace: CheckedWorkspace): RecordedCall {
  const { workspaceId } = workspace;
  const path = workspaceId === undefined ? call.path : swapPath(call.path, workspaceId);
  const body = call.path.startsWith('/v1/oauth/') ? swapForm(call.body, workspace) : swapPush(call, workspace);
  const name = campaignNameOf(body);
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([header, value]) => [
      header,
      swapHeader({ header, value, path, name }, workspace),
    ]),
  );
  return { ...call, path, headers, body };
}

/** The families that name the workspace in the path. */
function swapPath(path: string, workspaceId: string): string {
  return path.replace(
    /^(\/v1\/(?:customer|device|event|transition)\/)(?!merge|delete)[^/?]+(?=\?|$)/,
    `$1${workspaceId}`,
  );
}

function swapForm(body: string | undefined, workspace: CheckedWorkspace): string | undefined {
  if (body === undefined) return undefined;
  const form = new URLSearchParams(body);
  const { workspaceId, oauthKey, refreshToken, accessToken } = workspace;
  const values = { client_id: workspaceId, client_secret: oauthKey, refresh_token: refreshToken, token: accessToken };
  for (const [field, value] of Object.entries(values))
    if (value !== undefined && form.get(field)) form.set(field, value);
  return form.toString();
}

/** Of v2, which carries id and signature in its body. */
function swapPush({ body, path }: RecordedCall, { workspaceId, pushKey }: CheckedWorkspace): string | undefined {
  const push = path.startsWith('/v2/transaction/sendpush') ? readBody(body ?? '') : undefined;
  if (!isRecord(push) || workspaceId === undefined || pushKey === undefined) return body;
  const campaignName = String(push.campaignName);
  return JSON.stringify({
    ...push,
    appId: workspaceId,
    signature: signPush({ appId: workspaceId, campaignName, key: pushKey }),
  });
}

function campaignNameOf(body: string | undefined): string | undefined {
  const push = readBody(body ?? '');
  return isRecord(push) && typeof push.campaignName === 'string' ? push.campaignName : undefined;
}

type Header = { header: string; value: string; path: string; name: string | undefined };

function swapHeader({ header, value, path, name }: Header, workspace: CheckedWorkspace): string {
  const { workspaceId, dbName, pushKey, accessToken } = workspace;
  if (header.endsWith('-appkey')) return workspaceId ?? value;
  if (header.endsWith('-dbname')) return dbName ?? value;
  if (header.endsWith('-pushapi-signature') && workspaceId !== undefined && pushKey !== undefined && name !== undefined)
    return signPush({ appId: workspaceId, campaignName: name, key: pushKey });
  if (header !== 'authorization') return value;
  if (/^bearer /i.test(value)) return accessToken === undefined ? value : `Bearer ${accessToken}`;
  const key = /campaign|business/.test(path) ? workspace.campaignsKey : workspace.dataKey;
  if (workspaceId === undefined || key === undefined) return value;
  return `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`;
}
