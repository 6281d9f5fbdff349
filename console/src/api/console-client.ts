import { makeAccountCalls } from './accounts.ts';
import { makeCallLogCalls } from './call-log.ts';
import { makeCampaignCalls } from './campaigns.ts';
import { makeComposerCalls } from './composer.ts';
import { makeConsoleCaller } from './console-caller.ts';
import { makeCredentialCalls } from './credentials.ts';
import { makeDeliveryCalls } from './deliveries.ts';
import { makeKeyCalls } from './keys.ts';
import { makeMessageCalls } from './messages.ts';
import { makeOverviewCalls } from './overview.ts';
import { makeSandboxCalls } from './sandbox.ts';
import { makeSegmentCalls } from './segments.ts';
import { makeSettingsCalls } from './settings.ts';
import { makeSystemCalls } from './system.ts';
import { makeUserCalls } from './users.ts';

export type ConsoleClient = ReturnType<typeof makeConsoleClient>;

/**
 * What the console asks its server, by noun. Answers have the types of the routes' shapes (`generated/`). A refusal is
 * thrown as CarillonError.
 */
export function makeConsoleClient({ fetch: request = fetch }: { fetch?: typeof fetch } = {}) {
  const caller = makeConsoleCaller(request);
  return {
    accounts: makeAccountCalls(caller),
    calls: makeCallLogCalls(caller),
    campaigns: makeCampaignCalls(caller),
    composer: makeComposerCalls(caller),
    credentials: makeCredentialCalls(caller),
    deliveries: makeDeliveryCalls(caller),
    keys: makeKeyCalls(caller),
    messages: makeMessageCalls(caller),
    overview: makeOverviewCalls(caller),
    sandbox: makeSandboxCalls(caller),
    segments: makeSegmentCalls(caller),
    settings: makeSettingsCalls(caller),
    system: makeSystemCalls(caller),
    users: makeUserCalls(caller),
  };
}
