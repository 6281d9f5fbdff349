import type { KeyKind } from '../../domain/access/keys.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { signPush } from '../../domain/crypto/signatures.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Database } from '../../storage/database.ts';
import { listPushSecrets } from './authenticate-key.ts';

export type KeyCurl = {
  kind: KeyKind;
  workspaceId: string;
  dbName: string;
  url: string;
  secret: string;
  /** Abbreviation in header names. */
  headerPrefix: string;
};

/**
 * Returns a typical call for a kind of key, ready to paste. The key is alone on the first line, so that it can be filled in
 * from elsewhere. A sent message only shows on the phone of the user `ada`.
 */
export function makeKeyCurl({ kind, workspaceId, dbName, url, secret, headerPrefix }: KeyCurl): string {
  const lines = (...parts: string[]): string => [`KEY='${secret}'`, parts.join(' \\\n  ')].join('\n');
  const prefix = headerPrefix.toUpperCase();
  switch (kind) {
    case 'oauth':
      return lines(
        `curl ${url}/v1/oauth/token`,
        '-d grant_type=client_credentials',
        `-d client_id=${workspaceId}`,
        '-d client_secret="$KEY"',
      );
    case 'data':
      return lines(
        `curl ${url}/v1/customer/${workspaceId}`,
        `-u "${workspaceId}:$KEY"`,
        `-H 'Content-Type: application/json'`,
        `-H '${prefix}-DBNAME: ${dbName}'`,
        `-d '{"type":"customer","customer_id":"ada","attributes":{"first_name":"Ada"}}'`,
      );
    case 'push':
      return [
        `KEY='${secret}'`,
        `SIGNATURE=$(printf '%s' "${workspaceId}|Hello from Carillon|$KEY" | openssl dgst -sha256 -r | cut -c1-64)`,
        [
          `curl ${url}/v2.1/transaction/sendpush`,
          `-H 'Content-Type: application/json'`,
          `-H 'X-${prefix}-APPKEY: ${workspaceId}'`,
          `-H "X-${prefix}-PushAPI-Signature: $SIGNATURE"`,
          `-H 'X-${prefix}-Query-Type: user'`,
          `-d '${JSON.stringify(pushToAda)}'`,
        ].join(' \\\n  '),
      ].join('\n');
    case 'campaigns':
      return lines(
        `curl ${url}/v5/campaigns/search`,
        `-u "${workspaceId}:$KEY"`,
        `-H 'Content-Type: application/json'`,
        `-d '{"limit":15,"page":1}'`,
      );
    case 'app':
      return lines(
        `curl ${url}/v1/app/installations`,
        '-H "Authorization: Bearer $KEY"',
        `-H "Carillon-Installation-Secret: $(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')"`,
        `-H 'Content-Type: application/json'`,
        `-d '{"installation_id":"my-first-installation","platform":"WEB"}'`,
      );
    default:
      return unknownCase(kind);
  }
}

const pushToAda = {
  campaignName: 'Hello from Carillon',
  targetPlatform: ['ANDROID'],
  targetAudience: 'User',
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ada' },
  payload: { ANDROID: { title: 'Hello Ada', message: 'Sent with a key of this workspace' } },
  campaignDelivery: { type: 'soon' },
};

export type ReadyCurl = (input: { workspaceId: string; url: string }) => Promise<string | undefined>;

const campaignName = 'Hello from Carillon';

/**
 * Returns a curl that sends a push to the demo's Ada and works each time it is pasted: for audience `User` a repeated name
 * joins the campaign (interface 2.8). Undefined if the workspace has no push key.
 */
export function makeReadyCurl(deps: {
  database: Database;
  encryption: Encryption;
  /** Abbreviation in header names. */
  headerPrefix: string;
}): ReadyCurl {
  const prefix = deps.headerPrefix.toUpperCase();
  return async ({ workspaceId, url }) => {
    const [key] = await listPushSecrets(deps, workspaceId);
    if (!key) return undefined;
    const body = {
      campaignName,
      targetPlatform: ['ANDROID'],
      targetAudience: 'User',
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ada' },
      payload: { ANDROID: { title: 'Hello Ada', message: 'Your first push from Carillon' } },
      campaignDelivery: { type: 'soon' },
    };
    return [
      `curl ${url}/v2.1/transaction/sendpush \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -H 'X-${prefix}-APPKEY: ${workspaceId}' \\`,
      `  -H 'X-${prefix}-PushAPI-Signature: ${signPush({ appId: workspaceId, campaignName, key: key.secret })}' \\`,
      `  -H 'X-${prefix}-Query-Type: user' \\`,
      `  -d '${JSON.stringify(body)}'`,
    ].join('\n');
  };
}
