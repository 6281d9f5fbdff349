// Generated from the OpenAPI document by `npm run client:types`; edits are lost.

import type {
  App,
  AppAccess,
  AppAccessRequest,
  AppEvents,
  AppEventsRequest,
  AppReceipts,
  AppReceiptsRequest,
  AppRequest,
  Apps,
  BusinessEventCreated,
  BusinessEventRequest,
  BusinessEventSearchV1,
  BusinessEventSearchV5,
  BusinessEventTriggerV1,
  BusinessEventTriggerV5,
  BusinessEventTriggeredV1,
  BusinessEventTriggeredV5,
  BusinessEventsV1,
  BusinessEventsV5,
  CampaignAnswerV5,
  CampaignChangeV1,
  CampaignChangedAnswer,
  CampaignCreatedV1,
  CampaignDraftAnswer,
  CampaignDraftChange,
  CampaignDraftRequest,
  CampaignInboxFigures,
  CampaignMetaListV1,
  CampaignMetaListV5,
  CampaignMetaSearchV5,
  CampaignPreview,
  CampaignPreviewRequest,
  CampaignRequestV1,
  CampaignSearchV1,
  CampaignSearchV5,
  CampaignStats,
  CampaignStatusAnswer,
  CampaignStatusRequestV1,
  CampaignStatusRequestV5,
  CampaignTestAnswerV1,
  CampaignTestAnswerV5,
  CampaignTestRequestV1,
  CampaignTestRequestV5,
  CampaignValidation,
  CampaignWinner,
  CampaignWinnerRequest,
  CampaignsChangedV1,
  CampaignsFoundV1,
  CampaignsFoundV5,
  CohortRequest,
  ConnectionTestAnswer,
  ConnectionTestRequest,
  CustomerRequest,
  DataAccepted,
  DeadEventBatches,
  DeleteRequest,
  DeliveryExplanation,
  DeviceBlockRequest,
  DeviceRequest,
  EventBatchResend,
  EventBatchesResent,
  EventRequest,
  EventStreamAnswer,
  EventStreamChange,
  EventStreamCreate,
  EventStreamCreated,
  EventStreamRemoved,
  EventStreams,
  ExecutionsPageV1,
  ExecutionsPageV5,
  ExecutionsV1,
  ExecutionsV5,
  ExportAnswer,
  ExportRequest,
  FileSegmentChange,
  FileSegmentRequest,
  FilterSegmentChange,
  FilterSegmentRequest,
  Health,
  IdentityKey,
  IdentityKeyRequest,
  IdentityRequest,
  Inbox,
  InboxMarkRequest,
  InboxUnread,
  Installation,
  InstallationChanges,
  InstallationRequest,
  InteractionReport,
  JourneyAnswer,
  JourneyChange,
  JourneyCreate,
  JourneyEntered,
  JourneyEntries,
  JourneyFigures,
  JourneyHistory,
  JourneyPublish,
  JourneyRemoved,
  JourneyUsers,
  JourneyValidation,
  Journeys,
  LiveActivity,
  LiveActivityEvent,
  LiveActivityEventRequest,
  LiveActivityTokens,
  LiveActivityTokensRequest,
  MergeAnswer,
  MergeRequest,
  PreferenceLink,
  PreferenceLinkRequest,
  PushAnswer,
  PushRequestV2,
  PushRequestV21,
  ReportFileRequest,
  ReportFileRequested,
  ReportFiles,
  SandboxBrowserDevice,
  SandboxClock,
  SandboxClockMove,
  SandboxCounters,
  SandboxDemo,
  SandboxFaults,
  SandboxInbox,
  SandboxRefusals,
  SandboxRegisteredDevice,
  SegmentAccepted,
  SegmentAnswer,
  SegmentList,
  SegmentName,
  SourceAccepted,
  SourceAlias,
  SourceBatch,
  SourceGroup,
  SourceIdentify,
  SourcePage,
  SourceScreen,
  SourceTrack,
  StatsRequest,
  Topic,
  TopicChange,
  TopicRequest,
  Topics,
  TransitionRequest,
  UserTopics,
  UserTopicsRequest,
} from './shapes.ts';

