import type { Encryption } from '../../domain/encryption.ts';
import { signPush } from '../../domain/signature/sign-push.ts';
import type { Database } from '../../storage/database.ts';
import { listPushSecrets } from '../keys/list-push-secrets.ts';

export type ReadyCurl = (input: { workspaceId: string; url: string }) => Promise<string | undefined>;

const campaignName = 'Hello from Carillon';

/**
 * A curl that sends a push to the demo's Ada and works however often it is pasted: for audience `User` a repeated name
 * joins the campaign (interface 2.8). Undefined when the workspace has no push key.
 */
export function makeReadyCurl(deps: {
  database: Database;
  encryption: Encryption;
  /** Abbreviation in the names of headers. */
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
