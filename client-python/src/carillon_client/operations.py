"""Generated from the OpenAPI document by `npm run client:types`; edits are lost."""

from typing import Dict, Literal, NamedTuple, Tuple


class Operation(NamedTuple):
    method: str
    path: str
    #: Kind of the key that the operation accepts: data, campaigns, push or none.
    key: str
    #: Names of the parameters in the path, in the query and in headers that the client fills in.
    path_names: Tuple[str, ...]
    query: Tuple[str, ...]
    headers: Tuple[str, ...]


OperationId = Literal[
    "sendPushV21",
    "sendPushV21Priority",
    "sendPushV2",
    "sendPushV2Priority",
    "upsertCustomer",
    "upsertDevice",
    "trackEvents",
    "importInBulk",
    "upsertCustomerByQuery",
    "upsertDeviceByQuery",
    "trackEventsByQuery",
    "importInBulkByQuery",
    "blockDevices",
    "exportCustomers",
    "mergeCustomers",
    "deleteCustomer",
    "testConnection",
    "sourceIdentify",
    "sourceTrack",
    "sourcePage",
    "sourceScreen",
    "sourceGroup",
    "sourceAlias",
    "sourceBatch",
    "createFileSegment",
    "addUsersOfFile",
    "removeUsersOfFile",
    "replaceUsersByFile",
    "archiveSegment",
    "unarchiveSegment",
    "listSegments",
    "createFilterSegment",
    "getSegment",
    "changeFilterSegment",
    "syncCohort",
    "createCampaignV1",
    "changeCampaignV1",
    "changeCampaignStatusV1",
    "testCampaignV1",
    "listCampaignMetaV1",
    "searchCampaignsV1",
    "listExecutionsV1",
    "createCampaignV1CoreServices",
    "changeCampaignV1CoreServices",
    "changeCampaignStatusV1CoreServices",
    "testCampaignV1CoreServices",
    "listCampaignMetaV1CoreServices",
    "searchCampaignsV1CoreServices",
    "listExecutionsV1CoreServices",
    "createCampaign",
    "testCampaign",
    "previewCampaign",
    "changeCampaign",
    "getCampaign",
    "changeCampaignStatus",
    "searchCampaigns",
    "listCampaignMeta",
    "listExecutions",
    "validateCampaign",
    "getCampaignWinner",
    "nameCampaignWinner",
    "takeBackCampaignWinner",
    "createBusinessEvent",
    "triggerBusinessEventV1",
    "searchBusinessEventsV1",
    "triggerBusinessEvent",
    "listBusinessEvents",
    "searchBusinessEvents",
    "listApps",
    "readApp",
    "putApp",
    "removeApp",
    "readAppAccess",
    "putAppAccess",
    "addIdentityKey",
    "removeIdentityKey",
    "listTopics",
    "createTopic",
    "readTopic",
    "changeTopic",
    "removeTopic",
    "readUserTopics",
    "setUserTopics",
    "makePreferenceLink",
    "registerInstallation",
    "updateInstallation",
    "identifyInstallation",
    "logoutInstallation",
    "readInstallationTopics",
    "setInstallationTopics",
    "readInstallationInbox",
    "markInstallationInbox",
    "countInstallationInbox",
    "reportAppEvents",
    "reportAppReceipts",
    "readCampaignInbox",
    "explainDelivery",
    "listEventStreams",
    "createEventStream",
    "getEventStream",
    "changeEventStream",
    "removeEventStream",
    "listDeadEventBatches",
    "resendDeadEventBatches",
    "listJourneys",
    "createJourney",
    "getJourney",
    "changeJourney",
    "removeJourney",
    "validateJourney",
    "publishJourney",
    "pauseJourney",
    "resumeJourney",
    "stopJourney",
    "enterJourney",
    "readJourneyFigures",
    "listUsersAtStep",
    "readJourneyHistory",
    "readCampaignStats",
    "readCampaignStatsCoreServices",
    "requestReportFile",
    "listReportFiles",
    "sendLiveActivityEvent",
    "addLiveActivityTokens",
    "readLiveActivity",
    "reportInteraction",
    "readInbox",
    "clearInbox",
    "resetSandbox",
    "readCounters",
    "listRefusals",
    "readClock",
    "moveClock",
    "setFaults",
    "registerBrowser",
    "readLiveness",
    "readReadiness",
]

