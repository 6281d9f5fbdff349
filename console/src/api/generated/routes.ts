// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type {
  AccountList,
  AuditEntry,
  CompanySignIn,
  ConsoleAccount,
  ConsoleSession,
  Entrance,
  InvitationLink,
  OneTimeLink,
  OpenInvitation,
  OwnSession,
  Owner,
} from './accounts.ts';
import type { AgentTokenList, CreatedAgentToken } from './agent-tokens.ts';
import type { Alert, AlertSettings } from './alerts.ts';
import type { AppAccess, CreatedIdentityKey, Installation } from './app-access.ts';
import type { CallDetail, CallPage } from './calls.ts';
import type {
  CampaignList,
  CampaignProgress,
  CampaignReport,
  CampaignResults,
  CampaignRuns,
  CampaignTimeline,
  ChangedCampaign,
} from './campaign-answers.ts';
import type { CampaignFigures, NamedWinner } from './campaign-figures.ts';
import type { CampaignCalendar } from './campaigns.ts';
import type {
  AudienceCount,
  CampaignCheck,
  ComposerResources,
  LocalTimeCount,
  OpenHours,
  PreviewAnswer,
  TestResults,
} from './composer.ts';
import type { ConnectedCredential, ProviderCredentialState } from './credentials.ts';
import type { DeliveryDetail, DeliveryPage, ReportedDevicePage } from './deliveries.ts';
import type { DeadEventBatchList, EventStreamList } from './event-streams.ts';
import type { DeliveryExplanation } from './explain.ts';
import type { ConsoleKey, CreatedKey, RotatedKey } from './keys.ts';
import type { FirstSteps, InboxMessage, Overview, UserCounts, Week } from './overview.ts';
import type { PictureList, UploadedPicture } from './pictures.ts';
import type { Place } from './places.ts';
import type { AgentChange, ApprovedProposal, CreatedProposal, ProposalDetail, ProposalList } from './proposals.ts';
import type { SandboxState, VirtualDevice } from './sandbox.ts';
import type { FactorChange, NewAuthenticator, OwnFactors, PasskeyOptions, SecondStep } from './second-factors.ts';
import type {
  AcceptedUpload,
  AttributeTypes,
  CallbackDetail,
  CallbackPage,
  CampaignOfSegment,
  EmailDetail,
  EmailPage,
  FilterCount,
  FilterSample,
  FilterWords,
  KnownAttribute,
  SegmentDetail,
  SegmentList,
} from './segment-answers.ts';
import type { FixedSettings, WorkspaceSettings } from './settings.ts';
import type { Metrics, SystemState } from './system.ts';
import type { TemplateList } from './templates.ts';
import type { Topic, TopicList, UserTopics } from './topics.ts';
import type {
  AddedUser,
  Erasure,
  FoundUser,
  SuspectedDevicePage,
  TestUser,
  TimelinePage,
  User,
  UserPage,
} from './users.ts';
import type { SavedView, ViewList } from './views.ts';

