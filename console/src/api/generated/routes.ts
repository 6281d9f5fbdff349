// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type {
  AccountList,
  AuditEntry,
  CompanySignIn,
  ConsoleAccount,
  Entrance,
  InvitationLink,
  OneTimeLink,
  OpenInvitation,
  OwnSession,
} from './account.ts';
import type { CallDetail, CallPage } from './call.ts';
import type {
  CampaignList,
  CampaignProgress,
  CampaignReport,
  CampaignResults,
  CampaignRuns,
  CampaignTimeline,
  ChangedCampaign,
} from './campaign.ts';
import type { AudienceCount, CampaignCheck, ComposerResources, PreviewAnswer, TestResults } from './composer.ts';
import type { ConnectedCredential, ProviderCredentialState } from './credential.ts';
import type { DeliveryDetail, DeliveryPage } from './delivery.ts';
import type { DeliveryExplanation } from './explain.ts';
import type { ConsoleKey, CreatedKey, RotatedKey } from './key.ts';
import type { CallbackDetail, CallbackPage, EmailDetail, EmailPage } from './message.ts';
import type { InboxMessage, Overview, UserCounts } from './overview.ts';
import type { SandboxState, VirtualDevice } from './sandbox.ts';
import type { AcceptedUpload, CampaignOfSegment, SegmentDetail, SegmentList } from './segment.ts';
import type { ConsoleSession } from './session.ts';
import type { FixedSettings, WorkspaceSettings } from './settings.ts';
import type { SystemState } from './system.ts';
import type { AddedUser, Erasure, FoundUser, TestUser, TimelinePage, User } from './user.ts';

/** What each route answers; undefined: no JSON. */
export type ConsoleAnswers = {
  'DELETE credentials/:provider': undefined;
  'DELETE invitations/:id': undefined;
  'DELETE own/sessions/:id': undefined;
  'DELETE session': undefined;
  'GET accounts': AccountList;
  'GET audit': {
    entries: AuditEntry[];
  };
  'GET callbacks': CallbackPage;
  'GET callbacks/:id': {
    callback: CallbackDetail;
  };
  'GET calls': CallPage;
  'GET calls/:id': {
    call: CallDetail;
  };
  'GET campaigns/:id': CampaignReport;
  'GET campaigns/:id/progress': CampaignProgress;
  'GET campaigns/:id/progress/events': undefined;
  'GET campaigns/:id/results': CampaignResults;
  'GET campaigns/:id/runs': CampaignRuns;
  'GET campaigns/:id/timeline': CampaignTimeline;
  'GET company/callback': undefined;
  'GET composer': ComposerResources;
  'GET credentials': {
    credentials: ProviderCredentialState[];
  };
  'GET deliveries': DeliveryPage;
  'GET deliveries.csv': undefined;
  'GET deliveries/:day/:bucket/:userId/:runId/:deviceRowId': {
    delivery: DeliveryDetail;
  };
  'GET entrance': Entrance;
  'GET explain': {
    explanation: DeliveryExplanation;
  };
  'GET inbox': {
    messages: InboxMessage[];
  };
  'GET keys': {
    keys: ConsoleKey[];
  };
  'GET mails': EmailPage;
  'GET mails/:id': {
    email: EmailDetail;
  };
  'GET overview': Overview;
  'GET overview/people': UserCounts;
  'GET own/sessions': {
    sessions: OwnSession[];
  };
  'GET people': {
    users: FoundUser[];
  };
  'GET people/:id': {
    user: User;
  };
  'GET people/:id/timeline': TimelinePage;
  'GET people/for-tests': {
    users: TestUser[];
  };
  'GET sandbox': SandboxState;
  'GET sandbox/devices': {
    devices: VirtualDevice[];
  };
  'GET segments': SegmentList;
  'GET segments/:id': {
    segment: SegmentDetail;
  };
  'GET segments/:id/campaigns': {
    campaigns: CampaignOfSegment[];
  };
  'GET segments/:id/members': {
    customerIds: string[];
  };
  'GET segments/:id/operations/:operationId/rejects.csv': undefined;
  'GET session': ConsoleSession;
  'GET settings': {
    settings: WorkspaceSettings;
  };
  'GET settings/fixed': FixedSettings;
  'GET system': SystemState;
  'GET webhook-secret': {
    secret: string;
  };
  'PATCH campaigns/:id': ChangedCampaign;
  'PATCH people/:id/attributes': undefined;
  'POST accounts/:id/disable': {
    account: ConsoleAccount;
  };
  'POST accounts/:id/enable': {
    account: ConsoleAccount;
  };
  'POST accounts/:id/password-link': OneTimeLink;
  'POST callbacks/:id/resend': {
    callback: CallbackDetail;
  };
  'POST campaigns': ChangedCampaign;
  'POST campaigns/:id/clone': ChangedCampaign;
  'POST campaigns/:id/pause': CampaignProgress;
  'POST campaigns/:id/publish': ChangedCampaign;
  'POST campaigns/:id/resume': CampaignProgress;
  'POST campaigns/:id/stop': CampaignProgress;
  'POST campaigns/search': CampaignList;
  'POST company': CompanySignIn;
  'POST composer/audience': AudienceCount;
  'POST composer/check': CampaignCheck;
  'POST composer/test': {
    results: TestResults;
  };
  'POST credentials': {
    connected: ConnectedCredential;
  };
  'POST credentials/:provider/check': {
    connected: ConnectedCredential;
  };
  'POST credentials/:provider/simulator': {
    connected: ConnectedCredential;
  };
  'POST first-owner': undefined;
  'POST invitation': OpenInvitation;
  'POST invitation/acceptance': undefined;
  'POST invitations': InvitationLink;
  'POST keys': CreatedKey;
  'POST keys/:id/revoke': undefined;
  'POST keys/:id/rotate': RotatedKey;
  'POST mails/:id/resend': {
    email: EmailDetail;
  };
  'POST new-password': undefined;
  'POST people': AddedUser;
  'POST people/:id/devices': undefined;
  'POST people/:id/devices/:deviceRowId/block': undefined;
  'POST people/:id/devices/:deviceRowId/opt-in': undefined;
  'POST people/:id/devices/:deviceRowId/opt-out': undefined;
  'POST people/:id/devices/:deviceRowId/remove': undefined;
  'POST people/:id/devices/:deviceRowId/unblock': undefined;
  'POST people/:id/erase': {
    erasure: Erasure;
  };
  'POST preview': PreviewAnswer;
  'POST sandbox/clock': SandboxState;
  'POST sandbox/devices': {
    devices: VirtualDevice[];
  };
  'POST sandbox/empty': SandboxState;
  'POST sandbox/messages/:id/:kind': undefined;
  'POST sandbox/reset': SandboxState;
  'POST segments/:id/archive': {
    segment: SegmentDetail;
  };
  'POST segments/:id/unarchive': {
    segment: SegmentDetail;
  };
  'POST segments/fetch': AcceptedUpload;
  'POST segments/upload': AcceptedUpload;
  'POST session': undefined;
  'POST session/password': undefined;
  'PUT accounts/:id/role': {
    account: ConsoleAccount;
  };
  'PUT own/password': undefined;
  'PUT people/:id/test': undefined;
  'PUT sandbox/devices/:id': {
    devices: VirtualDevice[];
  };
  'PUT sandbox/faults': SandboxState;
  'PUT settings': {
    settings: WorkspaceSettings;
  };
};