#: How each operation is called. ``*`` stands for the abbreviation of the installation.
OPERATIONS: Dict[OperationId, Operation] = {
    "sendPushV21": Operation(
        "POST", "/v2.1/transaction/sendpush", "none", (), (), ("X-*-APPKEY", "Idempotency-Key")
    ),
    "sendPushV21Priority": Operation(
        "POST", "/v2.1/transaction/sendpush/priority", "none", (), (), ("X-*-APPKEY", "Idempotency-Key")
    ),
    "sendPushV2": Operation(
        "POST", "/v2/transaction/sendpush", "none", (), (), ("Idempotency-Key",)
    ),
    "sendPushV2Priority": Operation(
        "POST", "/v2/transaction/sendpush/priority", "none", (), (), ("Idempotency-Key",)
    ),
    "upsertCustomer": Operation(
        "POST", "/v1/customer/{app_id}", "data", ("app_id",), (), ("Idempotency-Key",)
    ),
    "upsertDevice": Operation(
        "POST", "/v1/device/{app_id}", "data", ("app_id",), (), ("Idempotency-Key",)
    ),
    "trackEvents": Operation(
        "POST", "/v1/event/{workspace_id}", "data", ("workspace_id",), (), ("Idempotency-Key",)
    ),
    "importInBulk": Operation(
        "POST", "/v1/transition/{workspace_id}", "data", ("workspace_id",), (), ("Idempotency-Key",)
    ),
    "upsertCustomerByQuery": Operation(
        "POST", "/v1/customer", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "upsertDeviceByQuery": Operation(
        "POST", "/v1/device", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "trackEventsByQuery": Operation(
        "POST", "/v1/event", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "importInBulkByQuery": Operation(
        "POST", "/v1/transition", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "blockDevices": Operation(
        "POST", "/v1/devices/manage", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "exportCustomers": Operation(
        "POST", "/v1/customers/export", "data", (), ("app_id",), ()
    ),
    "mergeCustomers": Operation(
        "POST", "/v1/customer/merge", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "deleteCustomer": Operation(
        "POST", "/v1/customer/delete", "data", (), ("app_id",), ("Idempotency-Key",)
    ),
    "testConnection": Operation(
        "POST", "/v1/integrations/authentication", "none", (), (), ("*-APPKEY",)
    ),
    "sourceIdentify": Operation(
        "POST", "/segment/v1/identify", "none", (), (), ()
    ),
    "sourceTrack": Operation(
        "POST", "/segment/v1/track", "none", (), (), ()
    ),
    "sourcePage": Operation(
        "POST", "/segment/v1/page", "none", (), (), ()
    ),
    "sourceScreen": Operation(
        "POST", "/segment/v1/screen", "none", (), (), ()
    ),
    "sourceGroup": Operation(
        "POST", "/segment/v1/group", "none", (), (), ()
    ),
    "sourceAlias": Operation(
        "POST", "/segment/v1/alias", "none", (), (), ()
    ),
    "sourceBatch": Operation(
        "POST", "/segment/v1/batch", "none", (), (), ()
    ),
    "createFileSegment": Operation(
        "POST", "/v2/custom-segments/file-segment", "data", (), (), ("*-DBNAME", "Idempotency-Key")
    ),
    "addUsersOfFile": Operation(
        "PUT", "/v2/custom-segments/file-segment/add-users", "data", (), (), ("*-DBNAME", "Idempotency-Key")
    ),
    "removeUsersOfFile": Operation(
        "PUT", "/v2/custom-segments/file-segment/remove-users", "data", (), (), ("*-DBNAME", "Idempotency-Key")
    ),
    "replaceUsersByFile": Operation(
        "PUT", "/v2/custom-segments/file-segment/replace", "data", (), (), ("*-DBNAME", "Idempotency-Key")
    ),
    "archiveSegment": Operation(
        "PATCH", "/v2/custom-segments/archive", "data", (), (), ("*-DBNAME",)
    ),
    "unarchiveSegment": Operation(
        "PATCH", "/v2/custom-segments/unarchive", "data", (), (), ("*-DBNAME",)
    ),
    "listSegments": Operation(
        "GET", "/v3/custom-segments", "data", (), ("name",), ("*-APPKEY", "*-DBNAME")
    ),
    "createFilterSegment": Operation(
        "POST", "/v3/custom-segments", "data", (), (), ("*-APPKEY", "*-DBNAME", "Idempotency-Key")
    ),
    "getSegment": Operation(
        "GET", "/v3/custom-segments/{id}", "data", ("id",), (), ("*-APPKEY", "*-DBNAME")
    ),
    "changeFilterSegment": Operation(
        "PATCH", "/v3/custom-segments/{id}", "data", ("id",), (), ("*-APPKEY", "*-DBNAME")
    ),
    "syncCohort": Operation(
        "POST", "/v1/integrations/cohortsync", "data", (), (), ("*-APPKEY",)
    ),
    "createCampaignV1": Operation(
        "POST", "/v1/campaigns", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "changeCampaignV1": Operation(
        "PATCH", "/v1/campaigns/{id}", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "changeCampaignStatusV1": Operation(
        "POST", "/v1/campaigns/status", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "testCampaignV1": Operation(
        "POST", "/v1/campaigns/test", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "listCampaignMetaV1": Operation(
        "POST", "/v1/campaigns/meta", "campaigns", (), (), ("*-APPKEY",)
    ),
    "searchCampaignsV1": Operation(
        "POST", "/v1/campaigns/search", "campaigns", (), (), ("*-APPKEY",)
    ),
    "listExecutionsV1": Operation(
        "POST", "/v1/campaigns/{parent_id}/executions", "campaigns", ("parent_id",), (), ("*-APPKEY",)
    ),
    "createCampaignV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "changeCampaignV1CoreServices": Operation(
        "PATCH", "/core-services/v1/campaigns/{id}", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "changeCampaignStatusV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns/status", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "testCampaignV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns/test", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "listCampaignMetaV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns/meta", "campaigns", (), (), ("*-APPKEY",)
    ),
    "searchCampaignsV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns/search", "campaigns", (), (), ("*-APPKEY",)
    ),
    "listExecutionsV1CoreServices": Operation(
        "POST", "/core-services/v1/campaigns/{parent_id}/executions", "campaigns", ("parent_id",), (), ("*-APPKEY",)
    ),
    "createCampaign": Operation(
        "POST", "/v5/campaigns", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "testCampaign": Operation(
        "POST", "/v5/campaigns/test", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "previewCampaign": Operation(
        "POST", "/v5/campaigns/preview", "campaigns", (), (), ("*-APPKEY",)
    ),
    "changeCampaign": Operation(
        "PATCH", "/v5/campaigns/{id}", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "getCampaign": Operation(
        "GET", "/v5/campaigns/{id}", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "changeCampaignStatus": Operation(
        "PATCH", "/v5/campaigns/{id}/status", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "searchCampaigns": Operation(
        "POST", "/v5/campaigns/search", "campaigns", (), (), ("*-APPKEY",)
    ),
    "listCampaignMeta": Operation(
        "POST", "/v5/campaigns/meta", "campaigns", (), (), ("*-APPKEY",)
    ),
    "listExecutions": Operation(
        "POST", "/v5/campaigns/{parent_campaign_id}/executions", "campaigns", ("parent_campaign_id",), (), ("*-APPKEY",)
    ),
    "validateCampaign": Operation(
        "POST", "/v5/campaigns/{id}/validate", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "getCampaignWinner": Operation(
        "GET", "/v5/campaigns/{id}/winner", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "nameCampaignWinner": Operation(
        "PUT", "/v5/campaigns/{id}/winner", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "takeBackCampaignWinner": Operation(
        "DELETE", "/v5/campaigns/{id}/winner", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "createBusinessEvent": Operation(
        "POST", "/v1.0/business_event", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "triggerBusinessEventV1": Operation(
        "POST", "/v1.0/business_event/trigger", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "searchBusinessEventsV1": Operation(
        "POST", "/v1.0/business_event/search", "campaigns", (), (), ("*-APPKEY",)
    ),
    "triggerBusinessEvent": Operation(
        "POST", "/v5/business-events/triggers", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "listBusinessEvents": Operation(
        "GET", "/v5/business-events", "campaigns", (), ("limit", "cursor"), ("*-APPKEY",)
    ),
    "searchBusinessEvents": Operation(
        "POST", "/v5/business-events/search", "campaigns", (), (), ("*-APPKEY",)
    ),
    "listApps": Operation(
        "GET", "/v1/apps", "data", (), (), ()
    ),
    "readApp": Operation(
        "GET", "/v1/apps/{app}", "data", ("app",), ("platform",), ()
    ),
    "putApp": Operation(
        "PUT", "/v1/apps/{app}", "data", ("app",), (), ()
    ),
    "removeApp": Operation(
        "DELETE", "/v1/apps/{app}", "data", ("app",), ("platform",), ()
    ),
    "readAppAccess": Operation(
        "GET", "/v1/app-access", "data", (), (), ()
    ),
    "putAppAccess": Operation(
        "PUT", "/v1/app-access", "data", (), (), ()
    ),
    "addIdentityKey": Operation(
        "POST", "/v1/app-access/identity-keys", "data", (), (), ()
    ),
    "removeIdentityKey": Operation(
        "DELETE", "/v1/app-access/identity-keys/{kid}", "data", ("kid",), (), ()
    ),
    "listTopics": Operation(
        "GET", "/v1/topics", "data", (), (), ()
    ),
    "createTopic": Operation(
        "POST", "/v1/topics", "data", (), (), ()
    ),
    "readTopic": Operation(
        "GET", "/v1/topics/{topic}", "data", ("topic",), (), ()
    ),
    "changeTopic": Operation(
        "PATCH", "/v1/topics/{topic}", "data", ("topic",), (), ()
    ),
    "removeTopic": Operation(
        "DELETE", "/v1/topics/{topic}", "data", ("topic",), (), ()
    ),
    "readUserTopics": Operation(
        "GET", "/v1/users/{customer_id}/topics", "data", ("customer_id",), (), ()
    ),
    "setUserTopics": Operation(
        "PATCH", "/v1/users/{customer_id}/topics", "data", ("customer_id",), (), ()
    ),
    "makePreferenceLink": Operation(
        "POST", "/v1/users/{customer_id}/preference_link", "data", ("customer_id",), (), ()
    ),
    "registerInstallation": Operation(
        "POST", "/v1/app/installations", "none", (), (), ()
    ),
    "updateInstallation": Operation(
        "PATCH", "/v1/app/installations/{id}", "none", ("id",), (), ()
    ),
    "identifyInstallation": Operation(
        "POST", "/v1/app/installations/{id}/identify", "none", ("id",), (), ()
    ),
    "logoutInstallation": Operation(
        "POST", "/v1/app/installations/{id}/logout", "none", ("id",), (), ()
    ),
    "readInstallationTopics": Operation(
        "GET", "/v1/app/installations/{id}/topics", "none", ("id",), (), ()
    ),
    "setInstallationTopics": Operation(
        "PATCH", "/v1/app/installations/{id}/topics", "none", ("id",), (), ()
    ),
    "readInstallationInbox": Operation(
        "GET", "/v1/app/installations/{id}/inbox", "none", ("id",), ("limit", "cursor", "tag", "archived"), ()
    ),
    "markInstallationInbox": Operation(
        "PATCH", "/v1/app/installations/{id}/inbox", "none", ("id",), (), ()
    ),
    "countInstallationInbox": Operation(
        "GET", "/v1/app/installations/{id}/inbox/unread", "none", ("id",), (), ()
    ),
    "reportAppEvents": Operation(
        "POST", "/v1/app/events", "none", (), (), ()
    ),
    "reportAppReceipts": Operation(
        "POST", "/v1/app/receipts", "none", (), (), ()
    ),
    "readCampaignInbox": Operation(
        "GET", "/v5/campaigns/{id}/inbox", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "explainDelivery": Operation(
        "GET", "/v5/campaigns/{id}/explain", "campaigns", ("id",), ("customer_id", "run_id"), ("*-APPKEY",)
    ),
    "listEventStreams": Operation(
        "GET", "/v1/event-streams", "data", (), (), ("*-APPKEY",)
    ),
    "createEventStream": Operation(
        "POST", "/v1/event-streams", "data", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "getEventStream": Operation(
        "GET", "/v1/event-streams/{id}", "data", ("id",), (), ("*-APPKEY",)
    ),
    "changeEventStream": Operation(
        "PATCH", "/v1/event-streams/{id}", "data", ("id",), (), ("*-APPKEY",)
    ),
    "removeEventStream": Operation(
        "DELETE", "/v1/event-streams/{id}", "data", ("id",), (), ("*-APPKEY",)
    ),
    "listDeadEventBatches": Operation(
        "GET", "/v1/event-streams/{id}/dead-batches", "data", ("id",), ("limit", "before"), ("*-APPKEY",)
    ),
    "resendDeadEventBatches": Operation(
        "POST", "/v1/event-streams/{id}/dead-batches/resend", "data", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "listJourneys": Operation(
        "GET", "/v1/journeys", "campaigns", (), ("status", "name", "created_from", "created_before", "limit", "cursor"), ("*-APPKEY",)
    ),
    "createJourney": Operation(
        "POST", "/v1/journeys", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "getJourney": Operation(
        "GET", "/v1/journeys/{id}", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "changeJourney": Operation(
        "PATCH", "/v1/journeys/{id}", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "removeJourney": Operation(
        "DELETE", "/v1/journeys/{id}", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "validateJourney": Operation(
        "GET", "/v1/journeys/{id}/validation", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "publishJourney": Operation(
        "POST", "/v1/journeys/{id}/publish", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "pauseJourney": Operation(
        "POST", "/v1/journeys/{id}/pause", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "resumeJourney": Operation(
        "POST", "/v1/journeys/{id}/resume", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "stopJourney": Operation(
        "POST", "/v1/journeys/{id}/stop", "campaigns", ("id",), (), ("*-APPKEY",)
    ),
    "enterJourney": Operation(
        "POST", "/v1/journeys/{id}/entries", "campaigns", ("id",), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "readJourneyFigures": Operation(
        "GET", "/v1/journeys/{id}/figures", "campaigns", ("id",), ("from", "to"), ("*-APPKEY",)
    ),
    "listUsersAtStep": Operation(
        "GET", "/v1/journeys/{id}/steps/{step}/users", "campaigns", ("id", "step"), ("limit", "cursor"), ("*-APPKEY",)
    ),
    "readJourneyHistory": Operation(
        "GET", "/v1/journeys/{id}/history", "campaigns", ("id",), ("customer_id",), ("*-APPKEY",)
    ),
    "readCampaignStats": Operation(
        "POST", "/v1/campaign-stats", "campaigns", (), (), ("*-APPKEY",)
    ),
    "readCampaignStatsCoreServices": Operation(
        "POST", "/core-services/v1/campaign-stats", "campaigns", (), (), ("*-APPKEY",)
    ),
    "requestReportFile": Operation(
        "POST", "/v1/campaign-reports", "campaigns", (), (), ("*-APPKEY", "Idempotency-Key")
    ),
    "listReportFiles": Operation(
        "GET", "/v1/campaign-reports", "campaigns", (), (), ("*-APPKEY",)
    ),
    "sendLiveActivityEvent": Operation(
        "POST", "/v1/live-activities", "push", (), (), ("Idempotency-Key",)
    ),
    "addLiveActivityTokens": Operation(
        "PUT", "/v1/live-activities/{id}/tokens", "push", ("id",), (), ()
    ),
    "readLiveActivity": Operation(
        "GET", "/v1/live-activities/{id}", "push", ("id",), ("app",), ()
    ),
    "reportInteraction": Operation(
        "POST", "/v1/interactions", "none", (), (), ()
    ),
    "readInbox": Operation(
        "GET", "/sandbox/inbox", "none", (), ("workspaceId", "after", "limit", "wait"), ()
    ),
    "clearInbox": Operation(
        "DELETE", "/sandbox/inbox", "none", (), (), ()
    ),
    "resetSandbox": Operation(
        "POST", "/sandbox/reset", "none", (), (), ()
    ),
    "readCounters": Operation(
        "GET", "/sandbox/counters", "none", (), (), ()
    ),
    "listRefusals": Operation(
        "GET", "/sandbox/refusals", "none", (), ("limit",), ()
    ),
    "readClock": Operation(
        "GET", "/sandbox/clock", "none", (), (), ()
    ),
    "moveClock": Operation(
        "POST", "/sandbox/clock", "none", (), (), ()
    ),
    "setFaults": Operation(
        "POST", "/sandbox/faults", "none", (), (), ()
    ),
    "registerBrowser": Operation(
        "POST", "/sandbox/browser/devices", "none", (), (), ()
    ),
    "readLiveness": Operation(
        "GET", "/livez", "none", (), (), ()
    ),
    "readReadiness": Operation(
        "GET", "/readyz", "none", (), ("verbose",), ()
    ),
}
