import { setTimeout as wait } from 'node:timers/promises';
import { signPush } from '../../../src/domain/crypto/signatures.ts';
import { pushContent } from '../../rig/caller.ts';

export type PushLoad = {
  /** Response ids of what was accepted, with the time its reply came. */
  accepted: Map<string, number>;
  failed: string[];
  stop(): Promise<void>;
};

export type Caller = { workspaceId: string; pushKey: string };

/** Pushes to one user, one after another in several lanes, through the proxy; each has a name of its own. */
export function startPushLoad({ workspaceId, pushKey }: Caller, prefix: string): PushLoad {
  const load: PushLoad = { accepted: new Map(), failed: [], stop };
  let isStopped = false;
  let number = 0;

  async function send(): Promise<void> {
    const campaignName = `${prefix} ${(number += 1)}`;
    const body = {
      ...pushContent,
      ...{ campaignName, requestId: campaignName, targetAudience: 'User' },
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
        comparisonParameter: 'is',
        attributeValue: 'ada',
      },
    };
    try {
      const answer = await fetch('https://127.0.0.1/v2.1/transaction/sendpush', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-svc-appkey': workspaceId,
          'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: pushKey }),
          'x-svc-query-type': 'user',
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await answer.text();
      const read = answer.status === 200 ? (JSON.parse(text) as { status: string; responseId: string }) : undefined;
      if (read?.status === 'Success') load.accepted.set(read.responseId, Date.now());
      else load.failed.push(`${answer.status} ${text.slice(0, 200)}`);
    } catch (error) {
      load.failed.push(String((error as Error).cause ?? error));
    }
  }
  const lanes = Array.from({ length: 4 }, async () => {
    while (!isStopped) {
      await send();
      await wait(40);
    }
  });
  async function stop(): Promise<void> {
    isStopped = true;
    await Promise.all(lanes);
  }
  return load;
}
