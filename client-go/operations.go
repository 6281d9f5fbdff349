// Code generated from the OpenAPI document by npm run client:types. DO NOT EDIT.

package carillon

// OperationID names an operation of the API document.
type OperationID string

// The operations of the API document.
const (
	SendPushV21                        OperationID = "sendPushV21"
	SendPushV21Priority                OperationID = "sendPushV21Priority"
	SendPushV2                         OperationID = "sendPushV2"
	SendPushV2Priority                 OperationID = "sendPushV2Priority"
	UpsertCustomer                     OperationID = "upsertCustomer"
	UpsertDevice                       OperationID = "upsertDevice"
	TrackEvents                        OperationID = "trackEvents"
	ImportInBulk                       OperationID = "importInBulk"
	UpsertCustomerByQuery              OperationID = "upsertCustomerByQuery"
	UpsertDeviceByQuery                OperationID = "upsertDeviceByQuery"
	TrackEventsByQuery                 OperationID = "trackEventsByQuery"
	ImportInBulkByQuery                OperationID = "importInBulkByQuery"
	BlockDevices                       OperationID = "blockDevices"
	ExportCustomers                    OperationID = "exportCustomers"
	MergeCustomers                     OperationID = "mergeCustomers"
	DeleteCustomer                     OperationID = "deleteCustomer"
	TestConnection                     OperationID = "testConnection"
	SourceIdentify                     OperationID = "sourceIdentify"
	SourceTrack                        OperationID = "sourceTrack"
	SourcePage                         OperationID = "sourcePage"
	SourceScreen                       OperationID = "sourceScreen"
	SourceGroup                        OperationID = "sourceGroup"
	SourceAlias                        OperationID = "sourceAlias"
	SourceBatch                        OperationID = "sourceBatch"
	CreateFileSegment                  OperationID = "createFileSegment"
	AddUsersOfFile                     OperationID = "addUsersOfFile"
	RemoveUsersOfFile                  OperationID = "removeUsersOfFile"
	ReplaceUsersByFile                 OperationID = "replaceUsersByFile"
	ArchiveSegment                     OperationID = "archiveSegment"
	UnarchiveSegment                   OperationID = "unarchiveSegment"
	ListSegments                       OperationID = "listSegments"
	CreateFilterSegment                OperationID = "createFilterSegment"
	GetSegment                         OperationID = "getSegment"
	ChangeFilterSegment                OperationID = "changeFilterSegment"
	SyncCohort                         OperationID = "syncCohort"
	CreateCampaignV1                   OperationID = "createCampaignV1"
	ChangeCampaignV1                   OperationID = "changeCampaignV1"
	ChangeCampaignStatusV1             OperationID = "changeCampaignStatusV1"
	TestCampaignV1                     OperationID = "testCampaignV1"
	ListCampaignMetaV1                 OperationID = "listCampaignMetaV1"
	SearchCampaignsV1                  OperationID = "searchCampaignsV1"
	ListExecutionsV1                   OperationID = "listExecutionsV1"
	CreateCampaignV1CoreServices       OperationID = "createCampaignV1CoreServices"
	ChangeCampaignV1CoreServices       OperationID = "changeCampaignV1CoreServices"
	ChangeCampaignStatusV1CoreServices OperationID = "changeCampaignStatusV1CoreServices"
	TestCampaignV1CoreServices         OperationID = "testCampaignV1CoreServices"
	ListCampaignMetaV1CoreServices     OperationID = "listCampaignMetaV1CoreServices"
	SearchCampaignsV1CoreServices      OperationID = "searchCampaignsV1CoreServices"
	ListExecutionsV1CoreServices       OperationID = "listExecutionsV1CoreServices"
	CreateCampaign                     OperationID = "createCampaign"
	TestCampaign                       OperationID = "testCampaign"
	PreviewCampaign                    OperationID = "previewCampaign"
	ChangeCampaign                     OperationID = "changeCampaign"
	GetCampaign                        OperationID = "getCampaign"
	ChangeCampaignStatus               OperationID = "changeCampaignStatus"
	SearchCampaigns                    OperationID = "searchCampaigns"
	ListCampaignMeta                   OperationID = "listCampaignMeta"
	ListExecutions                     OperationID = "listExecutions"
	ValidateCampaign                   OperationID = "validateCampaign"
	GetCampaignWinner                  OperationID = "getCampaignWinner"
	NameCampaignWinner                 OperationID = "nameCampaignWinner"
	TakeBackCampaignWinner             OperationID = "takeBackCampaignWinner"
	CreateBusinessEvent                OperationID = "createBusinessEvent"
	TriggerBusinessEventV1             OperationID = "triggerBusinessEventV1"
	SearchBusinessEventsV1             OperationID = "searchBusinessEventsV1"
	TriggerBusinessEvent               OperationID = "triggerBusinessEvent"
	ListBusinessEvents                 OperationID = "listBusinessEvents"
	SearchBusinessEvents               OperationID = "searchBusinessEvents"
	ListApps                           OperationID = "listApps"
	ReadApp                            OperationID = "readApp"
	PutApp                             OperationID = "putApp"
	RemoveApp                          OperationID = "removeApp"
	ReadAppAccess                      OperationID = "readAppAccess"
	PutAppAccess                       OperationID = "putAppAccess"
	AddIdentityKey                     OperationID = "addIdentityKey"
	RemoveIdentityKey                  OperationID = "removeIdentityKey"
	ListTopics                         OperationID = "listTopics"
	CreateTopic                        OperationID = "createTopic"
	ReadTopic                          OperationID = "readTopic"
	ChangeTopic                        OperationID = "changeTopic"
	RemoveTopic                        OperationID = "removeTopic"
	ReadUserTopics                     OperationID = "readUserTopics"
	SetUserTopics                      OperationID = "setUserTopics"
	MakePreferenceLink                 OperationID = "makePreferenceLink"
	RegisterInstallation               OperationID = "registerInstallation"
	UpdateInstallation                 OperationID = "updateInstallation"
	IdentifyInstallation               OperationID = "identifyInstallation"
	LogoutInstallation                 OperationID = "logoutInstallation"
	ReadInstallationTopics             OperationID = "readInstallationTopics"
	SetInstallationTopics              OperationID = "setInstallationTopics"
	ReadInstallationInbox              OperationID = "readInstallationInbox"
	MarkInstallationInbox              OperationID = "markInstallationInbox"
	CountInstallationInbox             OperationID = "countInstallationInbox"
	ReportAppEvents                    OperationID = "reportAppEvents"
	ReportAppReceipts                  OperationID = "reportAppReceipts"
	ReadCampaignInbox                  OperationID = "readCampaignInbox"
	ExplainDelivery                    OperationID = "explainDelivery"
	ListEventStreams                   OperationID = "listEventStreams"
	CreateEventStream                  OperationID = "createEventStream"
	GetEventStream                     OperationID = "getEventStream"
	ChangeEventStream                  OperationID = "changeEventStream"
	RemoveEventStream                  OperationID = "removeEventStream"
	ListDeadEventBatches               OperationID = "listDeadEventBatches"
	ResendDeadEventBatches             OperationID = "resendDeadEventBatches"
	ListJourneys                       OperationID = "listJourneys"
	CreateJourney                      OperationID = "createJourney"
	GetJourney                         OperationID = "getJourney"
	ChangeJourney                      OperationID = "changeJourney"
	RemoveJourney                      OperationID = "removeJourney"
	ValidateJourney                    OperationID = "validateJourney"
	PublishJourney                     OperationID = "publishJourney"
	PauseJourney                       OperationID = "pauseJourney"
	ResumeJourney                      OperationID = "resumeJourney"
	StopJourney                        OperationID = "stopJourney"
	EnterJourney                       OperationID = "enterJourney"
	ReadJourneyFigures                 OperationID = "readJourneyFigures"
	ListUsersAtStep                    OperationID = "listUsersAtStep"
	ReadJourneyHistory                 OperationID = "readJourneyHistory"
	ReadCampaignStats                  OperationID = "readCampaignStats"
	ReadCampaignStatsCoreServices      OperationID = "readCampaignStatsCoreServices"
	RequestReportFile                  OperationID = "requestReportFile"
	ListReportFiles                    OperationID = "listReportFiles"
	SendLiveActivityEvent              OperationID = "sendLiveActivityEvent"
	AddLiveActivityTokens              OperationID = "addLiveActivityTokens"
	ReadLiveActivity                   OperationID = "readLiveActivity"
	ReportInteraction                  OperationID = "reportInteraction"
	ReadInbox                          OperationID = "readInbox"
	ClearInbox                         OperationID = "clearInbox"
	ResetSandbox                       OperationID = "resetSandbox"
	ReadCounters                       OperationID = "readCounters"
	ListRefusals                       OperationID = "listRefusals"
	ReadClock                          OperationID = "readClock"
	MoveClock                          OperationID = "moveClock"
	SetFaults                          OperationID = "setFaults"
	RegisterBrowser                    OperationID = "registerBrowser"
	ReadLiveness                       OperationID = "readLiveness"
	ReadReadiness                      OperationID = "readReadiness"
)