/** The JSON response of each route; undefined if the response is not JSON. */
export type ConsoleAnswers = {
  'DELETE accounts/:id/second-factors': undefined;
  'DELETE agent-tokens/:id': undefined;
  'DELETE app-access/identity-keys/:id': undefined;
  'DELETE credentials/:provider': undefined;
  'DELETE invitations/:id': undefined;
  'DELETE own/agent-tokens/:id': undefined;
  'DELETE own/authenticator': undefined;
  'DELETE own/passkeys/:id': undefined;
  'DELETE own/sessions/:id': undefined;
  'DELETE people/:id/erasure': undefined;
  'DELETE pictures/:id': undefined;
  'DELETE session': undefined;
  'DELETE templates/:id': undefined;
  'DELETE topics/:key': undefined;
  'DELETE views/:screen/:id': undefined;
  'GET accounts': AccountList;
  'GET agent-tokens': AgentTokenList;
  'GET alerts': {
    alerts: Alert[];
  };
  'GET alerts/settings': {
    settings: AlertSettings;
  };
  'GET app-access': AppAccess;
  'GET audit': {
    entries: AuditEntry[];
  };
  'GET audit.csv': undefined;
  'GET calendar': CampaignCalendar;
  'GET callbacks': CallbackPage;
  'GET callbacks/:id': {
    callback: CallbackDetail;
  };
  'GET calls': CallPage;
  'GET calls/:id': {
    call: CallDetail;
  };
  'GET campaigns/:id': CampaignReport;
  'GET campaigns/:id/agent-change': AgentChange;
  'GET campaigns/:id/figures': CampaignFigures;
  'GET campaigns/:id/figures.csv': undefined;
  'GET campaigns/:id/progress': CampaignProgress;
  'GET campaigns/:id/progress/events': undefined;
  'GET campaigns/:id/reports': ReportedDevicePage;
  'GET campaigns/:id/results': CampaignResults;
  'GET campaigns/:id/runs': CampaignRuns;
  'GET campaigns/:id/timeline': CampaignTimeline;
  'GET company/callback': undefined;
  'GET composer': ComposerResources;
  'GET composer/open-hours': OpenHours;
  'GET credentials': {
    credentials: ProviderCredentialState[];
  };
  'GET deliveries': DeliveryPage;
  'GET deliveries.csv': undefined;
  'GET deliveries/:day/:bucket/:userId/:runId/:deviceRowId': {
    delivery: DeliveryDetail;
  };
  'GET entrance': Entrance;
  'GET event-streams': EventStreamList;
  'GET event-streams/:id/dead-batches': DeadEventBatchList;
  'GET explain': {
    explanation: DeliveryExplanation;
  };
  'GET inbox': {
    messages: InboxMessage[];
  };
  'GET installations': {
    installations: Installation[];
  };
  'GET keys': {
    keys: ConsoleKey[];
  };
  'GET mails': EmailPage;
  'GET mails/:id': {
    email: EmailDetail;
  };
  'GET metrics': Metrics;
  'GET overview': Overview;
  'GET overview/first-steps': FirstSteps;
  'GET overview/people': UserCounts;
  'GET overview/week': Week;
  'GET own/agent-tokens': AgentTokenList;
  'GET own/second-factors': OwnFactors;
  'GET own/sessions': {
    sessions: OwnSession[];
  };
  'GET owners': {
    owners: Owner[];
  };
  'GET people': {
    users: FoundUser[];
  };
  'GET people/:id': {
    user: User;
  };
  'GET people/:id/timeline': TimelinePage;
  'GET people/:id/topics': UserTopics;
  'GET people/for-tests': {
    users: TestUser[];
  };
  'GET people/list': UserPage;
  'GET people/suspected-devices': SuspectedDevicePage;
  'GET pictures': PictureList;
  'GET places': {
    places: Place[];
  };
  'GET proposals': ProposalList;
  'GET proposals/:id': ProposalDetail;
  'GET sandbox': SandboxState;
  'GET sandbox/devices': {
    devices: VirtualDevice[];
  };
  'GET second-factor': SecondStep;
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
  'GET segments/attribute-types': AttributeTypes;
  'GET segments/attribute-values': {
    values: string[];
  };
  'GET segments/attributes': {
    attributes: KnownAttribute[];
  };
  'GET segments/event-names': {
    names: string[];
  };
  'GET session': ConsoleSession;
  'GET settings': {
    settings: WorkspaceSettings;
  };
  'GET settings/fixed': FixedSettings;
  'GET system': SystemState;
  'GET templates': TemplateList;
  'GET topics': TopicList;
  'GET views/:screen': ViewList;
  'GET webhook-secret': {
    secret: string;
  };
  'PATCH campaigns/:id': ChangedCampaign;
  'PATCH own/passkeys/:id': undefined;
  'PATCH people/:id/attributes': undefined;
  'PATCH people/:id/topics': UserTopics;
  'PATCH templates/:id': undefined;
  'PATCH topics/:key': Topic;
  'POST accounts/:id/disable': {
    account: ConsoleAccount;
  };
  'POST accounts/:id/enable': {
    account: ConsoleAccount;
  };
  'POST accounts/:id/password-link': OneTimeLink;
  'POST alerts/test': undefined;
  'POST app-access/identity-keys': CreatedIdentityKey;
  'POST callbacks/:id/resend': {
    callback: CallbackDetail;
  };
  'POST campaigns': ChangedCampaign;
  'POST campaigns/:id/clone': ChangedCampaign;
  'POST campaigns/:id/pause': CampaignProgress;
  'POST campaigns/:id/proposals': CreatedProposal;
  'POST campaigns/:id/publish': ChangedCampaign;
  'POST campaigns/:id/recall': ChangedCampaign;
  'POST campaigns/:id/resume': CampaignProgress;
  'POST campaigns/:id/stop': CampaignProgress;
  'POST campaigns/:id/template': ChangedCampaign;
  'POST campaigns/search': CampaignList;
  'POST company': CompanySignIn;
  'POST composer/audience': AudienceCount;
  'POST composer/check': CampaignCheck;
  'POST composer/local-times': LocalTimeCount;
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
  'POST event-streams/:id/resend': {
    /** Due now. */
    batches: number;
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
  'POST own/agent-tokens': CreatedAgentToken;
  'POST own/authenticator': NewAuthenticator;
  'POST own/authenticator/confirmation': FactorChange;
  'POST own/passkeys': FactorChange;
  'POST own/passkeys/options': PasskeyOptions;
  'POST own/recovery-codes': FactorChange;
  'POST people': AddedUser;
  'POST people/:id/devices': undefined;
  'POST people/:id/devices/:deviceRowId/block': undefined;
  'POST people/:id/devices/:deviceRowId/keep': undefined;
  'POST people/:id/devices/:deviceRowId/opt-in': undefined;
  'POST people/:id/devices/:deviceRowId/opt-out': undefined;
  'POST people/:id/devices/:deviceRowId/remove': undefined;
  'POST people/:id/devices/:deviceRowId/unblock': undefined;
  'POST people/:id/erase': {
    erasure: Erasure;
  };
  'POST pictures': UploadedPicture;
  'POST preview': PreviewAnswer;
  'POST proposals/:id/approve': ApprovedProposal;
  'POST proposals/:id/refuse': undefined;
  'POST sandbox/clock': SandboxState;
  'POST sandbox/devices': {
    devices: VirtualDevice[];
  };
  'POST sandbox/empty': SandboxState;
  'POST sandbox/messages/:id/:kind': undefined;
  'POST sandbox/reset': SandboxState;
  'POST second-factor/code': undefined;
  'POST second-factor/passkey': undefined;
  'POST second-factor/passkey-options': PasskeyOptions;
  'POST segments/:id/archive': {
    segment: SegmentDetail;
  };
  'POST segments/:id/unarchive': {
    segment: SegmentDetail;
  };
  'POST segments/fetch': AcceptedUpload;
  'POST segments/filter': {
    id: string;
  };
  'POST segments/filter/count': FilterCount;
  'POST segments/filter/sample': FilterSample;
  'POST segments/filter/words': FilterWords;
  'POST segments/unmatched': {
    unmatched: number[];
  };
  'POST segments/upload': AcceptedUpload;
  'POST session': undefined;
  'POST session/password': undefined;
  'POST templates/:id/use': ChangedCampaign;
  'POST topics': Topic;
  'POST views/:screen': SavedView;
  'PUT accounts/:id/role': {
    account: ConsoleAccount;
  };
  'PUT alerts/settings': {
    settings: AlertSettings;
  };
  'PUT app-access': AppAccess;
  'PUT campaigns/:id/winner': NamedWinner;
  'PUT own/password': undefined;
  'PUT people/:id/test': undefined;
  'PUT sandbox/devices/:id': {
    devices: VirtualDevice[];
  };
  'PUT sandbox/faults': SandboxState;
  'PUT segments/:id/filter': {
    id: string;
  };
  'PUT settings': {
    settings: WorkspaceSettings;
  };
};
