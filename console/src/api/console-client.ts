import { makeAccountCalls } from './accounts.ts';
import { makeAlertCalls } from './alerts.ts';
import { makeCallLogCalls } from './calls.ts';
import { makeCampaignCalls } from './campaigns.ts';
import { makeComposerCalls } from './composer.ts';
import { makeConsoleCaller } from './console-caller.ts';
import { makeCredentialCalls } from './credentials.ts';
import { makeDeliveryCalls } from './deliveries.ts';
import { makeKeyCalls } from './keys.ts';
import { makeMessageCalls } from './messages.ts';
import { makeOverviewCalls } from './overview.ts';
import { makePlaceCalls } from './places.ts';
import { makeSandboxCalls } from './sandbox.ts';
import { makeSegmentCalls } from './segments.ts';
import { makeSettingsCalls } from './settings.ts';
import { makeStreamCalls } from './event-streams.ts';
import { makeSystemCalls } from './system.ts';
import { makeTemplateCalls } from './templates.ts';
import { makeUserCalls } from './users.ts';
import { makeViewCalls } from './views.ts';

export type ConsoleClient = ReturnType<typeof makeConsoleClient>;

/**
 * What the console asks its server, by noun. Answers have the types of the routes' shapes (`generated/`). A refusal is
 * thrown as CarillonError.
 */
export function makeConsoleClient({ fetch: request = fetch }: { fetch?: typeof fetch } = {}) {
  const caller = makeConsoleCaller(request);
  return {
    accounts: makeAccountCalls(caller),
    alerts: makeAlertCalls(caller),
    calls: makeCallLogCalls(caller),
    campaigns: makeCampaignCalls(caller),
    composer: makeComposerCalls(caller),
    credentials: makeCredentialCalls(caller),
    deliveries: makeDeliveryCalls(caller),
    keys: makeKeyCalls(caller),
    messages: makeMessageCalls(caller),
    overview: makeOverviewCalls(caller),
    places: makePlaceCalls(caller),
    sandbox: makeSandboxCalls(caller),
    segments: makeSegmentCalls(caller),
    settings: makeSettingsCalls(caller),
    streams: makeStreamCalls(caller),
    system: makeSystemCalls(caller),
    templates: makeTemplateCalls(caller),
    users: makeUserCalls(caller),
    views: makeViewCalls(caller),
  };
}
