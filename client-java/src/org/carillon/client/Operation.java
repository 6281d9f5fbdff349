// Generated from the OpenAPI document by `npm run client:types`; edits are lost.
package org.carillon.client;

import java.util.List;

/** The operations of the API document. {@code *} stands for the abbreviation of the installation. */
public enum Operation {
    SEND_PUSH_V21("sendPushV21", "POST", "/v2.1/transaction/sendpush", "none", List.of(), List.of("X-*-APPKEY", "Idempotency-Key"), true),
    SEND_PUSH_V21_PRIORITY("sendPushV21Priority", "POST", "/v2.1/transaction/sendpush/priority", "none", List.of(), List.of("X-*-APPKEY", "Idempotency-Key"), true),
    SEND_PUSH_V2("sendPushV2", "POST", "/v2/transaction/sendpush", "none", List.of(), List.of("Idempotency-Key"), true),
    SEND_PUSH_V2_PRIORITY("sendPushV2Priority", "POST", "/v2/transaction/sendpush/priority", "none", List.of(), List.of("Idempotency-Key"), true),
    UPSERT_CUSTOMER("upsertCustomer", "POST", "/v1/customer/{app_id}", "data", List.of(), List.of("Idempotency-Key"), true),
    UPSERT_DEVICE("upsertDevice", "POST", "/v1/device/{app_id}", "data", List.of(), List.of("Idempotency-Key"), true),
    TRACK_EVENTS("trackEvents", "POST", "/v1/event/{workspace_id}", "data", List.of(), List.of("Idempotency-Key"), true),
    IMPORT_IN_BULK("importInBulk", "POST", "/v1/transition/{workspace_id}", "data", List.of(), List.of("Idempotency-Key"), true),
    UPSERT_CUSTOMER_BY_QUERY("upsertCustomerByQuery", "POST", "/v1/customer", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    UPSERT_DEVICE_BY_QUERY("upsertDeviceByQuery", "POST", "/v1/device", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    TRACK_EVENTS_BY_QUERY("trackEventsByQuery", "POST", "/v1/event", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    IMPORT_IN_BULK_BY_QUERY("importInBulkByQuery", "POST", "/v1/transition", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    BLOCK_DEVICES("blockDevices", "POST", "/v1/devices/manage", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    EXPORT_CUSTOMERS("exportCustomers", "POST", "/v1/customers/export", "data", List.of("app_id"), List.of(), true),
    MERGE_CUSTOMERS("mergeCustomers", "POST", "/v1/customer/merge", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    DELETE_CUSTOMER("deleteCustomer", "POST", "/v1/customer/delete", "data", List.of("app_id"), List.of("Idempotency-Key"), true),
    TEST_CONNECTION("testConnection", "POST", "/v1/integrations/authentication", "none", List.of(), List.of("*-APPKEY"), false),
    SOURCE_IDENTIFY("sourceIdentify", "POST", "/segment/v1/identify", "none", List.of(), List.of(), false),
    SOURCE_TRACK("sourceTrack", "POST", "/segment/v1/track", "none", List.of(), List.of(), false),
    SOURCE_PAGE("sourcePage", "POST", "/segment/v1/page", "none", List.of(), List.of(), false),
    SOURCE_SCREEN("sourceScreen", "POST", "/segment/v1/screen", "none", List.of(), List.of(), false),
    SOURCE_GROUP("sourceGroup", "POST", "/segment/v1/group", "none", List.of(), List.of(), false),
    SOURCE_ALIAS("sourceAlias", "POST", "/segment/v1/alias", "none", List.of(), List.of(), false),
    SOURCE_BATCH("sourceBatch", "POST", "/segment/v1/batch", "none", List.of(), List.of(), false),
    CREATE_FILE_SEGMENT("createFileSegment", "POST", "/v2/custom-segments/file-segment", "data", List.of(), List.of("*-DBNAME", "Idempotency-Key"), true),
    ADD_USERS_OF_FILE("addUsersOfFile", "PUT", "/v2/custom-segments/file-segment/add-users", "data", List.of(), List.of("*-DBNAME", "Idempotency-Key"), true),
    REMOVE_USERS_OF_FILE("removeUsersOfFile", "PUT", "/v2/custom-segments/file-segment/remove-users", "data", List.of(), List.of("*-DBNAME", "Idempotency-Key"), true),
    REPLACE_USERS_BY_FILE("replaceUsersByFile", "PUT", "/v2/custom-segments/file-segment/replace", "data", List.of(), List.of("*-DBNAME", "Idempotency-Key"), true),
    ARCHIVE_SEGMENT("archiveSegment", "PATCH", "/v2/custom-segments/archive", "data", List.of(), List.of("*-DBNAME"), false),
    UNARCHIVE_SEGMENT("unarchiveSegment", "PATCH", "/v2/custom-segments/unarchive", "data", List.of(), List.of("*-DBNAME"), false),
    LIST_SEGMENTS("listSegments", "GET", "/v3/custom-segments", "data", List.of("name"), List.of("*-APPKEY", "*-DBNAME"), true),
    CREATE_FILTER_SEGMENT("createFilterSegment", "POST", "/v3/custom-segments", "data", List.of(), List.of("*-APPKEY", "*-DBNAME", "Idempotency-Key"), true),
    GET_SEGMENT("getSegment", "GET", "/v3/custom-segments/{id}", "data", List.of(), List.of("*-APPKEY", "*-DBNAME"), true),
    CHANGE_FILTER_SEGMENT("changeFilterSegment", "PATCH", "/v3/custom-segments/{id}", "data", List.of(), List.of("*-APPKEY", "*-DBNAME"), false),
    SYNC_COHORT("syncCohort", "POST", "/v1/integrations/cohortsync", "data", List.of(), List.of("*-APPKEY"), false),
    CREATE_CAMPAIGN_V1("createCampaignV1", "POST", "/v1/campaigns", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    CHANGE_CAMPAIGN_V1("changeCampaignV1", "PATCH", "/v1/campaigns/{id}", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    CHANGE_CAMPAIGN_STATUS_V1("changeCampaignStatusV1", "POST", "/v1/campaigns/status", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    TEST_CAMPAIGN_V1("testCampaignV1", "POST", "/v1/campaigns/test", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    LIST_CAMPAIGN_META_V1("listCampaignMetaV1", "POST", "/v1/campaigns/meta", "campaigns", List.of(), List.of("*-APPKEY"), true),
    SEARCH_CAMPAIGNS_V1("searchCampaignsV1", "POST", "/v1/campaigns/search", "campaigns", List.of(), List.of("*-APPKEY"), true),
    LIST_EXECUTIONS_V1("listExecutionsV1", "POST", "/v1/campaigns/{parent_id}/executions", "campaigns", List.of(), List.of("*-APPKEY"), true),
    CREATE_CAMPAIGN_V1_CORE_SERVICES("createCampaignV1CoreServices", "POST", "/core-services/v1/campaigns", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    CHANGE_CAMPAIGN_V1_CORE_SERVICES("changeCampaignV1CoreServices", "PATCH", "/core-services/v1/campaigns/{id}", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    CHANGE_CAMPAIGN_STATUS_V1_CORE_SERVICES("changeCampaignStatusV1CoreServices", "POST", "/core-services/v1/campaigns/status", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    TEST_CAMPAIGN_V1_CORE_SERVICES("testCampaignV1CoreServices", "POST", "/core-services/v1/campaigns/test", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    LIST_CAMPAIGN_META_V1_CORE_SERVICES("listCampaignMetaV1CoreServices", "POST", "/core-services/v1/campaigns/meta", "campaigns", List.of(), List.of("*-APPKEY"), true),
    SEARCH_CAMPAIGNS_V1_CORE_SERVICES("searchCampaignsV1CoreServices", "POST", "/core-services/v1/campaigns/search", "campaigns", List.of(), List.of("*-APPKEY"), true),
    LIST_EXECUTIONS_V1_CORE_SERVICES("listExecutionsV1CoreServices", "POST", "/core-services/v1/campaigns/{parent_id}/executions", "campaigns", List.of(), List.of("*-APPKEY"), true),
    CREATE_CAMPAIGN("createCampaign", "POST", "/v5/campaigns", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    TEST_CAMPAIGN("testCampaign", "POST", "/v5/campaigns/test", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    PREVIEW_CAMPAIGN("previewCampaign", "POST", "/v5/campaigns/preview", "campaigns", List.of(), List.of("*-APPKEY"), true),
    CHANGE_CAMPAIGN("changeCampaign", "PATCH", "/v5/campaigns/{id}", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    GET_CAMPAIGN("getCampaign", "GET", "/v5/campaigns/{id}", "campaigns", List.of(), List.of("*-APPKEY"), true),
    CHANGE_CAMPAIGN_STATUS("changeCampaignStatus", "PATCH", "/v5/campaigns/{id}/status", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    SEARCH_CAMPAIGNS("searchCampaigns", "POST", "/v5/campaigns/search", "campaigns", List.of(), List.of("*-APPKEY"), true),
    LIST_CAMPAIGN_META("listCampaignMeta", "POST", "/v5/campaigns/meta", "campaigns", List.of(), List.of("*-APPKEY"), true),
    LIST_EXECUTIONS("listExecutions", "POST", "/v5/campaigns/{parent_campaign_id}/executions", "campaigns", List.of(), List.of("*-APPKEY"), true),
    VALIDATE_CAMPAIGN("validateCampaign", "POST", "/v5/campaigns/{id}/validate", "campaigns", List.of(), List.of("*-APPKEY"), true),
    GET_CAMPAIGN_WINNER("getCampaignWinner", "GET", "/v5/campaigns/{id}/winner", "campaigns", List.of(), List.of("*-APPKEY"), true),
    NAME_CAMPAIGN_WINNER("nameCampaignWinner", "PUT", "/v5/campaigns/{id}/winner", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    TAKE_BACK_CAMPAIGN_WINNER("takeBackCampaignWinner", "DELETE", "/v5/campaigns/{id}/winner", "campaigns", List.of(), List.of("*-APPKEY"), false),
    CREATE_BUSINESS_EVENT("createBusinessEvent", "POST", "/v1.0/business_event", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    TRIGGER_BUSINESS_EVENT_V1("triggerBusinessEventV1", "POST", "/v1.0/business_event/trigger", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    SEARCH_BUSINESS_EVENTS_V1("searchBusinessEventsV1", "POST", "/v1.0/business_event/search", "campaigns", List.of(), List.of("*-APPKEY"), true),
    TRIGGER_BUSINESS_EVENT("triggerBusinessEvent", "POST", "/v5/business-events/triggers", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    LIST_BUSINESS_EVENTS("listBusinessEvents", "GET", "/v5/business-events", "campaigns", List.of("limit", "cursor"), List.of("*-APPKEY"), true),
    SEARCH_BUSINESS_EVENTS("searchBusinessEvents", "POST", "/v5/business-events/search", "campaigns", List.of(), List.of("*-APPKEY"), true),
    LIST_APPS("listApps", "GET", "/v1/apps", "data", List.of(), List.of(), true),
    READ_APP("readApp", "GET", "/v1/apps/{app}", "data", List.of("platform"), List.of(), true),
    PUT_APP("putApp", "PUT", "/v1/apps/{app}", "data", List.of(), List.of(), false),
    REMOVE_APP("removeApp", "DELETE", "/v1/apps/{app}", "data", List.of("platform"), List.of(), false),
    READ_APP_ACCESS("readAppAccess", "GET", "/v1/app-access", "data", List.of(), List.of(), true),
    PUT_APP_ACCESS("putAppAccess", "PUT", "/v1/app-access", "data", List.of(), List.of(), false),
    ADD_IDENTITY_KEY("addIdentityKey", "POST", "/v1/app-access/identity-keys", "data", List.of(), List.of(), false),
    REMOVE_IDENTITY_KEY("removeIdentityKey", "DELETE", "/v1/app-access/identity-keys/{kid}", "data", List.of(), List.of(), false),
    LIST_TOPICS("listTopics", "GET", "/v1/topics", "data", List.of(), List.of(), true),
    CREATE_TOPIC("createTopic", "POST", "/v1/topics", "data", List.of(), List.of(), false),
    READ_TOPIC("readTopic", "GET", "/v1/topics/{topic}", "data", List.of(), List.of(), true),
    CHANGE_TOPIC("changeTopic", "PATCH", "/v1/topics/{topic}", "data", List.of(), List.of(), false),
    REMOVE_TOPIC("removeTopic", "DELETE", "/v1/topics/{topic}", "data", List.of(), List.of(), false),
    READ_USER_TOPICS("readUserTopics", "GET", "/v1/users/{customer_id}/topics", "data", List.of(), List.of(), true),
    SET_USER_TOPICS("setUserTopics", "PATCH", "/v1/users/{customer_id}/topics", "data", List.of(), List.of(), false),
    MAKE_PREFERENCE_LINK("makePreferenceLink", "POST", "/v1/users/{customer_id}/preference_link", "data", List.of(), List.of(), false),
    REGISTER_INSTALLATION("registerInstallation", "POST", "/v1/app/installations", "none", List.of(), List.of(), false),
    UPDATE_INSTALLATION("updateInstallation", "PATCH", "/v1/app/installations/{id}", "none", List.of(), List.of(), false),
    IDENTIFY_INSTALLATION("identifyInstallation", "POST", "/v1/app/installations/{id}/identify", "none", List.of(), List.of(), false),
    LOGOUT_INSTALLATION("logoutInstallation", "POST", "/v1/app/installations/{id}/logout", "none", List.of(), List.of(), false),
    READ_INSTALLATION_TOPICS("readInstallationTopics", "GET", "/v1/app/installations/{id}/topics", "none", List.of(), List.of(), true),
    SET_INSTALLATION_TOPICS("setInstallationTopics", "PATCH", "/v1/app/installations/{id}/topics", "none", List.of(), List.of(), false),
    READ_INSTALLATION_INBOX("readInstallationInbox", "GET", "/v1/app/installations/{id}/inbox", "none", List.of("limit", "cursor", "tag", "archived"), List.of(), true),
    MARK_INSTALLATION_INBOX("markInstallationInbox", "PATCH", "/v1/app/installations/{id}/inbox", "none", List.of(), List.of(), false),
    COUNT_INSTALLATION_INBOX("countInstallationInbox", "GET", "/v1/app/installations/{id}/inbox/unread", "none", List.of(), List.of(), true),
    REPORT_APP_EVENTS("reportAppEvents", "POST", "/v1/app/events", "none", List.of(), List.of(), false),
    REPORT_APP_RECEIPTS("reportAppReceipts", "POST", "/v1/app/receipts", "none", List.of(), List.of(), false),
    READ_CAMPAIGN_INBOX("readCampaignInbox", "GET", "/v5/campaigns/{id}/inbox", "campaigns", List.of(), List.of("*-APPKEY"), true),
    EXPLAIN_DELIVERY("explainDelivery", "GET", "/v5/campaigns/{id}/explain", "campaigns", List.of("customer_id", "run_id"), List.of("*-APPKEY"), true),
    LIST_EVENT_STREAMS("listEventStreams", "GET", "/v1/event-streams", "data", List.of(), List.of("*-APPKEY"), true),
    CREATE_EVENT_STREAM("createEventStream", "POST", "/v1/event-streams", "data", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    GET_EVENT_STREAM("getEventStream", "GET", "/v1/event-streams/{id}", "data", List.of(), List.of("*-APPKEY"), true),
    CHANGE_EVENT_STREAM("changeEventStream", "PATCH", "/v1/event-streams/{id}", "data", List.of(), List.of("*-APPKEY"), false),
    REMOVE_EVENT_STREAM("removeEventStream", "DELETE", "/v1/event-streams/{id}", "data", List.of(), List.of("*-APPKEY"), false),
    LIST_DEAD_EVENT_BATCHES("listDeadEventBatches", "GET", "/v1/event-streams/{id}/dead-batches", "data", List.of("limit", "before"), List.of("*-APPKEY"), true),
    RESEND_DEAD_EVENT_BATCHES("resendDeadEventBatches", "POST", "/v1/event-streams/{id}/dead-batches/resend", "data", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    LIST_JOURNEYS("listJourneys", "GET", "/v1/journeys", "campaigns", List.of("status", "name", "created_from", "created_before", "limit", "cursor"), List.of("*-APPKEY"), true),
    CREATE_JOURNEY("createJourney", "POST", "/v1/journeys", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    GET_JOURNEY("getJourney", "GET", "/v1/journeys/{id}", "campaigns", List.of(), List.of("*-APPKEY"), true),
    CHANGE_JOURNEY("changeJourney", "PATCH", "/v1/journeys/{id}", "campaigns", List.of(), List.of("*-APPKEY"), false),
    REMOVE_JOURNEY("removeJourney", "DELETE", "/v1/journeys/{id}", "campaigns", List.of(), List.of("*-APPKEY"), false),
    VALIDATE_JOURNEY("validateJourney", "GET", "/v1/journeys/{id}/validation", "campaigns", List.of(), List.of("*-APPKEY"), true),
    PUBLISH_JOURNEY("publishJourney", "POST", "/v1/journeys/{id}/publish", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    PAUSE_JOURNEY("pauseJourney", "POST", "/v1/journeys/{id}/pause", "campaigns", List.of(), List.of("*-APPKEY"), false),
    RESUME_JOURNEY("resumeJourney", "POST", "/v1/journeys/{id}/resume", "campaigns", List.of(), List.of("*-APPKEY"), false),
    STOP_JOURNEY("stopJourney", "POST", "/v1/journeys/{id}/stop", "campaigns", List.of(), List.of("*-APPKEY"), false),
    ENTER_JOURNEY("enterJourney", "POST", "/v1/journeys/{id}/entries", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    READ_JOURNEY_FIGURES("readJourneyFigures", "GET", "/v1/journeys/{id}/figures", "campaigns", List.of("from", "to"), List.of("*-APPKEY"), true),
    LIST_USERS_AT_STEP("listUsersAtStep", "GET", "/v1/journeys/{id}/steps/{step}/users", "campaigns", List.of("limit", "cursor"), List.of("*-APPKEY"), true),
    READ_JOURNEY_HISTORY("readJourneyHistory", "GET", "/v1/journeys/{id}/history", "campaigns", List.of("customer_id"), List.of("*-APPKEY"), true),
    READ_CAMPAIGN_STATS("readCampaignStats", "POST", "/v1/campaign-stats", "campaigns", List.of(), List.of("*-APPKEY"), true),
    READ_CAMPAIGN_STATS_CORE_SERVICES("readCampaignStatsCoreServices", "POST", "/core-services/v1/campaign-stats", "campaigns", List.of(), List.of("*-APPKEY"), true),
    REQUEST_REPORT_FILE("requestReportFile", "POST", "/v1/campaign-reports", "campaigns", List.of(), List.of("*-APPKEY", "Idempotency-Key"), true),
    LIST_REPORT_FILES("listReportFiles", "GET", "/v1/campaign-reports", "campaigns", List.of(), List.of("*-APPKEY"), true),
    SEND_LIVE_ACTIVITY_EVENT("sendLiveActivityEvent", "POST", "/v1/live-activities", "push", List.of(), List.of("Idempotency-Key"), true),
    ADD_LIVE_ACTIVITY_TOKENS("addLiveActivityTokens", "PUT", "/v1/live-activities/{id}/tokens", "push", List.of(), List.of(), false),
    READ_LIVE_ACTIVITY("readLiveActivity", "GET", "/v1/live-activities/{id}", "push", List.of("app"), List.of(), true),
    REPORT_INTERACTION("reportInteraction", "POST", "/v1/interactions", "none", List.of(), List.of(), false),
    READ_INBOX("readInbox", "GET", "/sandbox/inbox", "none", List.of("workspaceId", "after", "limit", "wait"), List.of(), true),
    CLEAR_INBOX("clearInbox", "DELETE", "/sandbox/inbox", "none", List.of(), List.of(), false),
    RESET_SANDBOX("resetSandbox", "POST", "/sandbox/reset", "none", List.of(), List.of(), false),
    READ_COUNTERS("readCounters", "GET", "/sandbox/counters", "none", List.of(), List.of(), true),
    LIST_REFUSALS("listRefusals", "GET", "/sandbox/refusals", "none", List.of("limit"), List.of(), true),
    READ_CLOCK("readClock", "GET", "/sandbox/clock", "none", List.of(), List.of(), true),
    MOVE_CLOCK("moveClock", "POST", "/sandbox/clock", "none", List.of(), List.of(), false),
    SET_FAULTS("setFaults", "POST", "/sandbox/faults", "none", List.of(), List.of(), false),
    REGISTER_BROWSER("registerBrowser", "POST", "/sandbox/browser/devices", "none", List.of(), List.of(), false),
    READ_LIVENESS("readLiveness", "GET", "/livez", "none", List.of(), List.of(), true),
    READ_READINESS("readReadiness", "GET", "/readyz", "none", List.of("verbose"), List.of(), true);

    final String id;
    final String method;
    final String path;
    final String key;
    final List<String> query;
    final List<String> headers;
    /** A repeat changes nothing. */
    final boolean isSafe;

    Operation(String id, String method, String path, String key, List<String> query, List<String> headers, boolean isSafe) {
        this.id = id;
        this.method = method;
        this.path = path;
        this.key = key;
        this.query = query;
        this.headers = headers;
        this.isSafe = isSafe;
    }

    /** Its name in the API document. */
    public String id() {
        return id;
    }
}