// How an operation is called. In names of headers, * stands for the abbreviation of the installation.
type operation struct {
	method, path, key string
	query, headers    []string
	isSafe            bool
}

var operations = map[OperationID]operation{
	SendPushV21:                        {"POST", "/v2.1/transaction/sendpush", "none", nil, []string{"X-*-APPKEY", "Idempotency-Key"}, true},
	SendPushV21Priority:                {"POST", "/v2.1/transaction/sendpush/priority", "none", nil, []string{"X-*-APPKEY", "Idempotency-Key"}, true},
	SendPushV2:                         {"POST", "/v2/transaction/sendpush", "none", nil, []string{"Idempotency-Key"}, true},
	SendPushV2Priority:                 {"POST", "/v2/transaction/sendpush/priority", "none", nil, []string{"Idempotency-Key"}, true},
	UpsertCustomer:                     {"POST", "/v1/customer/{app_id}", "data", nil, []string{"Idempotency-Key"}, true},
	UpsertDevice:                       {"POST", "/v1/device/{app_id}", "data", nil, []string{"Idempotency-Key"}, true},
	TrackEvents:                        {"POST", "/v1/event/{workspace_id}", "data", nil, []string{"Idempotency-Key"}, true},
	ImportInBulk:                       {"POST", "/v1/transition/{workspace_id}", "data", nil, []string{"Idempotency-Key"}, true},
	UpsertCustomerByQuery:              {"POST", "/v1/customer", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	UpsertDeviceByQuery:                {"POST", "/v1/device", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	TrackEventsByQuery:                 {"POST", "/v1/event", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	ImportInBulkByQuery:                {"POST", "/v1/transition", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	BlockDevices:                       {"POST", "/v1/devices/manage", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	ExportCustomers:                    {"POST", "/v1/customers/export", "data", []string{"app_id"}, nil, true},
	MergeCustomers:                     {"POST", "/v1/customer/merge", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	DeleteCustomer:                     {"POST", "/v1/customer/delete", "data", []string{"app_id"}, []string{"Idempotency-Key"}, true},
	TestConnection:                     {"POST", "/v1/integrations/authentication", "none", nil, []string{"*-APPKEY"}, false},
	SourceIdentify:                     {"POST", "/segment/v1/identify", "none", nil, nil, false},
	SourceTrack:                        {"POST", "/segment/v1/track", "none", nil, nil, false},
	SourcePage:                         {"POST", "/segment/v1/page", "none", nil, nil, false},
	SourceScreen:                       {"POST", "/segment/v1/screen", "none", nil, nil, false},
	SourceGroup:                        {"POST", "/segment/v1/group", "none", nil, nil, false},
	SourceAlias:                        {"POST", "/segment/v1/alias", "none", nil, nil, false},
	SourceBatch:                        {"POST", "/segment/v1/batch", "none", nil, nil, false},
	CreateFileSegment:                  {"POST", "/v2/custom-segments/file-segment", "data", nil, []string{"*-DBNAME", "Idempotency-Key"}, true},
	AddUsersOfFile:                     {"PUT", "/v2/custom-segments/file-segment/add-users", "data", nil, []string{"*-DBNAME", "Idempotency-Key"}, true},
	RemoveUsersOfFile:                  {"PUT", "/v2/custom-segments/file-segment/remove-users", "data", nil, []string{"*-DBNAME", "Idempotency-Key"}, true},
	ReplaceUsersByFile:                 {"PUT", "/v2/custom-segments/file-segment/replace", "data", nil, []string{"*-DBNAME", "Idempotency-Key"}, true},
	ArchiveSegment:                     {"PATCH", "/v2/custom-segments/archive", "data", nil, []string{"*-DBNAME"}, false},
	UnarchiveSegment:                   {"PATCH", "/v2/custom-segments/unarchive", "data", nil, []string{"*-DBNAME"}, false},
	ListSegments:                       {"GET", "/v3/custom-segments", "data", []string{"name"}, []string{"*-APPKEY", "*-DBNAME"}, true},
	CreateFilterSegment:                {"POST", "/v3/custom-segments", "data", nil, []string{"*-APPKEY", "*-DBNAME", "Idempotency-Key"}, true},
	GetSegment:                         {"GET", "/v3/custom-segments/{id}", "data", nil, []string{"*-APPKEY", "*-DBNAME"}, true},
	ChangeFilterSegment:                {"PATCH", "/v3/custom-segments/{id}", "data", nil, []string{"*-APPKEY", "*-DBNAME"}, false},
	SyncCohort:                         {"POST", "/v1/integrations/cohortsync", "data", nil, []string{"*-APPKEY"}, false},
	CreateCampaignV1:                   {"POST", "/v1/campaigns", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ChangeCampaignV1:                   {"PATCH", "/v1/campaigns/{id}", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ChangeCampaignStatusV1:             {"POST", "/v1/campaigns/status", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	TestCampaignV1:                     {"POST", "/v1/campaigns/test", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ListCampaignMetaV1:                 {"POST", "/v1/campaigns/meta", "campaigns", nil, []string{"*-APPKEY"}, true},
	SearchCampaignsV1:                  {"POST", "/v1/campaigns/search", "campaigns", nil, []string{"*-APPKEY"}, true},
	ListExecutionsV1:                   {"POST", "/v1/campaigns/{parent_id}/executions", "campaigns", nil, []string{"*-APPKEY"}, true},
	CreateCampaignV1CoreServices:       {"POST", "/core-services/v1/campaigns", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ChangeCampaignV1CoreServices:       {"PATCH", "/core-services/v1/campaigns/{id}", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ChangeCampaignStatusV1CoreServices: {"POST", "/core-services/v1/campaigns/status", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	TestCampaignV1CoreServices:         {"POST", "/core-services/v1/campaigns/test", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ListCampaignMetaV1CoreServices:     {"POST", "/core-services/v1/campaigns/meta", "campaigns", nil, []string{"*-APPKEY"}, true},
	SearchCampaignsV1CoreServices:      {"POST", "/core-services/v1/campaigns/search", "campaigns", nil, []string{"*-APPKEY"}, true},
	ListExecutionsV1CoreServices:       {"POST", "/core-services/v1/campaigns/{parent_id}/executions", "campaigns", nil, []string{"*-APPKEY"}, true},
	CreateCampaign:                     {"POST", "/v5/campaigns", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	TestCampaign:                       {"POST", "/v5/campaigns/test", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	PreviewCampaign:                    {"POST", "/v5/campaigns/preview", "campaigns", nil, []string{"*-APPKEY"}, true},
	ChangeCampaign:                     {"PATCH", "/v5/campaigns/{id}", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	GetCampaign:                        {"GET", "/v5/campaigns/{id}", "campaigns", nil, []string{"*-APPKEY"}, true},
	ChangeCampaignStatus:               {"PATCH", "/v5/campaigns/{id}/status", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	SearchCampaigns:                    {"POST", "/v5/campaigns/search", "campaigns", nil, []string{"*-APPKEY"}, true},
	ListCampaignMeta:                   {"POST", "/v5/campaigns/meta", "campaigns", nil, []string{"*-APPKEY"}, true},
	ListExecutions:                     {"POST", "/v5/campaigns/{parent_campaign_id}/executions", "campaigns", nil, []string{"*-APPKEY"}, true},
	ValidateCampaign:                   {"POST", "/v5/campaigns/{id}/validate", "campaigns", nil, []string{"*-APPKEY"}, true},
	GetCampaignWinner:                  {"GET", "/v5/campaigns/{id}/winner", "campaigns", nil, []string{"*-APPKEY"}, true},
	NameCampaignWinner:                 {"PUT", "/v5/campaigns/{id}/winner", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	TakeBackCampaignWinner:             {"DELETE", "/v5/campaigns/{id}/winner", "campaigns", nil, []string{"*-APPKEY"}, false},
	CreateBusinessEvent:                {"POST", "/v1.0/business_event", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	TriggerBusinessEventV1:             {"POST", "/v1.0/business_event/trigger", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	SearchBusinessEventsV1:             {"POST", "/v1.0/business_event/search", "campaigns", nil, []string{"*-APPKEY"}, true},
	TriggerBusinessEvent:               {"POST", "/v5/business-events/triggers", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ListBusinessEvents:                 {"GET", "/v5/business-events", "campaigns", []string{"limit", "cursor"}, []string{"*-APPKEY"}, true},
	SearchBusinessEvents:               {"POST", "/v5/business-events/search", "campaigns", nil, []string{"*-APPKEY"}, true},
	ListApps:                           {"GET", "/v1/apps", "data", nil, nil, true},
	ReadApp:                            {"GET", "/v1/apps/{app}", "data", []string{"platform"}, nil, true},
	PutApp:                             {"PUT", "/v1/apps/{app}", "data", nil, nil, false},
	RemoveApp:                          {"DELETE", "/v1/apps/{app}", "data", []string{"platform"}, nil, false},
	ReadAppAccess:                      {"GET", "/v1/app-access", "data", nil, nil, true},
	PutAppAccess:                       {"PUT", "/v1/app-access", "data", nil, nil, false},
	AddIdentityKey:                     {"POST", "/v1/app-access/identity-keys", "data", nil, nil, false},
	RemoveIdentityKey:                  {"DELETE", "/v1/app-access/identity-keys/{kid}", "data", nil, nil, false},
	ListTopics:                         {"GET", "/v1/topics", "data", nil, nil, true},
	CreateTopic:                        {"POST", "/v1/topics", "data", nil, nil, false},
	ReadTopic:                          {"GET", "/v1/topics/{topic}", "data", nil, nil, true},
	ChangeTopic:                        {"PATCH", "/v1/topics/{topic}", "data", nil, nil, false},
	RemoveTopic:                        {"DELETE", "/v1/topics/{topic}", "data", nil, nil, false},
	ReadUserTopics:                     {"GET", "/v1/users/{customer_id}/topics", "data", nil, nil, true},
	SetUserTopics:                      {"PATCH", "/v1/users/{customer_id}/topics", "data", nil, nil, false},
	MakePreferenceLink:                 {"POST", "/v1/users/{customer_id}/preference_link", "data", nil, nil, false},
	RegisterInstallation:               {"POST", "/v1/app/installations", "none", nil, nil, false},
	UpdateInstallation:                 {"PATCH", "/v1/app/installations/{id}", "none", nil, nil, false},
	IdentifyInstallation:               {"POST", "/v1/app/installations/{id}/identify", "none", nil, nil, false},
	LogoutInstallation:                 {"POST", "/v1/app/installations/{id}/logout", "none", nil, nil, false},
	ReadInstallationTopics:             {"GET", "/v1/app/installations/{id}/topics", "none", nil, nil, true},
	SetInstallationTopics:              {"PATCH", "/v1/app/installations/{id}/topics", "none", nil, nil, false},
	ReadInstallationInbox:              {"GET", "/v1/app/installations/{id}/inbox", "none", []string{"limit", "cursor", "tag", "archived"}, nil, true},
	MarkInstallationInbox:              {"PATCH", "/v1/app/installations/{id}/inbox", "none", nil, nil, false},
	CountInstallationInbox:             {"GET", "/v1/app/installations/{id}/inbox/unread", "none", nil, nil, true},
	ReportAppEvents:                    {"POST", "/v1/app/events", "none", nil, nil, false},
	ReportAppReceipts:                  {"POST", "/v1/app/receipts", "none", nil, nil, false},
	ReadCampaignInbox:                  {"GET", "/v5/campaigns/{id}/inbox", "campaigns", nil, []string{"*-APPKEY"}, true},
	ExplainDelivery:                    {"GET", "/v5/campaigns/{id}/explain", "campaigns", []string{"customer_id", "run_id"}, []string{"*-APPKEY"}, true},
	ListEventStreams:                   {"GET", "/v1/event-streams", "data", nil, []string{"*-APPKEY"}, true},
	CreateEventStream:                  {"POST", "/v1/event-streams", "data", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	GetEventStream:                     {"GET", "/v1/event-streams/{id}", "data", nil, []string{"*-APPKEY"}, true},
	ChangeEventStream:                  {"PATCH", "/v1/event-streams/{id}", "data", nil, []string{"*-APPKEY"}, false},
	RemoveEventStream:                  {"DELETE", "/v1/event-streams/{id}", "data", nil, []string{"*-APPKEY"}, false},
	ListDeadEventBatches:               {"GET", "/v1/event-streams/{id}/dead-batches", "data", []string{"limit", "before"}, []string{"*-APPKEY"}, true},
	ResendDeadEventBatches:             {"POST", "/v1/event-streams/{id}/dead-batches/resend", "data", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ListJourneys:                       {"GET", "/v1/journeys", "campaigns", []string{"status", "name", "created_from", "created_before", "limit", "cursor"}, []string{"*-APPKEY"}, true},
	CreateJourney:                      {"POST", "/v1/journeys", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	GetJourney:                         {"GET", "/v1/journeys/{id}", "campaigns", nil, []string{"*-APPKEY"}, true},
	ChangeJourney:                      {"PATCH", "/v1/journeys/{id}", "campaigns", nil, []string{"*-APPKEY"}, false},
	RemoveJourney:                      {"DELETE", "/v1/journeys/{id}", "campaigns", nil, []string{"*-APPKEY"}, false},
	ValidateJourney:                    {"GET", "/v1/journeys/{id}/validation", "campaigns", nil, []string{"*-APPKEY"}, true},
	PublishJourney:                     {"POST", "/v1/journeys/{id}/publish", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	PauseJourney:                       {"POST", "/v1/journeys/{id}/pause", "campaigns", nil, []string{"*-APPKEY"}, false},
	ResumeJourney:                      {"POST", "/v1/journeys/{id}/resume", "campaigns", nil, []string{"*-APPKEY"}, false},
	StopJourney:                        {"POST", "/v1/journeys/{id}/stop", "campaigns", nil, []string{"*-APPKEY"}, false},
	EnterJourney:                       {"POST", "/v1/journeys/{id}/entries", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ReadJourneyFigures:                 {"GET", "/v1/journeys/{id}/figures", "campaigns", []string{"from", "to"}, []string{"*-APPKEY"}, true},
	ListUsersAtStep:                    {"GET", "/v1/journeys/{id}/steps/{step}/users", "campaigns", []string{"limit", "cursor"}, []string{"*-APPKEY"}, true},
	ReadJourneyHistory:                 {"GET", "/v1/journeys/{id}/history", "campaigns", []string{"customer_id"}, []string{"*-APPKEY"}, true},
	ReadCampaignStats:                  {"POST", "/v1/campaign-stats", "campaigns", nil, []string{"*-APPKEY"}, true},
	ReadCampaignStatsCoreServices:      {"POST", "/core-services/v1/campaign-stats", "campaigns", nil, []string{"*-APPKEY"}, true},
	RequestReportFile:                  {"POST", "/v1/campaign-reports", "campaigns", nil, []string{"*-APPKEY", "Idempotency-Key"}, true},
	ListReportFiles:                    {"GET", "/v1/campaign-reports", "campaigns", nil, []string{"*-APPKEY"}, true},
	SendLiveActivityEvent:              {"POST", "/v1/live-activities", "push", nil, []string{"Idempotency-Key"}, true},
	AddLiveActivityTokens:              {"PUT", "/v1/live-activities/{id}/tokens", "push", nil, nil, false},
	ReadLiveActivity:                   {"GET", "/v1/live-activities/{id}", "push", []string{"app"}, nil, true},
	ReportInteraction:                  {"POST", "/v1/interactions", "none", nil, nil, false},
	ReadInbox:                          {"GET", "/sandbox/inbox", "none", []string{"workspaceId", "after", "limit", "wait"}, nil, true},
	ClearInbox:                         {"DELETE", "/sandbox/inbox", "none", nil, nil, false},
	ResetSandbox:                       {"POST", "/sandbox/reset", "none", nil, nil, false},
	ReadCounters:                       {"GET", "/sandbox/counters", "none", nil, nil, true},
	ListRefusals:                       {"GET", "/sandbox/refusals", "none", []string{"limit"}, nil, true},
	ReadClock:                          {"GET", "/sandbox/clock", "none", nil, nil, true},
	MoveClock:                          {"POST", "/sandbox/clock", "none", nil, nil, false},
	SetFaults:                          {"POST", "/sandbox/faults", "none", nil, nil, false},
	RegisterBrowser:                    {"POST", "/sandbox/browser/devices", "none", nil, nil, false},
	ReadLiveness:                       {"GET", "/livez", "none", nil, nil, true},
	ReadReadiness:                      {"GET", "/readyz", "none", []string{"verbose"}, nil, true},
}