/** How each operation is called. `*` stands for the abbreviation of the installation. */
export const operations = {
  sendPushV21: {
    method: 'POST',
    path: '/v2.1/transaction/sendpush',
    family: 'Push',
    key: 'none',
    query: [],
    headers: ['X-*-APPKEY', 'Idempotency-Key'],
  },
  sendPushV21Priority: {
    method: 'POST',
    path: '/v2.1/transaction/sendpush/priority',
    family: 'Push',
    key: 'none',
    query: [],
    headers: ['X-*-APPKEY', 'Idempotency-Key'],
  },
  sendPushV2: {
    method: 'POST',
    path: '/v2/transaction/sendpush',
    family: 'Push',
    key: 'none',
    query: [],
    headers: ['Idempotency-Key'],
  },
  sendPushV2Priority: {
    method: 'POST',
    path: '/v2/transaction/sendpush/priority',
    family: 'Push',
    key: 'none',
    query: [],
    headers: ['Idempotency-Key'],
  },
  upsertCustomer: {
    method: 'POST',
    path: '/v1/customer/{app_id}',
    family: 'Data',
    key: 'data',
    query: [],
    headers: ['Idempotency-Key'],
  },
  upsertDevice: {
    method: 'POST',
    path: '/v1/device/{app_id}',
    family: 'Data',
    key: 'data',
    query: [],
    headers: ['Idempotency-Key'],
  },
  trackEvents: {
    method: 'POST',
    path: '/v1/event/{workspace_id}',
    family: 'Data',
    key: 'data',
    query: [],
    headers: ['Idempotency-Key'],
  },
  importInBulk: {
    method: 'POST',
    path: '/v1/transition/{workspace_id}',
    family: 'Data',
    key: 'data',
    query: [],
    headers: ['Idempotency-Key'],
  },
  upsertCustomerByQuery: {
    method: 'POST',
    path: '/v1/customer',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  upsertDeviceByQuery: {
    method: 'POST',
    path: '/v1/device',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  trackEventsByQuery: {
    method: 'POST',
    path: '/v1/event',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  importInBulkByQuery: {
    method: 'POST',
    path: '/v1/transition',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  blockDevices: {
    method: 'POST',
    path: '/v1/devices/manage',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  exportCustomers: {
    method: 'POST',
    path: '/v1/customers/export',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: [],
  },
  mergeCustomers: {
    method: 'POST',
    path: '/v1/customer/merge',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  deleteCustomer: {
    method: 'POST',
    path: '/v1/customer/delete',
    family: 'Data',
    key: 'data',
    query: ['app_id'],
    headers: ['Idempotency-Key'],
  },
  testConnection: {
    method: 'POST',
    path: '/v1/integrations/authentication',
    family: 'Data',
    key: 'none',
    query: [],
    headers: ['*-APPKEY'],
  },
  sourceIdentify: {
    method: 'POST',
    path: '/segment/v1/identify',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourceTrack: {
    method: 'POST',
    path: '/segment/v1/track',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourcePage: {
    method: 'POST',
    path: '/segment/v1/page',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourceScreen: {
    method: 'POST',
    path: '/segment/v1/screen',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourceGroup: {
    method: 'POST',
    path: '/segment/v1/group',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourceAlias: {
    method: 'POST',
    path: '/segment/v1/alias',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  sourceBatch: {
    method: 'POST',
    path: '/segment/v1/batch',
    family: 'Segment source',
    key: 'none',
    query: [],
    headers: [],
  },
  createFileSegment: {
    method: 'POST',
    path: '/v2/custom-segments/file-segment',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME', 'Idempotency-Key'],
  },
  addUsersOfFile: {
    method: 'PUT',
    path: '/v2/custom-segments/file-segment/add-users',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME', 'Idempotency-Key'],
  },
  removeUsersOfFile: {
    method: 'PUT',
    path: '/v2/custom-segments/file-segment/remove-users',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME', 'Idempotency-Key'],
  },
  replaceUsersByFile: {
    method: 'PUT',
    path: '/v2/custom-segments/file-segment/replace',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME', 'Idempotency-Key'],
  },
  archiveSegment: {
    method: 'PATCH',
    path: '/v2/custom-segments/archive',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME'],
  },
  unarchiveSegment: {
    method: 'PATCH',
    path: '/v2/custom-segments/unarchive',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-DBNAME'],
  },
  listSegments: {
    method: 'GET',
    path: '/v3/custom-segments',
    family: 'Segments',
    key: 'data',
    query: ['name'],
    headers: ['*-APPKEY', '*-DBNAME'],
  },
  createFilterSegment: {
    method: 'POST',
    path: '/v3/custom-segments',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-APPKEY', '*-DBNAME', 'Idempotency-Key'],
  },
  getSegment: {
    method: 'GET',
    path: '/v3/custom-segments/{id}',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-APPKEY', '*-DBNAME'],
  },
  changeFilterSegment: {
    method: 'PATCH',
    path: '/v3/custom-segments/{id}',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-APPKEY', '*-DBNAME'],
  },
  syncCohort: {
    method: 'POST',
    path: '/v1/integrations/cohortsync',
    family: 'Segments',
    key: 'data',
    query: [],
    headers: ['*-APPKEY'],
  },
  createCampaignV1: {
    method: 'POST',
    path: '/v1/campaigns',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  changeCampaignV1: {
    method: 'PATCH',
    path: '/v1/campaigns/{id}',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  changeCampaignStatusV1: {
    method: 'POST',
    path: '/v1/campaigns/status',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  testCampaignV1: {
    method: 'POST',
    path: '/v1/campaigns/test',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  listCampaignMetaV1: {
    method: 'POST',
    path: '/v1/campaigns/meta',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  searchCampaignsV1: {
    method: 'POST',
    path: '/v1/campaigns/search',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  listExecutionsV1: {
    method: 'POST',
    path: '/v1/campaigns/{parent_id}/executions',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  createCampaignV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  changeCampaignV1CoreServices: {
    method: 'PATCH',
    path: '/core-services/v1/campaigns/{id}',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  changeCampaignStatusV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns/status',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  testCampaignV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns/test',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  listCampaignMetaV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns/meta',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  searchCampaignsV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns/search',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  listExecutionsV1CoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaigns/{parent_id}/executions',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  createCampaign: {
    method: 'POST',
    path: '/v5/campaigns',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  testCampaign: {
    method: 'POST',
    path: '/v5/campaigns/test',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  previewCampaign: {
    method: 'POST',
    path: '/v5/campaigns/preview',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  changeCampaign: {
    method: 'PATCH',
    path: '/v5/campaigns/{id}',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  getCampaign: {
    method: 'GET',
    path: '/v5/campaigns/{id}',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  changeCampaignStatus: {
    method: 'PATCH',
    path: '/v5/campaigns/{id}/status',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  searchCampaigns: {
    method: 'POST',
    path: '/v5/campaigns/search',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  listCampaignMeta: {
    method: 'POST',
    path: '/v5/campaigns/meta',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  listExecutions: {
    method: 'POST',
    path: '/v5/campaigns/{parent_campaign_id}/executions',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  validateCampaign: {
    method: 'POST',
    path: '/v5/campaigns/{id}/validate',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  getCampaignWinner: {
    method: 'GET',
    path: '/v5/campaigns/{id}/winner',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  nameCampaignWinner: {
    method: 'PUT',
    path: '/v5/campaigns/{id}/winner',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  takeBackCampaignWinner: {
    method: 'DELETE',
    path: '/v5/campaigns/{id}/winner',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  createBusinessEvent: {
    method: 'POST',
    path: '/v1.0/business_event',
    family: 'Business events',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  triggerBusinessEventV1: {
    method: 'POST',
    path: '/v1.0/business_event/trigger',
    family: 'Business events',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  searchBusinessEventsV1: {
    method: 'POST',
    path: '/v1.0/business_event/search',
    family: 'Business events',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  triggerBusinessEvent: {
    method: 'POST',
    path: '/v5/business-events/triggers',
    family: 'Business events',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  listBusinessEvents: {
    method: 'GET',
    path: '/v5/business-events',
    family: 'Business events',
    key: 'campaigns',
    query: ['limit', 'cursor'],
    headers: ['*-APPKEY'],
  },
  searchBusinessEvents: {
    method: 'POST',
    path: '/v5/business-events/search',
    family: 'Business events',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  listApps: { method: 'GET', path: '/v1/apps', family: 'Apps', key: 'data', query: [], headers: [] },
  readApp: { method: 'GET', path: '/v1/apps/{app}', family: 'Apps', key: 'data', query: ['platform'], headers: [] },
  putApp: { method: 'PUT', path: '/v1/apps/{app}', family: 'Apps', key: 'data', query: [], headers: [] },
  removeApp: {
    method: 'DELETE',
    path: '/v1/apps/{app}',
    family: 'Apps',
    key: 'data',
    query: ['platform'],
    headers: [],
  },
  readAppAccess: { method: 'GET', path: '/v1/app-access', family: 'Apps', key: 'data', query: [], headers: [] },
  putAppAccess: { method: 'PUT', path: '/v1/app-access', family: 'Apps', key: 'data', query: [], headers: [] },
  addIdentityKey: {
    method: 'POST',
    path: '/v1/app-access/identity-keys',
    family: 'Apps',
    key: 'data',
    query: [],
    headers: [],
  },
  removeIdentityKey: {
    method: 'DELETE',
    path: '/v1/app-access/identity-keys/{kid}',
    family: 'Apps',
    key: 'data',
    query: [],
    headers: [],
  },
  listTopics: { method: 'GET', path: '/v1/topics', family: 'Topics', key: 'data', query: [], headers: [] },
  createTopic: { method: 'POST', path: '/v1/topics', family: 'Topics', key: 'data', query: [], headers: [] },
  readTopic: { method: 'GET', path: '/v1/topics/{topic}', family: 'Topics', key: 'data', query: [], headers: [] },
  changeTopic: { method: 'PATCH', path: '/v1/topics/{topic}', family: 'Topics', key: 'data', query: [], headers: [] },
  removeTopic: { method: 'DELETE', path: '/v1/topics/{topic}', family: 'Topics', key: 'data', query: [], headers: [] },
  readUserTopics: {
    method: 'GET',
    path: '/v1/users/{customer_id}/topics',
    family: 'Topics',
    key: 'data',
    query: [],
    headers: [],
  },
  setUserTopics: {
    method: 'PATCH',
    path: '/v1/users/{customer_id}/topics',
    family: 'Topics',
    key: 'data',
    query: [],
    headers: [],
  },
  makePreferenceLink: {
    method: 'POST',
    path: '/v1/users/{customer_id}/preference_link',
    family: 'Topics',
    key: 'data',
    query: [],
    headers: [],
  },
  registerInstallation: {
    method: 'POST',
    path: '/v1/app/installations',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  updateInstallation: {
    method: 'PATCH',
    path: '/v1/app/installations/{id}',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  identifyInstallation: {
    method: 'POST',
    path: '/v1/app/installations/{id}/identify',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  logoutInstallation: {
    method: 'POST',
    path: '/v1/app/installations/{id}/logout',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  readInstallationTopics: {
    method: 'GET',
    path: '/v1/app/installations/{id}/topics',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  setInstallationTopics: {
    method: 'PATCH',
    path: '/v1/app/installations/{id}/topics',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  readInstallationInbox: {
    method: 'GET',
    path: '/v1/app/installations/{id}/inbox',
    family: 'Apps of phones and sites',
    key: 'none',
    query: ['limit', 'cursor', 'tag', 'archived'],
    headers: [],
  },
  markInstallationInbox: {
    method: 'PATCH',
    path: '/v1/app/installations/{id}/inbox',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  countInstallationInbox: {
    method: 'GET',
    path: '/v1/app/installations/{id}/inbox/unread',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  reportAppEvents: {
    method: 'POST',
    path: '/v1/app/events',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  reportAppReceipts: {
    method: 'POST',
    path: '/v1/app/receipts',
    family: 'Apps of phones and sites',
    key: 'none',
    query: [],
    headers: [],
  },
  readCampaignInbox: {
    method: 'GET',
    path: '/v5/campaigns/{id}/inbox',
    family: 'Campaigns',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  explainDelivery: {
    method: 'GET',
    path: '/v5/campaigns/{id}/explain',
    family: 'Campaigns',
    key: 'campaigns',
    query: ['customer_id', 'run_id'],
    headers: ['*-APPKEY'],
  },
  listEventStreams: {
    method: 'GET',
    path: '/v1/event-streams',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY'],
  },
  createEventStream: {
    method: 'POST',
    path: '/v1/event-streams',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  getEventStream: {
    method: 'GET',
    path: '/v1/event-streams/{id}',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY'],
  },
  changeEventStream: {
    method: 'PATCH',
    path: '/v1/event-streams/{id}',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY'],
  },
  removeEventStream: {
    method: 'DELETE',
    path: '/v1/event-streams/{id}',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY'],
  },
  listDeadEventBatches: {
    method: 'GET',
    path: '/v1/event-streams/{id}/dead-batches',
    family: 'Event streams',
    key: 'data',
    query: ['limit', 'before'],
    headers: ['*-APPKEY'],
  },
  resendDeadEventBatches: {
    method: 'POST',
    path: '/v1/event-streams/{id}/dead-batches/resend',
    family: 'Event streams',
    key: 'data',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  listJourneys: {
    method: 'GET',
    path: '/v1/journeys',
    family: 'Journeys',
    key: 'campaigns',
    query: ['status', 'name', 'created_from', 'created_before', 'limit', 'cursor'],
    headers: ['*-APPKEY'],
  },
  createJourney: {
    method: 'POST',
    path: '/v1/journeys',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  getJourney: {
    method: 'GET',
    path: '/v1/journeys/{id}',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  changeJourney: {
    method: 'PATCH',
    path: '/v1/journeys/{id}',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  removeJourney: {
    method: 'DELETE',
    path: '/v1/journeys/{id}',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  validateJourney: {
    method: 'GET',
    path: '/v1/journeys/{id}/validation',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  publishJourney: {
    method: 'POST',
    path: '/v1/journeys/{id}/publish',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  pauseJourney: {
    method: 'POST',
    path: '/v1/journeys/{id}/pause',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  resumeJourney: {
    method: 'POST',
    path: '/v1/journeys/{id}/resume',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  stopJourney: {
    method: 'POST',
    path: '/v1/journeys/{id}/stop',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  enterJourney: {
    method: 'POST',
    path: '/v1/journeys/{id}/entries',
    family: 'Journeys',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  readJourneyFigures: {
    method: 'GET',
    path: '/v1/journeys/{id}/figures',
    family: 'Journeys',
    key: 'campaigns',
    query: ['from', 'to'],
    headers: ['*-APPKEY'],
  },
  listUsersAtStep: {
    method: 'GET',
    path: '/v1/journeys/{id}/steps/{step}/users',
    family: 'Journeys',
    key: 'campaigns',
    query: ['limit', 'cursor'],
    headers: ['*-APPKEY'],
  },
  readJourneyHistory: {
    method: 'GET',
    path: '/v1/journeys/{id}/history',
    family: 'Journeys',
    key: 'campaigns',
    query: ['customer_id'],
    headers: ['*-APPKEY'],
  },
  readCampaignStats: {
    method: 'POST',
    path: '/v1/campaign-stats',
    family: 'Statistics',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  readCampaignStatsCoreServices: {
    method: 'POST',
    path: '/core-services/v1/campaign-stats',
    family: 'Statistics',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  requestReportFile: {
    method: 'POST',
    path: '/v1/campaign-reports',
    family: 'Statistics',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY', 'Idempotency-Key'],
  },
  listReportFiles: {
    method: 'GET',
    path: '/v1/campaign-reports',
    family: 'Statistics',
    key: 'campaigns',
    query: [],
    headers: ['*-APPKEY'],
  },
  sendLiveActivityEvent: {
    method: 'POST',
    path: '/v1/live-activities',
    family: 'Live Activities',
    key: 'push',
    query: [],
    headers: ['Idempotency-Key'],
  },
  addLiveActivityTokens: {
    method: 'PUT',
    path: '/v1/live-activities/{id}/tokens',
    family: 'Live Activities',
    key: 'push',
    query: [],
    headers: [],
  },
  readLiveActivity: {
    method: 'GET',
    path: '/v1/live-activities/{id}',
    family: 'Live Activities',
    key: 'push',
    query: ['app'],
    headers: [],
  },
  reportInteraction: {
    method: 'POST',
    path: '/v1/interactions',
    family: 'Interactions',
    key: 'none',
    query: [],
    headers: [],
  },
  readInbox: {
    method: 'GET',
    path: '/sandbox/inbox',
    family: 'Sandbox',
    key: 'none',
    query: ['workspaceId', 'after', 'limit', 'wait'],
    headers: [],
  },
  clearInbox: { method: 'DELETE', path: '/sandbox/inbox', family: 'Sandbox', key: 'none', query: [], headers: [] },
  resetSandbox: { method: 'POST', path: '/sandbox/reset', family: 'Sandbox', key: 'none', query: [], headers: [] },
  readCounters: { method: 'GET', path: '/sandbox/counters', family: 'Sandbox', key: 'none', query: [], headers: [] },
  listRefusals: {
    method: 'GET',
    path: '/sandbox/refusals',
    family: 'Sandbox',
    key: 'none',
    query: ['limit'],
    headers: [],
  },
  readClock: { method: 'GET', path: '/sandbox/clock', family: 'Sandbox', key: 'none', query: [], headers: [] },
  moveClock: { method: 'POST', path: '/sandbox/clock', family: 'Sandbox', key: 'none', query: [], headers: [] },
  setFaults: { method: 'POST', path: '/sandbox/faults', family: 'Sandbox', key: 'none', query: [], headers: [] },
  registerBrowser: {
    method: 'POST',
    path: '/sandbox/browser/devices',
    family: 'Sandbox',
    key: 'none',
    query: [],
    headers: [],
  },
  readLiveness: { method: 'GET', path: '/livez', family: 'Health', key: 'none', query: [], headers: [] },
  readReadiness: { method: 'GET', path: '/readyz', family: 'Health', key: 'none', query: ['verbose'], headers: [] },
} as const;

/** What each operation takes and gives. What the client fills in itself is no parameter. */
export type Operations = {
  /** Create and send a push campaign, v2.1 */
  sendPushV21: {
    parameters: Record<never, never>;
    body: PushRequestV21;
    reply: PushAnswer;
  };
  /** Create and send a push campaign, v2.1 */
  sendPushV21Priority: {
    parameters: Record<never, never>;
    body: PushRequestV21;
    reply: PushAnswer;
  };
  /** Create and send a push campaign, v2 */
  sendPushV2: {
    parameters: Record<never, never>;
    body: PushRequestV2;
    reply: PushAnswer;
  };
  /** Create and send a push campaign, v2 */
  sendPushV2Priority: {
    parameters: Record<never, never>;
    body: PushRequestV2;
    reply: PushAnswer;
  };
  /** Create or update a user */
  upsertCustomer: {
    parameters: Record<never, never>;
    body: CustomerRequest;
    reply: DataAccepted;
  };
  /** Create or update a device of a user */
  upsertDevice: {
    parameters: Record<never, never>;
    body: DeviceRequest;
    reply: DataAccepted;
  };
  /** Track events of a user */
  trackEvents: {
    parameters: Record<never, never>;
    body: EventRequest;
    reply: DataAccepted;
  };
  /** Import users, devices and events in bulk */
  importInBulk: {
    parameters: Record<never, never>;
    body: TransitionRequest;
    reply: DataAccepted;
  };
  /** Create or update a user */
  upsertCustomerByQuery: {
    parameters: Record<never, never>;
    body: CustomerRequest;
    reply: DataAccepted;
  };
  /** Create or update a device of a user */
  upsertDeviceByQuery: {
    parameters: Record<never, never>;
    body: DeviceRequest;
    reply: DataAccepted;
  };
  /** Track events of a user */
  trackEventsByQuery: {
    parameters: Record<never, never>;
    body: EventRequest;
    reply: DataAccepted;
  };
  /** Import users, devices and events in bulk */
  importInBulkByQuery: {
    parameters: Record<never, never>;
    body: TransitionRequest;
    reply: DataAccepted;
  };
  /** Block a user's devices, or unblock them */
  blockDevices: {
    parameters: Record<never, never>;
    body: DeviceBlockRequest;
    reply: DataAccepted;
  };
  /** Get users with their attributes, up to 20 */
  exportCustomers: {
    parameters: Record<never, never>;
    body: ExportRequest;
    reply: ExportAnswer;
  };
  /** Merge users into others, up to 50 */
  mergeCustomers: {
    parameters: Record<never, never>;
    body: MergeRequest;
    reply: MergeAnswer;
  };
  /** Delete a user and all data about the user */
  deleteCustomer: {
    parameters: Record<never, never>;
    body: DeleteRequest;
    reply: DataAccepted;
  };
  /** Test the credentials of an integration */
  testConnection: {
    parameters: Record<never, never>;
    body: ConnectionTestRequest;
    reply: ConnectionTestAnswer;
  };
  /** Set attributes of a user */
  sourceIdentify: {
    parameters: Record<never, never>;
    body: SourceIdentify;
    reply: SourceAccepted;
  };
  /** Track an event of a user */
  sourceTrack: {
    parameters: Record<never, never>;
    body: SourceTrack;
    reply: SourceAccepted;
  };
  /** Track the event Page Viewed */
  sourcePage: {
    parameters: Record<never, never>;
    body: SourcePage;
    reply: SourceAccepted;
  };
  /** Track the event Screen Viewed */
  sourceScreen: {
    parameters: Record<never, never>;
    body: SourceScreen;
    reply: SourceAccepted;
  };
  /** Set the group of a user */
  sourceGroup: {
    parameters: Record<never, never>;
    body: SourceGroup;
    reply: SourceAccepted;
  };
  /** Give a user another id */
  sourceAlias: {
    parameters: Record<never, never>;
    body: SourceAlias;
    reply: SourceAccepted;
  };
  /** Send up to 2,500 messages */
  sourceBatch: {
    parameters: Record<never, never>;
    body: SourceBatch;
    reply: SourceAccepted;
  };
  /** Create a segment from a file */
  createFileSegment: {
    parameters: Record<never, never>;
    body: FileSegmentRequest;
    reply: SegmentAccepted;
  };
  /** Add the users of a file to a segment */
  addUsersOfFile: {
    parameters: Record<never, never>;
    body: FileSegmentChange;
    reply: SegmentAccepted;
  };
  /** Remove the users of a file from a segment */
  removeUsersOfFile: {
    parameters: Record<never, never>;
    body: FileSegmentChange;
    reply: SegmentAccepted;
  };
  /** Replace the users of a segment by those of a file */
  replaceUsersByFile: {
    parameters: Record<never, never>;
    body: FileSegmentChange;
    reply: SegmentAccepted;
  };
  /** Archive a segment */
  archiveSegment: {
    parameters: Record<never, never>;
    body: SegmentName;
    reply: SegmentAccepted;
  };
  /** Make an archived segment active again */
  unarchiveSegment: {
    parameters: Record<never, never>;
    body: SegmentName;
    reply: SegmentAccepted;
  };
  /** List segments, or find one by its exact name */
  listSegments: {
    parameters: { name?: string };
    body: undefined;
    reply: SegmentList;
  };
  /** Create a filter segment */
  createFilterSegment: {
    parameters: Record<never, never>;
    body: FilterSegmentRequest;
    reply: SegmentAnswer;
  };
  /** Get a segment */
  getSegment: {
    parameters: { id: string };
    body: undefined;
    reply: SegmentAnswer;
  };
  /** Change a filter segment */
  changeFilterSegment: {
    parameters: { id: string };
    body: FilterSegmentChange;
    reply: SegmentAnswer;
  };
  /** Add members to a partner's segment, or remove them */
  syncCohort: {
    parameters: Record<never, never>;
    body: CohortRequest;
    reply: DataAccepted;
  };
  /** Create a campaign that is live at once, V1 */
  createCampaignV1: {
    parameters: Record<never, never>;
    body: CampaignRequestV1;
    reply: CampaignCreatedV1;
  };
  /** Change a campaign, or publish a draft, V1 */
  changeCampaignV1: {
    parameters: { id: string };
    body: CampaignChangeV1;
    reply: undefined;
  };
  /** Stop, pause or resume campaigns, V1 */
  changeCampaignStatusV1: {
    parameters: Record<never, never>;
    body: CampaignStatusRequestV1;
    reply: CampaignsChangedV1;
  };
  /** Send a test of a campaign to named users, V1 */
  testCampaignV1: {
    parameters: Record<never, never>;
    body: CampaignTestRequestV1;
    reply: CampaignTestAnswerV1;
  };
  /** List campaigns in short, V1 */
  listCampaignMetaV1: {
    parameters: Record<never, never>;
    body: CampaignSearchV1;
    reply: CampaignMetaListV1;
  };
  /** Search campaigns, or find one by its id, V1 */
  searchCampaignsV1: {
    parameters: Record<never, never>;
    body: CampaignSearchV1;
    reply: CampaignsFoundV1;
  };
  /** List the child campaigns of a recurring campaign, V1 */
  listExecutionsV1: {
    parameters: { parent_id: string };
    body: ExecutionsPageV1;
    reply: ExecutionsV1;
  };
  /** Create a campaign that is live at once, V1 */
  createCampaignV1CoreServices: {
    parameters: Record<never, never>;
    body: CampaignRequestV1;
    reply: CampaignCreatedV1;
  };
  /** Change a campaign, or publish a draft, V1 */
  changeCampaignV1CoreServices: {
    parameters: { id: string };
    body: CampaignChangeV1;
    reply: undefined;
  };
  /** Stop, pause or resume campaigns, V1 */
  changeCampaignStatusV1CoreServices: {
    parameters: Record<never, never>;
    body: CampaignStatusRequestV1;
    reply: CampaignsChangedV1;
  };
  /** Send a test of a campaign to named users, V1 */
  testCampaignV1CoreServices: {
    parameters: Record<never, never>;
    body: CampaignTestRequestV1;
    reply: CampaignTestAnswerV1;
  };
  /** List campaigns in short, V1 */
  listCampaignMetaV1CoreServices: {
    parameters: Record<never, never>;
    body: CampaignSearchV1;
    reply: CampaignMetaListV1;
  };
  /** Search campaigns, or find one by its id, V1 */
  searchCampaignsV1CoreServices: {
    parameters: Record<never, never>;
    body: CampaignSearchV1;
    reply: CampaignsFoundV1;
  };
  /** List the child campaigns of a recurring campaign, V1 */
  listExecutionsV1CoreServices: {
    parameters: { parent_id: string };
    body: ExecutionsPageV1;
    reply: ExecutionsV1;
  };
  /** Create a draft of a campaign, V5 */
  createCampaign: {
    parameters: Record<never, never>;
    body: CampaignDraftRequest;
    reply: CampaignDraftAnswer;
  };
  /** Send a test of a campaign to named users, V5 */
  testCampaign: {
    parameters: Record<never, never>;
    body: CampaignTestRequestV5;
    reply: CampaignTestAnswerV5;
  };
  /** Render a campaign or a draft for one user, V5; nothing is sent */
  previewCampaign: {
    parameters: Record<never, never>;
    body: CampaignPreviewRequest;
    reply: CampaignPreview;
  };
  /** Change a draft, V5 */
  changeCampaign: {
    parameters: { id: string };
    body: CampaignDraftChange;
    reply: CampaignChangedAnswer;
  };
  /** Get a campaign, V5 */
  getCampaign: {
    parameters: { id: string };
    body: undefined;
    reply: CampaignAnswerV5;
  };
  /** Publish a draft; stop, pause or resume a campaign, V5 */
  changeCampaignStatus: {
    parameters: { id: string };
    body: CampaignStatusRequestV5;
    reply: CampaignStatusAnswer;
  };
  /** Search campaigns, V5 */
  searchCampaigns: {
    parameters: Record<never, never>;
    body: CampaignSearchV5;
    reply: CampaignsFoundV5;
  };
  /** List campaigns in short, V5 */
  listCampaignMeta: {
    parameters: Record<never, never>;
    body: CampaignMetaSearchV5;
    reply: CampaignMetaListV5;
  };
  /** List the child campaigns of a recurring campaign, V5 */
  listExecutions: {
    parameters: { parent_campaign_id: string };
    body: ExecutionsPageV5;
    reply: ExecutionsV5;
  };
  /** Check whether a draft could be published now, V5 */
  validateCampaign: {
    parameters: { id: string };
    body: undefined;
    reply: CampaignValidation;
  };
  /** Get the winner and the figures of the variations of a campaign */
  getCampaignWinner: {
    parameters: { id: string };
    body: undefined;
    reply: CampaignWinner;
  };
  /** Send the winning variation to all users that the campaign has not been sent to */
  nameCampaignWinner: {
    parameters: { id: string };
    body: CampaignWinnerRequest;
    reply: CampaignWinner;
  };
  /** Remove the winner, so that the shares apply again */
  takeBackCampaignWinner: {
    parameters: { id: string };
    body: undefined;
    reply: CampaignWinner;
  };
  /** Create a business event, V1 */
  createBusinessEvent: {
    parameters: Record<never, never>;
    body: BusinessEventRequest;
    reply: BusinessEventCreated;
  };
  /** Trigger a business event, V1 */
  triggerBusinessEventV1: {
    parameters: Record<never, never>;
    body: BusinessEventTriggerV1;
    reply: BusinessEventTriggeredV1;
  };
  /** Find business events, V1 */
  searchBusinessEventsV1: {
    parameters: Record<never, never>;
    body: BusinessEventSearchV1;
    reply: BusinessEventsV1;
  };
  /** Trigger a business event, V5 */
  triggerBusinessEvent: {
    parameters: Record<never, never>;
    body: BusinessEventTriggerV5;
    reply: BusinessEventTriggeredV5;
  };
  /** List business events, V5 */
  listBusinessEvents: {
    parameters: { limit?: number; cursor?: string };
    body: undefined;
    reply: BusinessEventsV5;
  };
  /** Find business events, V5 */
  searchBusinessEvents: {
    parameters: Record<never, never>;
    body: BusinessEventSearchV5;
    reply: BusinessEventsV5;
  };
  /** List the apps of the workspace */
  listApps: {
    parameters: Record<never, never>;
    body: undefined;
    reply: Apps;
  };
  /** Read an app */
  readApp: {
    parameters: { platform?: 'ANDROID' | 'IOS' | 'WEB'; app: string };
    body: undefined;
    reply: App;
  };
  /** Add an app, or replace its members that may change */
  putApp: {
    parameters: { app: string };
    body: AppRequest;
    reply: App;
  };
  /** Remove an app that has neither credential nor devices */
  removeApp: {
    parameters: { platform?: 'ANDROID' | 'IOS' | 'WEB'; app: string };
    body: undefined;
    reply: undefined;
  };
  /** Read what apps may do with the app key */
  readAppAccess: {
    parameters: Record<never, never>;
    body: undefined;
    reply: AppAccess;
  };
  /** Set the sites that may use the app key, and the attributes that apps may write */
  putAppAccess: {
    parameters: Record<never, never>;
    body: AppAccessRequest;
    reply: AppAccess;
  };
  /** Add a key that verifies identity tokens */
  addIdentityKey: {
    parameters: Record<never, never>;
    body: IdentityKeyRequest;
    reply: IdentityKey;
  };
  /** Remove a key; tokens under it are no longer valid */
  removeIdentityKey: {
    parameters: { kid: string };
    body: undefined;
    reply: undefined;
  };
  /** List the topics of the workspace */
  listTopics: {
    parameters: Record<never, never>;
    body: undefined;
    reply: Topics;
  };
  /** Add a topic that users can join or leave */
  createTopic: {
    parameters: Record<never, never>;
    body: TopicRequest;
    reply: Topic;
  };
  /** Read a topic */
  readTopic: {
    parameters: { topic: string };
    body: undefined;
    reply: Topic;
  };
  /** Change the name, the description or the position of a topic */
  changeTopic: {
    parameters: { topic: string };
    body: TopicChange;
    reply: Topic;
  };
  /** Remove a topic, with what users chose */
  removeTopic: {
    parameters: { topic: string };
    body: undefined;
    reply: undefined;
  };
  /** Read which topics a user is in */
  readUserTopics: {
    parameters: { customer_id: string };
    body: undefined;
    reply: UserTopics;
  };
  /** Set which topics a user is in */
  setUserTopics: {
    parameters: { customer_id: string };
    body: UserTopicsRequest;
    reply: UserTopics;
  };
  /** Make a link to the page on which a user chooses topics */
  makePreferenceLink: {
    parameters: { customer_id: string };
    body: PreferenceLinkRequest;
    reply: PreferenceLink;
  };
  /** Register or refresh an installation of an app */
  registerInstallation: {
    parameters: Record<never, never>;
    body: InstallationRequest;
    reply: Installation;
  };
  /** Change what an installation says about itself */
  updateInstallation: {
    parameters: { id: string };
    body: InstallationChanges;
    reply: Installation;
  };
  /** Sign a user in on an installation */
  identifyInstallation: {
    parameters: { id: string };
    body: IdentityRequest;
    reply: Installation;
  };
  /** Sign the user out on an installation */
  logoutInstallation: {
    parameters: { id: string };
    body: undefined;
    reply: Installation;
  };
  /** Read which topics the signed-in user is in */
  readInstallationTopics: {
    parameters: { id: string };
    body: undefined;
    reply: UserTopics;
  };
  /** Set which topics the signed-in user is in */
  setInstallationTopics: {
    parameters: { id: string };
    body: UserTopicsRequest;
    reply: UserTopics;
  };
  /** Read the inbox of the signed-in user */
  readInstallationInbox: {
    parameters: { limit?: string; cursor?: string; tag?: string; archived?: 'true' | 'false'; id: string };
    body: undefined;
    reply: Inbox;
  };
  /** Mark messages as read, unread, archived or not archived */
  markInstallationInbox: {
    parameters: { id: string };
    body: InboxMarkRequest;
    reply: InboxUnread;
  };
  /** Count the unread messages of the signed-in user */
  countInstallationInbox: {
    parameters: { id: string };
    body: undefined;
    reply: InboxUnread;
  };
  /** Report events and changes of attributes of the current user */
  reportAppEvents: {
    parameters: Record<never, never>;
    body: AppEventsRequest;
    reply: AppEvents;
  };
  /** Report which messages were shown, clicked or dismissed */
  reportAppReceipts: {
    parameters: Record<never, never>;
    body: AppReceiptsRequest;
    reply: AppReceipts;
  };
  /** Count what became of the inbox messages of a campaign */
  readCampaignInbox: {
    parameters: { id: string };
    body: undefined;
    reply: CampaignInboxFigures;
  };
  /** Explain why a user received a campaign or did not */
  explainDelivery: {
    parameters: { customer_id: string; run_id?: string; id: string };
    body: undefined;
    reply: DeliveryExplanation;
  };
  /** List the event streams of the workspace */
  listEventStreams: {
    parameters: Record<never, never>;
    body: undefined;
    reply: EventStreams;
  };
  /** Create an event stream, which posts events of messages to an address */
  createEventStream: {
    parameters: Record<never, never>;
    body: EventStreamCreate;
    reply: EventStreamCreated;
  };
  /** Get an event stream */
  getEventStream: {
    parameters: { id: string };
    body: undefined;
    reply: EventStreamAnswer;
  };
  /** Change the address or the events of an event stream */
  changeEventStream: {
    parameters: { id: string };
    body: EventStreamChange;
    reply: EventStreamAnswer;
  };
  /** Delete an event stream and its undelivered events */
  removeEventStream: {
    parameters: { id: string };
    body: undefined;
    reply: EventStreamRemoved;
  };
  /** List the batches of events that the receiver did not accept */
  listDeadEventBatches: {
    parameters: { limit?: number; before?: string; id: string };
    body: undefined;
    reply: DeadEventBatches;
  };
  /** Send failed batches again, one or all */
  resendDeadEventBatches: {
    parameters: { id: string };
    body: EventBatchResend;
    reply: EventBatchesResent;
  };
  /** List journeys, newest first */
  listJourneys: {
    parameters: {
      status?: 'DRAFT' | 'ACTIVE' | 'PAUSED' | 'STOPPED';
      name?: string;
      created_from?: string;
      created_before?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    reply: Journeys;
  };
  /** Create the draft of a journey */
  createJourney: {
    parameters: Record<never, never>;
    body: JourneyCreate;
    reply: JourneyAnswer;
  };
  /** Get a journey with its draft and its live graph */
  getJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyAnswer;
  };
  /** Change the name or the draft of a journey */
  changeJourney: {
    parameters: { id: string };
    body: JourneyChange;
    reply: JourneyAnswer;
  };
  /** Remove a journey that was never published */
  removeJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyRemoved;
  };
  /** List what keeps the draft of a journey from being published */
  validateJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyValidation;
  };
  /** Publish the draft of a journey as its next version */
  publishJourney: {
    parameters: { id: string };
    body: JourneyPublish;
    reply: JourneyAnswer;
  };
  /** Pause a journey: users neither enter nor go on */
  pauseJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyAnswer;
  };
  /** Resume a paused journey */
  resumeJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyAnswer;
  };
  /** Stop a journey for good: everyone leaves */
  stopJourney: {
    parameters: { id: string };
    body: undefined;
    reply: JourneyAnswer;
  };
  /** Let users enter a journey */
  enterJourney: {
    parameters: { id: string };
    body: JourneyEntries;
    reply: JourneyEntered;
  };
  /** Count the users at each step, and those who left it by each edge */
  readJourneyFigures: {
    parameters: { from?: string; to?: string; id: string };
    body: undefined;
    reply: JourneyFigures;
  };
  /** List the users who are at a step */
  listUsersAtStep: {
    parameters: { limit?: number; cursor?: string; id: string; step: string };
    body: undefined;
    reply: JourneyUsers;
  };
  /** List the entries of a user with the steps that they passed */
  readJourneyHistory: {
    parameters: { customer_id: string; id: string };
    body: undefined;
    reply: JourneyHistory;
  };
  /** Read the statistics of campaigns */
  readCampaignStats: {
    parameters: Record<never, never>;
    body: StatsRequest;
    reply: CampaignStats;
  };
  /** Read the statistics of campaigns */
  readCampaignStatsCoreServices: {
    parameters: Record<never, never>;
    body: StatsRequest;
    reply: CampaignStats;
  };
  /** Request a file with the statistics of all campaigns of up to 90 days */
  requestReportFile: {
    parameters: Record<never, never>;
    body: ReportFileRequest;
    reply: ReportFileRequested;
  };
  /** List the report files that have not expired */
  listReportFiles: {
    parameters: Record<never, never>;
    body: undefined;
    reply: ReportFiles;
  };
  /** Start, update or end a Live Activity */
  sendLiveActivityEvent: {
    parameters: Record<never, never>;
    body: LiveActivityEventRequest;
    reply: LiveActivityEvent;
  };
  /** Add tokens to a Live Activity */
  addLiveActivityTokens: {
    parameters: { id: string };
    body: LiveActivityTokensRequest;
    reply: LiveActivityTokens;
  };
  /** Read what became of the events of a Live Activity */
  readLiveActivity: {
    parameters: { app?: string; id: string };
    body: undefined;
    reply: LiveActivity;
  };
  /** Report that a message was shown, clicked or closed */
  reportInteraction: {
    parameters: Record<never, never>;
    body: InteractionReport;
    reply: undefined;
  };
  /** Messages the simulated devices received, newest first */
  readInbox: {
    parameters: { workspaceId?: string; after?: string; limit?: string; wait?: string };
    body: undefined;
    reply: SandboxInbox;
  };
  /** Empty the inbox, the counters and the fault switches */
  clearInbox: {
    parameters: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Reset the demo workspace, the counters and the faults to the state of the first start */
  resetSandbox: {
    parameters: Record<never, never>;
    body: undefined;
    reply: SandboxDemo;
  };
  /** Get the counters of the simulators, per platform */
  readCounters: {
    parameters: Record<never, never>;
    body: undefined;
    reply: SandboxCounters;
  };
  /** List the requests that the simulated providers refused, with the reason, newest first */
  listRefusals: {
    parameters: { limit?: string };
    body: undefined;
    reply: SandboxRefusals;
  };
  /** The time of this installation */
  readClock: {
    parameters: Record<never, never>;
    body: undefined;
    reply: SandboxClock;
  };
  /** Move the clock forward, stopping where something is due, or until nothing is; let it stand, or run; or back to real time */
  moveClock: {
    parameters: Record<never, never>;
    body: SandboxClockMove;
    reply: SandboxClock;
  };
  /** Make the simulated providers fail; {} ends all faults */
  setFaults: {
    parameters: Record<never, never>;
    body: SandboxFaults;
    reply: undefined;
  };
  /** Register a browser's subscription as a device of a user */
  registerBrowser: {
    parameters: Record<never, never>;
    body: SandboxBrowserDevice;
    reply: SandboxRegisteredDevice;
  };
  /** The process responds */
  readLiveness: {
    parameters: Record<never, never>;
    body: undefined;
    reply: Health;
  };
  /** The service can do its work */
  readReadiness: {
    parameters: { verbose?: unknown };
    body: undefined;
    reply: Health;
  };
};
