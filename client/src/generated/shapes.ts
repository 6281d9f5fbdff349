// Generated from the OpenAPI document by `npm run client:types`; edits are lost.

export type App = {
  /** Id of the app */
  app_id: string;

  /** ANDROID, IOS or WEB */
  platform: 'ANDROID' | 'IOS' | 'WEB';

  /** Name */
  name: string;

  /** Null for the default app without a credential */
  identifier: string | null;

  /** iOS only: Apple's service; absent: production */
  environment?: 'production' | 'sandbox';

  /** Android only: FCM receives the package and rejects tokens of other packages */
  restrictPackage?: boolean;

  /** Android only: whether the app or the system shows messages */
  mode?: 'data' | 'notification' | 'both';

  /** Sites only: the declarative form of a web push */
  declarative?: 'auto' | 'always' | 'never';

  /** iOS only: Apple granted the app critical alerts, so messages may use critical sounds */
  criticalAlerts?: boolean;

  /** Android only: value of push_from */
  pushFrom?: string;

  /** Phones only: prefix of Carillon's keys */
  dataPrefix?: string;

  /** Defaults for contents that set no value */
  defaults?: {
    /** Android channel */
    channel_id?: string;

    /** File of the app, on phones */
    sound?: string;

    /** Name of a drawable */
    icon?: string;

    /** #rrggbb */
    color?: string;
  };

  /** The app whose credential the messages use; null if there is none */
  credential_of: string | null;
};

export type AppAccess = {
  /** Origins of sites that may use the app key */
  web_origins: string[];

  /** Attributes that apps may write, without the prefix app: */
  attributes: string[];

  /** At most two, both valid */
  identity_keys: {
    /** The kid in the header of tokens */
    kid: string;

    /** Of every token under the key */
    algorithm: 'HS256' | 'ES256';

    /** Time of creation */
    created_at: string;
  }[];
};

export type AppAccessRequest = {
  /** Origins of sites that may use the app key, such as https://shop.example. Absent: none */
  web_origins?: string[];

  /** Attributes that apps may write; stored with the prefix app:. Absent: none */
  attributes?: string[];
};

export type AppEvent = {
  /** Made by the app, new for each: 8 to 64 letters, digits, - and _ */
  id: string;

  /** event, or set for a change of attributes */
  type: 'event' | 'set';

  /** Of an event */
  name?: string;

  /** Of the event; or those to set, where null removes one */
  attributes?: Record<string, unknown>;

  /** By the device's clock; absent: now */
  time?: string;
};

export type AppEvents = {
  /** Stored now */
  accepted: number;

  /** Stored by an earlier request */
  repeated: number;

  /** Events that are never stored: do not send them again */
  refused: {
    /** Id */
    id: string;

    /** Why */
    reason: string;
  }[];
};

export type AppEventsRequest = {
  /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
  installation_id: string;

  /** The device's clock when it sends the request: times are corrected by its difference */
  sent_at?: string;

  /** Events, oldest first */
  events: AppEvent[];
};

export type AppReceipt = {
  /** Made by the app, new for each: 8 to 64 letters, digits, - and _ */
  id: string;

  /** The report token of the message */
  token: string;

  /** Kind of the object */
  type: 'shown' | 'clicked' | 'dismissed';

  /** The button that was clicked */
  action?: string;
};

export type AppReceipts = {
  /** Requests that the simulated provider accepted */
  accepted: number;

  /** Reports that are never stored: do not send them again */
  refused: {
    /** Id */
    id: string;

    /** Why */
    reason: string;
  }[];
};

export type AppReceiptsRequest = {
  /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
  installation_id: string;

  /** What users did with messages, each once by its id */
  receipts: AppReceipt[];
};

export type AppRequest = {
  /** ANDROID, IOS or WEB */
  platform: 'ANDROID' | 'IOS' | 'WEB';

  /** Display name; absent: the id */
  name?: string;

  /** Android package, bundle id, or origin of the site; cannot be changed */
  identifier: string;

  /** iOS only: Apple's service; absent: production */
  environment?: 'production' | 'sandbox';

  /** Android only: FCM receives the package and rejects tokens of other packages */
  restrictPackage?: boolean;

  /** Android only: whether the app or the system shows messages */
  mode?: 'data' | 'notification' | 'both';

  /** Sites only: the declarative form of a web push */
  declarative?: 'auto' | 'always' | 'never';

  /** iOS only: Apple granted the app critical alerts, so messages may use critical sounds */
  criticalAlerts?: boolean;

  /** Android only: value of push_from */
  pushFrom?: string;

  /** Phones only: prefix of Carillon's keys */
  dataPrefix?: string;

  /** Defaults for contents that set no value */
  defaults?: {
    /** Android channel */
    channel_id?: string;

    /** File of the app, on phones */
    sound?: string;

    /** Name of a drawable */
    icon?: string;

    /** #rrggbb */
    color?: string;
  };
};

export type Apps = {
  /** Apps of the workspace */
  apps: App[];
};

export type BusinessEventAttribute = {
  /** Name of the attribute */
  attribute_name: string;

  /** string, int, float, array, date */
  attribute_data_type: 'string' | 'int' | 'float' | 'array' | 'date';
};

export type BusinessEventCreated = {
  /** What happened, as a sentence */
  message: string;

  /** Id of the business event */
  event_id: string;
};

export type BusinessEventRequest = {
  /** Name of the event */
  event_name: string;

  /** Attributes of the business event */
  event_attributes?: BusinessEventAttribute[];

  /** Email address of the author */
  created_by: string;
};

/** At least one of the two */
export type BusinessEventSearchV1 = {
  /** Ids of business events */
  event_ids?: string[];

  /** Names of business events */
  event_names?: string[];
};

export type BusinessEventSearchV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Ids of business events */
  event_ids?: string[];

  /** Names of business events */
  event_names?: string[];

  /** Maximum number of items in a page */
  limit?: number;

  /** next_cursor of the previous page */
  cursor?: string;
};

export type BusinessEventTriggerV1 = {
  /** Name of the event */
  event_name: string;

  /** Values of the event’s attributes */
  event_attributes?: Record<string, unknown>;

  /** Email address of the caller */
  triggered_by?: string;
};

export type BusinessEventTriggerV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Name or id */
  event_name: string;

  /** Values of the event’s attributes */
  event_attributes?: Record<string, unknown>;

  /** Email address of the caller */
  triggered_by: string;
};

export type BusinessEventTriggeredV1 = {
  /** What happened, as a sentence */
  message: string;
};

export type BusinessEventTriggeredV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'business_event';

  /** The result */
  data: {
    /** True if all campaigns were started */
    triggered_status: 'FAILURE' | 'PARTIAL_SUCCESS' | 'SUCCESS';

    /** What happened, as a sentence */
    message: string;

    /** Counts of campaigns */
    summary: {
      /** Campaigns that the business event concerns */
      total: number;

      /** Campaigns that the trigger started */
      triggered: number;

      /** Campaigns that the trigger could not start */
      failed: number;
    };

    /** Ids of the campaigns that the trigger started */
    triggered_campaign_ids: string[];

    /** Ids of the campaigns that the trigger could not start */
    failed_campaign_ids: string[];

    /** Empty: there are no flows */
    triggered_flow_ids: string[];

    /** Empty: there are no flows */
    failed_flow_ids: string[];
  };
};

export type BusinessEventsV1 = {
  /** The result */
  data: {
    /** Database name of the workspace */
    db_name: string;

    /** Id of the business event */
    event_id: string;

    /** Name of the event */
    event_name: string;

    /** Attributes of the business event */
    event_attributes: BusinessEventAttribute[];

    /** Email address of the author */
    created_by: string;

    /** Time of creation */
    created_at: string;

    /** How often the business event was triggered */
    total_trigger: number;

    /** Number of campaigns published with it */
    usage_count: number;

    /** Time of the last trigger */
    last_received_time?: string;
  }[];
};

export type BusinessEventsV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'business_event';

  /** The result */
  data: {
    /** Business events that were found */
    business_events: {
      /** Id */
      id: string;

      /** Id of the business event */
      event_id: string;

      /** Name of the event */
      event_name: string;

      /** Attributes of the business event */
      event_attributes: BusinessEventAttribute[];

      /** Email address of the author */
      created_by: string;

      /** Time of creation */
      created_at: string;

      /** How often the business event was triggered */
      total_trigger: number;

      /** Number of campaigns published with it */
      usage_count: number;

      /** Time of the last trigger */
      last_received_time?: string;
    }[];

    /** There may be another page */
    next_cursor?: string;
  };
};

export type CampaignAdvanced = {
  /** How long the message may be delivered and shown */
  expiration_settings?: {
    /** At most seven days */
    expire_notification_after_value?: number;

    /** HOUR or DAY */
    expire_notification_after_type?: 'HOUR' | 'DAY';

    /** Refused */
    remove_from_inbox_after_value?: number;

    /** Refused */
    remove_from_inbox_after_type?: string;
  };

  /** Priority of the message for each platform */
  platform_level_priority?: {
    /** Priority of the message for Android */
    android_specific_priority?: {
      /** HIGH or NORMAL */
      send_with_priority?: 'HIGH' | 'NORMAL';
    };

    /** Priority of the message for APNs */
    ios_specific_priority?: {
      /** 1, 5 or 10 */
      apns_priority?: string;

      /** ACTIVE */
      interruption_level?: string;

      /** Order within the summary of notifications, 0 to 1 */
      relevance_score?: number;
    };
  };

  /** Apps whose devices are reached; absent: all */
  app_ids?: string[];

  /** Key of a topic: users who are not in it are left out. Absent: none */
  topic?: string;

  /** Whether messages are kept in the inbox of the app or site */
  inbox?: CampaignInbox;
};

export type CampaignAnswerV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: CampaignV5;
};

export type CampaignAudience = {
  /** Whether the audience is all users */
  is_all_user_campaign?: boolean;

  /** As in filter segments */
  included_filters?: Record<string, unknown>;

  /** As in filter segments */
  excluded_filters?: Record<string, unknown>;

  /** false */
  send_campaign_to_opt_out_users?: boolean;
};

export type CampaignAudienceLimit = {
  /** Default: true where there is a limit */
  is_campaign_audience_limit_enabled?: boolean;

  /** Maximum users, each counted once per run; further users are excluded */
  limit?: number;

  /** TOTAL: in all runs together; INSTANCE: in each */
  frequency?: 'TOTAL' | 'INSTANCE';

  /** SENT */
  metric?: 'SENT';

  /** V1: SENT */
  metrics?: 'SENT';
};

export type CampaignBasicDetails = {
  /** Name */
  name?: string;

  /** ANDROID, IOS, WEB */
  platforms?: string[];

  /** Settings of each platform */
  platform_specific_details?: {
    /** Content or settings for Android */
    android?: {
      /** false */
      push_amp_plus_enabled?: boolean;
    };

    /** Content or settings for iPhones and iPads */
    ios?: {
      /** true */
      send_to_all_eligible_device?: boolean;

      /** false */
      exclude_provisional_push_devices?: boolean;

      /** false */
      send_to_only_provisional_push_enabled_devices?: boolean;
    };
  };

  /** Tags of the campaign */
  tags?: string[];

  /** Default Team */
  team?: string;

  /** Name of the event of a BUSINESS_EVENT_TRIGGERED campaign */
  business_event?: string;

  /** Refused */
  geofences?: unknown[];

  /** Refused */
  broadcast_live_activity_id?: string;

  /** false */
  send_to_triggered_platform_only?: boolean;
};

export type CampaignChangeV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** PUSH */
  channel?: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details?: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details?: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Email address of the author of the change */
  updated_by: string;
};

export type CampaignChangedAnswer = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id */
    id: string;
  };
};

export type CampaignContent = {
  /** Locales that have content */
  locales?: string[];

  /** Variations of the content */
  variation_details?: {
    /** Number of variations */
    no_of_variations?: number;

    /** MANUAL or SHERPA: learned */
    distribution_type?: 'MANUAL' | 'SHERPA';

    /** CLICKS, or GOAL: the primary goal */
    sherpa_metric?: 'CLICKS' | 'GOAL';

    /** Minimum share of each variation */
    sherpa_minimum_percentage?: number;

    /** Percent of the users by variation, 100 together */
    manual_distribution_percentage?: Record<string, number>;
  };

  /** `push`, or `push` below each locale (`default` and language tags) and each variation */
  content?: {
    /** Content for each platform */
    push?: CampaignPushContent;
    default?: CampaignVariations;
  } & Record<string, unknown>;
};

export type CampaignCreatedV1 = {
  /** Id of the campaign */
  campaign_id: string;
};

export type CampaignDeliveryControls = {
  /** Default false */
  bypass_dnd?: boolean;

  /** Default: messages that respect the cap count */
  count_for_frequency_capping?: boolean;

  /** Default false */
  ignore_frequency_capping?: boolean;

  /** Default false */
  ignore_global_minimum_delay?: boolean;

  /** false */
  send_message_in_offline_mode?: boolean;

  /** Queues messages that a cap, a delay or quiet hours hold back; default false */
  queuing_enabled?: boolean;

  /** Maximum hours in the queue; default 48 */
  queue_duration?: number;

  /** Devices a minute */
  campaign_throttle_rpm?: number;

  /** Between messages of this campaign */
  minimum_delay_between_two_notification_in_hour?: number;

  /** Refused */
  max_time_to_show_message_of_same_camapign?: number;

  /** Refused */
  expiry_time_of_sync_data_in_hour?: number;

  /** V1: messages of this campaign to a user */
  send_limit_value?: number;

  /** V1: within this many hours */
  send_limit_granularity_in_hours?: number;

  /** How often one user gets the campaign */
  limit_send_config?: {
    /** Default false */
    enabled?: boolean;

    /** Messages of this campaign to a user */
    max_count?: number;

    /** Number of units, at most 30 days */
    window_value?: number;

    /** MINUTES, HOURS or DAYS */
    window_unit?: 'MINUTES' | 'HOURS' | 'DAYS';
  };
};

export type CampaignDraftAnswer = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id */
    id: string;

    /** Outcome or state */
    status: 'DRAFT';
  };
};

export type CampaignDraftChange = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** PUSH */
  channel?: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details?: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details?: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Email address of the author of the change */
  updated_by?: string;
};

export type CampaignDraftRequest = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** PUSH */
  channel: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details?: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details?: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Email address of the author */
  created_by: string;
};

export type CampaignErrorV1 = {
  /** The error */
  error: {
    /** The status in words */
    code:
      | '400 Bad Request'
      | '401 Authentication error'
      | '404 Not Found'
      | '405 Method Not Allowed'
      | '409 Conflict'
      | '413 Payload Too Large'
      | '415 Unsupported Media Type'
      | '421 Misdirected Request'
      | '422 Unprocessable Entity'
      | '429 conflict'
      | '500 Internal Server Error'
      | '503 Service Unavailable';

    /** What happened, as a sentence */
    message: string;

    /** The subject; empty if there is none */
    target: string;

    /** All errors of the request */
    details: {
      /** Code of the error */
      code?: string;

      /** Member that the error concerns */
      target: string;

      /** What happened, as a sentence */
      message: string;
    }[];

    /** As sent; empty if the request had none */
    request_id: string;
  };
};

export type CampaignErrorV5 = {
  /** Identifies this call in the API log */
  response_id: string;

  /** The error */
  error: {
    /** The kind of error */
    code:
      | 'BAD_REQUEST'
      | 'FORBIDDEN'
      | 'INTERNAL_ERROR'
      | 'METHOD_NOT_ALLOWED'
      | 'MISDIRECTED_REQUEST'
      | 'NOT_FOUND'
      | 'PAYLOAD_TOO_LARGE'
      | 'RATE_LIMITED'
      | 'SERVICE_UNAVAILABLE'
      | 'UNAUTHORIZED'
      | 'UNPROCESSABLE_ENTITY'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'VALIDATION_FAILED';

    /** What happened, as a sentence */
    message: string;

    /** Member that the error concerns */
    target?: string;

    /** All errors of the request */
    details: {
      /** Member that the error concerns */
      target: string;

      /** What happened, as a sentence */
      message: string;
    }[];

    /** Your id of the request, returned in the response */
    request_id?: string;
  };
};

export type CampaignGoals = {
  /** How long after a message an event counts; default 36 */
  attribution_window_in_hours?: number;

  /** Events that count as conversions */
  goals?: {
    /** Name of the goal */
    goal_name?: string;

    /** Event that counts as a conversion */
    goal_event_name?: string;

    /** name, type, operator, value */
    goal_event_attribute?: Record<string, unknown>;

    /** The first goal */
    is_primary_goal?: boolean;

    /** The numeric event attribute that contains the revenue */
    revenue_attribute?: string;

    /** Three letters (ISO 4217); nothing is converted */
    revenue_currency?: string;
  }[];
};

export type CampaignInbox = {
  /** PUSH: no inbox, the default. INBOX: no push. BOTH: a push, and the inbox of every user. EITHER: a push, and the inbox of users whom no push reaches */
  send_to?: 'PUSH' | 'INBOX' | 'BOTH' | 'EITHER';

  /** Hours for which the message can be read; default 720 */
  inbox_expiry?: number;

  /** Apps can read the messages of one tag */
  tags?: string[];
};

export type CampaignInboxFigures = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id of the campaign */
    campaign_id: string;

    /** Users in whose inbox the message was put */
    kept: number;

    /** Of these, users who have read it */
    read: number;

    /** Of these, users who have archived it */
    archived: number;

    /** The newest 100 runs, newest first; the figures above are their sums */
    runs: {
      /** Id */
      id: string;

      /** ISO 8601 */
      created_at: string;

      /** Users in whose inbox the message was put */
      kept: number;

      /** Of these, users who have read it */
      read: number;

      /** Of these, users who have archived it */
      archived: number;
    }[];
  };
};

export type CampaignMetaListV1 = {
  /** Id of the campaign */
  campaign_id: string;

  /** The channel of the campaign */
  channel: 'EMAIL' | 'PUSH' | 'SMS';

  /** Platforms of the campaign */
  platform: string[];

  /** Email address of the author */
  created_by: string;

  /** How the campaign is started */
  campaign_delivery_type:
    | 'API_TRIGGERED'
    | 'BROADCAST_LIVE_ACTIVITY'
    | 'BUSINESS_EVENT_TRIGGERED'
    | 'DEVICE_TRIGGERED'
    | 'EVENT_TRIGGERED'
    | 'LOCATION_TRIGGERED'
    | 'ONE_TIME'
    | 'PERIODIC';

  /** Name of the campaign */
  campaign_name: string;

  /** Team of the campaign */
  campaign_team: string;

  /** Tags of the campaign */
  campaign_tags: string[];

  /** State of the campaign */
  campaign_status: string;

  /** Start of the campaign */
  campaign_start_time: string;

  /** Id of the recurring campaign that this is a run of */
  parent_campaign_id?: string;

  /** Number of runs */
  total_child_campaigns: number;

  /** Number of devices that can be reached */
  reachability_details?: {
    /** Number of reachable devices */
    count: number;

    /** Time of the count */
    last_updated_time: string;
  };
}[];

export type CampaignMetaListV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Campaigns that were found */
    campaigns: {
      /** Id of the campaign */
      campaign_id: string;

      /** The channel of the campaign */
      channel: 'EMAIL' | 'PUSH' | 'SMS';

      /** Platforms of the campaign */
      platform: string[];

      /** Email address of the author */
      created_by: string;

      /** How the campaign is started */
      campaign_delivery_type:
        | 'API_TRIGGERED'
        | 'BROADCAST_LIVE_ACTIVITY'
        | 'BUSINESS_EVENT_TRIGGERED'
        | 'DEVICE_TRIGGERED'
        | 'EVENT_TRIGGERED'
        | 'LOCATION_TRIGGERED'
        | 'ONE_TIME'
        | 'PERIODIC';

      /** Name of the campaign */
      campaign_name: string;

      /** Team of the campaign */
      campaign_team: string;

      /** Tags of the campaign */
      campaign_tags: string[];

      /** State of the campaign */
      campaign_status: string;

      /** Start of the campaign */
      campaign_start_time: string;

      /** Id of the recurring campaign that this is a run of */
      parent_campaign_id?: string;

      /** Number of runs */
      total_child_campaigns: number;

      /** Number of devices that can be reached */
      reachability_details?: {
        /** Number of reachable devices */
        count: number;

        /** Time of the count */
        last_updated_time: string;
      };

      /** Number of the published revision */
      version_number?: number;
    }[];
  };
};

export type CampaignMetaSearchV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Maximum number of items in a page */
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;

  /** Whether archived campaigns are found */
  include_archive_campaigns?: boolean;

  /** Conditions that the campaigns must fulfil */
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: ('PUSH' | 'EMAIL' | 'SMS')[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      /** First day */
      from_date?: string;

      /** Last day */
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: (
      'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'ACTIVE' | 'PAUSED' | 'RETIRED' | 'STOPPED' | 'FAILED' | 'ARCHIVED'
    )[];

    /** Any of them */
    tags?: string[];

    /** Id */
    id?: string;

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    delivery_type?:
      | 'ONE_TIME'
      | 'PERIODIC'
      | 'EVENT_TRIGGERED'
      | 'BUSINESS_EVENT_TRIGGERED'
      | 'DEVICE_TRIGGERED'
      | 'LOCATION_TRIGGERED'
      | 'BROADCAST_LIVE_ACTIVITY'
      | 'API_TRIGGERED';

    /** Only with campaign versioning */
    version_number?: number;
  };
};

export type CampaignPeriod = {
  /** DAILY, WEEKLY or MONTHLY */
  sending_frequency?: 'DAILY' | 'WEEKLY' | 'MONTHLY';

  /** Days; weeks up to 52, months up to 12 */
  repeat_frequency?: number;

  /** Number of runs after which the campaign ends */
  no_of_occurences?: number;

  /** Days of the month on which the campaign is sent */
  repeat_on_date_of_month?: number[];

  /** MONDAY to SUNDAY */
  repeat_on_days_of_week?: string[];

  /** Days of the week within the month on which the campaign is sent */
  repeat_on_days_of_week_for_month?: {
    /** FIRST to FIFTH, or LAST */
    week_granularity?: 'FIRST' | 'SECOND' | 'THIRD' | 'FOURTH' | 'FIFTH' | 'LAST';

    /** Days of the week on which the campaign is sent */
    repeat_on_days_of_week?: string[];
  }[];
};

export type CampaignPreview = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Customer id of the user */
    customer_id: string;

    /** Platforms */
    platforms: Record<
      string,
      {
        /** RENDERED, FALLBACK or FAILED */
        outcome: string;

        /** The locale for all other users; absent: the campaign's texts */
        language?: string;

        /** The content, in the form of campaign_content */
        content?: Record<string, unknown>;

        /** Why the text could not be rendered */
        failure?: {
          /** Path of the member that the error concerns */
          field: string;

          /** Code of the cause */
          cause: string;

          /** Why */
          reason: string;
        };
      }
    >;
  };
};

export type CampaignPreviewRequest = {
  /** Instead of campaign_content */
  draft_id?: string;

  /** PUSH */
  channel?: 'PUSH';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;

  /** One of the campaign's; absent: all of them */
  platform?: 'ANDROID' | 'IOS' | 'WEB';

  /** `default` or a language of the campaign; absent: each user's own */
  locale_name?: string;

  /** variation_1, variation_2 …; absent: variation_1 */
  variation?: unknown;

  /** USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute */
  identifier: string;

  /** Value that names the user */
  identifier_value: string;

  /** Attributes of a sample firing of the business event */
  event_attributes?: Record<string, unknown>;
};

export type CampaignPushContent = {
  /** Content or settings for Android */
  android?: {
    /** BASIC */
    template_type?: 'BASIC';

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;

    /** Options beyond the interface */
    options?: {
      /** Who shows the message: the app (`data`), the system (`notification`), or both */
      deliveryMode?: 'data' | 'notification' | 'both';

      /** Whether a locked screen shows the message */
      visibility?: 'private' | 'public' | 'secret';

      /** #rrggbb */
      color?: string;

      /** A drawable of the app */
      icon?: string;

      /** Whether the user cannot swipe the notification away */
      sticky?: boolean | 'true' | 'false';

      /** Removed after this time */
      timeoutSeconds?: number;

      /** The number on the icon of the app */
      badge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };

      /** Texts that are looked up in the app */
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;

        /** Values for the placeholders of `titleLocKey` */
        titleLocArgs?: string[];

        /** Key of the message's text in the app */
        bodyLocKey?: string;

        /** Values for the placeholders of `bodyLocKey` */
        bodyLocArgs?: string[];
      };

      /** Whether the app may get the message before the first unlock */
      directBootOk?: boolean | 'true' | 'false';

      /** Whether FCM may deliver over a network with limited bandwidth */
      bandwidthConstrainedOk?: boolean | 'true' | 'false';

      /** Whether FCM may deliver over a satellite link */
      restrictedSatelliteOk?: boolean | 'true' | 'false';

      /** 1 to 50 letters, digits and -_.~% */
      analyticsLabel?: string;
    };

    /** Texts, media and the action of a tap */
    basic_details?: {
      /** Channel of Android that shows the message */
      notification_channel?: string;

      /** Title of the message */
      title?: string;

      /** What happened, as a sentence */
      message?: string;

      /** Line of text below the message on Android */
      summary?: string;

      /** Address of the image */
      image_url?: string;

      /** Refused */
      input_gif_url?: string;

      /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
      default_click_action?: 'RICH_LANDING' | 'NAVIGATE_TO_A_SCREEN' | 'DEEPLINKING';

      /** Address or screen that a tap opens */
      default_click_action_value?: string;

      /** Pairs that the app gets with the message */
      key_value_pairs?: {
        /** Name of the pair */
        key: string;

        /** Value of the pair */
        value?: string;
      }[];
    };

    /** Buttons of the notification */
    buttons?: {
      /** Text of the button */
      btn_name?: string;

      /** call, snooze, copy or share */
      click_action_type?: 'call' | 'snooze' | 'copy' | 'share';

      /** Value of the button's action, such as a number to call */
      click_action_value?: string;

      /** Address of the icon */
      icon_url?: string;
    }[];

    /** Options of the platform, such as sound, group and coupon code */
    advanced?: {
      /** Coupon code that the app copies */
      coupon_code?: string;

      /** Name of the sound file in the app */
      sound_file?: string;

      /** Messages with the same key are shown as a group */
      group_key?: string;

      /** A newer message with the same key replaces this one */
      collapse_replace_key?: string;

      /** false */
      make_notification_sticky?: boolean;

      /** Refused */
      auto_dismiss_notification?: unknown;
    };

    /** Refused */
    timer?: Record<string, unknown>;

    /** Content for users for whom rendering fails */
    template_backup?: {
      /** BASIC */
      template_type?: 'BASIC';

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;

      /** Options beyond the interface */
      options?: {
        /** Who shows the message: the app (`data`), the system (`notification`), or both */
        deliveryMode?: 'data' | 'notification' | 'both';

        /** Whether a locked screen shows the message */
        visibility?: 'private' | 'public' | 'secret';

        /** #rrggbb */
        color?: string;

        /** A drawable of the app */
        icon?: string;

        /** Whether the user cannot swipe the notification away */
        sticky?: boolean | 'true' | 'false';

        /** Removed after this time */
        timeoutSeconds?: number;

        /** The number on the icon of the app */
        badge?: {
          /** What happens to the number on the icon */
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };

        /** Texts that are looked up in the app */
        locKeys?: {
          /** Key of a text in the app; required for its arguments */
          titleLocKey?: string;

          /** Values for the placeholders of `titleLocKey` */
          titleLocArgs?: string[];

          /** Key of the message's text in the app */
          bodyLocKey?: string;

          /** Values for the placeholders of `bodyLocKey` */
          bodyLocArgs?: string[];
        };

        /** Whether the app may get the message before the first unlock */
        directBootOk?: boolean | 'true' | 'false';

        /** Whether FCM may deliver over a network with limited bandwidth */
        bandwidthConstrainedOk?: boolean | 'true' | 'false';

        /** Whether FCM may deliver over a satellite link */
        restrictedSatelliteOk?: boolean | 'true' | 'false';

        /** 1 to 50 letters, digits and -_.~% */
        analyticsLabel?: string;
      };

      /** Texts, media and the action of a tap */
      basic_details?: {
        /** Channel of Android that shows the message */
        notification_channel?: string;

        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Line of text below the message on Android */
        summary?: string;

        /** Address of the image */
        image_url?: string;

        /** Refused */
        input_gif_url?: string;

        /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
        default_click_action?: 'RICH_LANDING' | 'NAVIGATE_TO_A_SCREEN' | 'DEEPLINKING';

        /** Address or screen that a tap opens */
        default_click_action_value?: string;

        /** Pairs that the app gets with the message */
        key_value_pairs?: {
          /** Name of the pair */
          key: string;

          /** Value of the pair */
          value?: string;
        }[];
      };

      /** Buttons of the notification */
      buttons?: {
        /** Text of the button */
        btn_name?: string;

        /** call, snooze, copy or share */
        click_action_type?: 'call' | 'snooze' | 'copy' | 'share';

        /** Value of the button's action, such as a number to call */
        click_action_value?: string;

        /** Address of the icon */
        icon_url?: string;
      }[];

      /** Options of the platform, such as sound, group and coupon code */
      advanced?: {
        /** Coupon code that the app copies */
        coupon_code?: string;

        /** Name of the sound file in the app */
        sound_file?: string;

        /** Messages with the same key are shown as a group */
        group_key?: string;

        /** A newer message with the same key replaces this one */
        collapse_replace_key?: string;

        /** false */
        make_notification_sticky?: boolean;

        /** Refused */
        auto_dismiss_notification?: unknown;
      };

      /** Refused */
      timer?: Record<string, unknown>;
    };
  };

  /** Content or settings for iPhones and iPads */
  ios?: {
    /** BASIC */
    template_type?: 'BASIC';

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;

    /** Options beyond the interface */
    options?: {
      /** How strongly iOS interrupts the user */
      interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';

      /** Order within the summary of notifications, 0 to 1 */
      relevanceScore?: number;

      /** Window of the app that the message concerns */
      targetContentId?: string;

      /** Text that a Focus filter compares */
      filterCriteria?: string;

      /** Sound of the message */
      sound?: {
        /** A file of the app, or default */
        name: string;

        /** Plays even if the phone is muted; requires an app with criticalAlerts */
        critical?: boolean | 'true' | 'false';

        /** For a critical sound */
        volume?: number;
      };

      /** The number on the icon of the app */
      badge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };

      /** Whether iOS wakes the app to load content */
      contentAvailable?: boolean | 'true' | 'false';

      /** Image that the app shows when it is launched by the message */
      launchImage?: string;

      /** Texts that are looked up in the app */
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;

        /** Values for the placeholders of `titleLocKey` */
        titleLocArgs?: string[];

        /** Key of the message's text in the app */
        bodyLocKey?: string;

        /** Values for the placeholders of `bodyLocKey` */
        bodyLocArgs?: string[];

        /** Key of the subtitle in the app */
        subtitleLocKey?: string;

        /** Values for the placeholders of `subtitleLocKey` */
        subtitleLocArgs?: string[];
      };

      /** Buttons of the notification */
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;

        /** Text of the button */
        title: string;

        /** http, https or the scheme of an app */
        url: string;

        /** https */
        iconURL?: string;
      }[];
    };

    /** Texts, media and the action of a tap */
    basic_details?: {
      /** Title of the message */
      title?: string;

      /** What happened, as a sentence */
      message?: string;

      /** Second line of an iPhone's message */
      subtitle?: string;

      /** false */
      allow_bg_refresh?: boolean;

      /** Image, Video, GIF or Audio */
      rich_media_type?: 'Image' | 'GIF' | 'Video' | 'Audio';

      /** Address of the media */
      rich_media_value?: string;

      /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
      default_click_action?: 'RICH_LANDING' | 'NAVIGATE_TO_A_SCREEN' | 'DEEPLINKING';

      /** Address or screen that a tap opens */
      default_click_action_value?: string;

      /** Pairs that the app gets with the message */
      key_value_pairs?: {
        /** Name of the pair */
        key: string;

        /** Value of the pair */
        value?: string;
      }[];
    };

    /** Buttons of the notification */
    buttons?: {
      /** Category of buttons that the app has registered */
      button_category?: string;
    }[];

    /** Options of the platform, such as sound, group and coupon code */
    advanced?: {
      /** Coupon code that the app copies */
      coupon_code?: string;

      /** Name of the sound file in the app */
      sound_file?: string;

      /** Messages with the same key are shown as a group */
      group_key?: string;

      /** A newer message with the same key replaces this one */
      collapse_replace_key?: string;

      /** Whether the message raises the number on the app's icon */
      enable_ios_badge?: boolean;
    };

    /** Refused */
    timer?: Record<string, unknown>;

    /** Content for users for whom rendering fails */
    template_backup?: {
      /** BASIC */
      template_type?: 'BASIC';

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;

      /** Options beyond the interface */
      options?: {
        /** How strongly iOS interrupts the user */
        interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';

        /** Order within the summary of notifications, 0 to 1 */
        relevanceScore?: number;

        /** Window of the app that the message concerns */
        targetContentId?: string;

        /** Text that a Focus filter compares */
        filterCriteria?: string;

        /** Sound of the message */
        sound?: {
          /** A file of the app, or default */
          name: string;

          /** Plays even if the phone is muted; requires an app with criticalAlerts */
          critical?: boolean | 'true' | 'false';

          /** For a critical sound */
          volume?: number;
        };

        /** The number on the icon of the app */
        badge?: {
          /** What happens to the number on the icon */
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };

        /** Whether iOS wakes the app to load content */
        contentAvailable?: boolean | 'true' | 'false';

        /** Image that the app shows when it is launched by the message */
        launchImage?: string;

        /** Texts that are looked up in the app */
        locKeys?: {
          /** Key of a text in the app; required for its arguments */
          titleLocKey?: string;

          /** Values for the placeholders of `titleLocKey` */
          titleLocArgs?: string[];

          /** Key of the message's text in the app */
          bodyLocKey?: string;

          /** Values for the placeholders of `bodyLocKey` */
          bodyLocArgs?: string[];

          /** Key of the subtitle in the app */
          subtitleLocKey?: string;

          /** Values for the placeholders of `subtitleLocKey` */
          subtitleLocArgs?: string[];
        };

        /** Buttons of the notification */
        additionalActions?: {
          /** Its name in reports, used only once */
          action: string;

          /** Text of the button */
          title: string;

          /** http, https or the scheme of an app */
          url: string;

          /** https */
          iconURL?: string;
        }[];
      };

      /** Texts, media and the action of a tap */
      basic_details?: {
        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Second line of an iPhone's message */
        subtitle?: string;

        /** false */
        allow_bg_refresh?: boolean;

        /** Image, Video, GIF or Audio */
        rich_media_type?: 'Image' | 'GIF' | 'Video' | 'Audio';

        /** Address of the media */
        rich_media_value?: string;

        /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
        default_click_action?: 'RICH_LANDING' | 'NAVIGATE_TO_A_SCREEN' | 'DEEPLINKING';

        /** Address or screen that a tap opens */
        default_click_action_value?: string;

        /** Pairs that the app gets with the message */
        key_value_pairs?: {
          /** Name of the pair */
          key: string;

          /** Value of the pair */
          value?: string;
        }[];
      };

      /** Buttons of the notification */
      buttons?: {
        /** Category of buttons that the app has registered */
        button_category?: string;
      }[];

      /** Options of the platform, such as sound, group and coupon code */
      advanced?: {
        /** Coupon code that the app copies */
        coupon_code?: string;

        /** Name of the sound file in the app */
        sound_file?: string;

        /** Messages with the same key are shown as a group */
        group_key?: string;

        /** A newer message with the same key replaces this one */
        collapse_replace_key?: string;

        /** Whether the message raises the number on the app's icon */
        enable_ios_badge?: boolean;
      };

      /** Refused */
      timer?: Record<string, unknown>;
    };
  };

  /** Content or settings for browsers */
  web?: {
    /** BASIC */
    template_type?: 'BASIC';

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;

    /** Options beyond the interface */
    options?: {
      /** Buttons of the notification */
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;

        /** Text of the button */
        title: string;

        /** http or https */
        url: string;

        /** https */
        iconURL?: string;
      }[];

      /** https */
      badgeURL?: string;

      /** The same tag replaces the earlier notification */
      tag?: string;

      /** Whether a message that replaces another alerts again */
      renotify?: boolean | 'true' | 'false';

      /** Whether the message makes no sound */
      silent?: boolean | 'true' | 'false';

      /** Whether the notification stays until the user acts */
      requireInteraction?: boolean | 'true' | 'false';

      /** BCP 47 */
      lang?: string;

      /** Direction of the text */
      dir?: 'auto' | 'ltr' | 'rtl';

      /** Pattern of vibration in milliseconds */
      vibrate?: number[];

      /** Milliseconds since 1970 */
      timestamp?: number;

      /** Whether the push has the declarative form */
      declarative?: 'auto' | 'always' | 'never';

      /** The number on the icon of the app */
      appBadge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
    };

    /** Texts, media and the action of a tap */
    basic_details?: {
      /** Title of the message */
      title?: string;

      /** What happened, as a sentence */
      message?: string;

      /** Address that a click opens */
      redirect_url?: string;

      /** Address of the image */
      image_url?: string;

      /** Whether the notification disappears by itself */
      auto_dismiss_notification?: boolean;
    };

    /** Refused */
    buttons?: unknown[];

    /** Options of the platform, such as sound, group and coupon code */
    advanced?: {
      /** ICON_URL */
      icon_image_type?: 'ICON_URL';

      /** Address of the icon */
      icon_url?: string;
    };

    /** Refused */
    timer?: Record<string, unknown>;

    /** Content for users for whom rendering fails */
    template_backup?: {
      /** BASIC */
      template_type?: 'BASIC';

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;

      /** Options beyond the interface */
      options?: {
        /** Buttons of the notification */
        additionalActions?: {
          /** Its name in reports, used only once */
          action: string;

          /** Text of the button */
          title: string;

          /** http or https */
          url: string;

          /** https */
          iconURL?: string;
        }[];

        /** https */
        badgeURL?: string;

        /** The same tag replaces the earlier notification */
        tag?: string;

        /** Whether a message that replaces another alerts again */
        renotify?: boolean | 'true' | 'false';

        /** Whether the message makes no sound */
        silent?: boolean | 'true' | 'false';

        /** Whether the notification stays until the user acts */
        requireInteraction?: boolean | 'true' | 'false';

        /** BCP 47 */
        lang?: string;

        /** Direction of the text */
        dir?: 'auto' | 'ltr' | 'rtl';

        /** Pattern of vibration in milliseconds */
        vibrate?: number[];

        /** Milliseconds since 1970 */
        timestamp?: number;

        /** Whether the push has the declarative form */
        declarative?: 'auto' | 'always' | 'never';

        /** The number on the icon of the app */
        appBadge?: {
          /** What happens to the number on the icon */
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };
      };

      /** Texts, media and the action of a tap */
      basic_details?: {
        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Address that a click opens */
        redirect_url?: string;

        /** Address of the image */
        image_url?: string;

        /** Whether the notification disappears by itself */
        auto_dismiss_notification?: boolean;
      };

      /** Refused */
      buttons?: unknown[];

      /** Options of the platform, such as sound, group and coupon code */
      advanced?: {
        /** ICON_URL */
        icon_image_type?: 'ICON_URL';

        /** Address of the icon */
        icon_url?: string;
      };

      /** Refused */
      timer?: Record<string, unknown>;
    };
  };

  /** Texts by language tag (BCP 47); at most 50 */
  locales?: Record<
    string,
    {
      /** Content or settings for Android */
      android?: {
        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Line of text below the message on Android */
        summary?: string;
      };

      /** Content or settings for iPhones and iPads */
      ios?: {
        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Second line of an iPhone's message */
        subtitle?: string;
      };

      /** Content or settings for browsers */
      web?: {
        /** Title of the message */
        title?: string;

        /** What happened, as a sentence */
        message?: string;

        /** Address that a click opens */
        redirectURL?: string;

        /** Address of the icon */
        iconURL?: string;

        /** https */
        imageURL?: string;
      };
    }
  >;

  /** Changes to the finished requests, as merge patches */
  providerOverrides?: {
    /** For messages to FCM */
    fcm?: Record<string, unknown>;

    /** For messages to Huawei Push Kit */
    hms?: Record<string, unknown>;

    /** For messages to Amazon Device Messaging */
    adm?: Record<string, unknown>;

    /** Members added to the finished request of APNs */
    apns?: {
      /** null removes it */
      headers?: Record<string, unknown>;

      /** RFC 7386 */
      payload?: Record<string, unknown>;
    };

    /** Members added to the finished request of Web Push */
    webpush?: {
      /** null removes it */
      headers?: Record<string, unknown>;

      /** RFC 7386 */
      payload?: Record<string, unknown>;
    };
  };
};

export type CampaignRequestV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** PUSH */
  channel: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Email address of the author */
  created_by: string;
};

export type CampaignSchedule = {
  /** ASAP, AT_FIXED_TIME, SEND_IN_USER_TIMEZONE or SEND_IN_BTS: at the best time of each user */
  delivery_type?: 'ASAP' | 'AT_FIXED_TIME' | 'SEND_IN_USER_TIMEZONE' | 'SEND_IN_BTS';

  /** YYYY-MM-DDThh:mm:ss */
  start_time?: string;

  /** YYYY-MM-DDThh:mm:ss */
  expiry_time?: string;

  /** V5; default: the zone of the workspace. V1 is in UTC */
  timezone?: string;

  /** How often the campaign is sent */
  periodic_details?: CampaignPeriod;

  /** How the best time of each user is used */
  bts_details?: {
    /** From the start; default 24 */
    window_in_hours?: number;

    /** SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND */
    if_best_time_is_unknown?: 'SEND_AT_START' | 'SEND_AT_END' | 'DO_NOT_SEND';

    /** SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND */
    if_best_time_is_outside?: 'SEND_AT_START' | 'SEND_AT_END' | 'DO_NOT_SEND';
  };

  /** How the time zone of each user is used */
  user_timezone_details?: {
    /** Default false: these devices are excluded */
    send_if_user_timezone_has_passed?: boolean;
  };
};

export type CampaignSearchV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** Maximum number of items in a page */
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;

  /** Whether archived campaigns are found */
  include_archive_campaigns?: boolean;

  /** Conditions that the campaigns must fulfil */
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: ('PUSH' | 'EMAIL' | 'SMS')[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      /** First day */
      from_date?: string;

      /** Last day */
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: (
      'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'ACTIVE' | 'PAUSED' | 'RETIRED' | 'STOPPED' | 'FAILED' | 'ARCHIVED'
    )[];

    /** Any of them */
    tags?: string[];

    /** Id */
    id?: string;

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    delivery_type?: (
      | 'ONE_TIME'
      | 'PERIODIC'
      | 'EVENT_TRIGGERED'
      | 'BUSINESS_EVENT_TRIGGERED'
      | 'DEVICE_TRIGGERED'
      | 'LOCATION_TRIGGERED'
      | 'BROADCAST_LIVE_ACTIVITY'
      | 'API_TRIGGERED'
    )[];
  };
};

export type CampaignSearchV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Maximum number of items in a page */
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;

  /** Whether archived campaigns are found */
  include_archive_campaigns?: boolean;

  /** Conditions that the campaigns must fulfil */
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: ('PUSH' | 'EMAIL' | 'SMS')[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      /** First day */
      from_date?: string;

      /** Last day */
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: (
      'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'ACTIVE' | 'PAUSED' | 'RETIRED' | 'STOPPED' | 'FAILED' | 'ARCHIVED'
    )[];

    /** Any of them */
    tags?: string[];

    /** At most 100 */
    ids?: string[];

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    campaign_delivery_type?: (
      | 'ONE_TIME'
      | 'PERIODIC'
      | 'EVENT_TRIGGERED'
      | 'BUSINESS_EVENT_TRIGGERED'
      | 'DEVICE_TRIGGERED'
      | 'LOCATION_TRIGGERED'
      | 'BROADCAST_LIVE_ACTIVITY'
      | 'API_TRIGGERED'
    )[];

    /** Only with campaign versioning */
    version_number?: number;
  };
};

export type CampaignStats = {
  /** Id of the response */
  response_id: string;

  /** Number of campaigns with statistics */
  total_campaigns: number;

  /** Number of this page */
  current_page: number;

  /** Number of pages */
  total_pages: number;

  /** The result */
  data: Record<
    string,
    {
      /** Platforms */
      platforms: Record<string, PlatformStats>;
    }[]
  >;
};

export type CampaignStatusAnswer = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id */
    id: string;

    /** The action that was carried out */
    action: string;
  };
};

export type CampaignStatusRequestV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** STOP, PAUSE or RESUME */
  action: 'STOP' | 'PAUSE' | 'RESUME';

  /** 1 to 10 */
  campaign_ids: string[];
};

export type CampaignStatusRequestV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** STOP, PAUSE, RESUME, or PUBLISH for a draft */
  action: 'STOP' | 'PAUSE' | 'RESUME' | 'PUBLISH';
};

export type CampaignTestAnswerV1 = {
  /** The result */
  data: Record<
    string,
    {
      /** success or failed */
      status: string;

      /** Why the test was not sent */
      failure_reason?: string;
    }
  >;

  /** What happened, as a sentence */
  message: string;
};

export type CampaignTestAnswerV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: Record<
    string,
    {
      /** success or failed */
      status: string;

      /** Why the test was not sent */
      failure_reason?: string;
    }
  >;
};

export type CampaignTestMeta = {
  /** USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute */
  identifier: string;

  /** At most ten */
  identifier_values: string[];

  /** Platform */
  platform?: 'ANDROID' | 'IOS' | 'WEB';

  /** `default` or a language of the campaign; absent: each user's own */
  locale_name?: string;

  /** variation_1, variation_2 …; absent: variation_1 */
  variation?: unknown;
};

export type CampaignTestRequestV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** PUSH */
  channel?: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details?: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details?: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Users who get the test */
  test_campaign_meta: CampaignTestMeta;

  /** Refused */
  personalization_details?: Record<string, unknown>;
};

export type CampaignTestRequestV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Instead of campaign_content */
  draft_id?: string;

  /** PUSH */
  channel?: 'PUSH';

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';

  /** Texts, media and the action of a tap */
  basic_details?: CampaignBasicDetails;

  /** Content of the campaign */
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;

  /** Audience of the campaign */
  segmentation_details?: CampaignAudience;

  /** Schedule of the campaign */
  scheduling_details?: CampaignSchedule;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;

  /** Maximum number of users who get the campaign */
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;

  /** Users who get the test */
  test_campaign_meta: CampaignTestMeta;

  /** Refused */
  personalization_details?: Record<string, unknown>;
};

/** For an EVENT_TRIGGERED campaign */
export type CampaignTrigger = {
  /** Filters of type `actions`: the events that start the campaign */
  included_filters?: Record<string, unknown>;

  /** Filters of type `actions`: conditions that must hold from the event to the due time */
  secondary_included_filters?: Record<string, unknown>;

  /** ASAP or DELAY */
  trigger_delay_type?: 'ASAP' | 'DELAY';

  /** With DELAY; at most 30 days */
  trigger_delay_value?: number;

  /** MINUTES, HOURS or DAYS */
  trigger_delay_granularity?: 'MINUTES' | 'HOURS' | 'DAYS';

  /** AFTER (default), or BEFORE with trigger_attr */
  trigger_relation?: 'BEFORE' | 'AFTER';

  /** A time attribute of the event, or else of the user; default: the time of the event */
  trigger_attr?: string;

  /** Refused */
  intelligent_delay_optimization?: Record<string, unknown>;

  /** Events that apps report through /v1/app/events start the campaign too. Absent: false */
  from_apps?: boolean;
};

export type CampaignV1 = {
  /** Id of the campaign */
  campaign_id: string;

  /** A run that waits in the queue is SCHEDULED */
  status:
    'ACTIVE' | 'ARCHIVED' | 'DRAFT' | 'FAILED' | 'PAUSED' | 'RETIRED' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'STOPPED';

  /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
  status_reason?: string;

  /** Includes SMS campaigns if requested */
  channel: 'EMAIL' | 'PUSH' | 'SMS';

  /** How the campaign is started */
  campaign_delivery_type:
    | 'API_TRIGGERED'
    | 'BROADCAST_LIVE_ACTIVITY'
    | 'BUSINESS_EVENT_TRIGGERED'
    | 'DEVICE_TRIGGERED'
    | 'EVENT_TRIGGERED'
    | 'LOCATION_TRIGGERED'
    | 'ONE_TIME'
    | 'PERIODIC';

  /** Email address of the author */
  created_by: string;

  /** The last editor */
  updated_by?: string;

  /** UTC: 2024-07-04 08:00:54.847000 */
  created_at: string;

  /** Time of the last change */
  updated_at: string;

  /** Time at which the campaign was sent */
  sent_time?: string;

  /** The time at which a child was due, or at which a FAILED campaign was due and missed */
  planned_time?: string;

  /** Children only */
  parent_id?: string;

  /** name, platforms, tags */
  basic_details?: Record<string, unknown>;

  /** The content for each platform */
  campaign_content?: Record<string, unknown>;

  /** The audience */
  segmentation_details?: Record<string, unknown>;

  /** The schedule */
  scheduling_details?: Record<string, unknown>;

  /** Priorities and time to live */
  advanced?: Record<string, unknown>;

  /** Goals */
  conversion_goal_details?: Record<string, unknown>;
};

export type CampaignV5 = {
  /** Id */
  id: string;

  /** Shared by all versions */
  campaign_id: string;

  /** Only with campaign versioning */
  version_number?: number;

  /** A run that waits in the queue is SCHEDULED */
  status:
    'ACTIVE' | 'ARCHIVED' | 'DRAFT' | 'FAILED' | 'PAUSED' | 'RETIRED' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'STOPPED';

  /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
  status_reason?: string;

  /** Includes SMS campaigns if requested */
  channel: 'EMAIL' | 'PUSH' | 'SMS';

  /** How the campaign is started */
  campaign_delivery_type:
    | 'API_TRIGGERED'
    | 'BROADCAST_LIVE_ACTIVITY'
    | 'BUSINESS_EVENT_TRIGGERED'
    | 'DEVICE_TRIGGERED'
    | 'EVENT_TRIGGERED'
    | 'LOCATION_TRIGGERED'
    | 'ONE_TIME'
    | 'PERIODIC';

  /** Email address of the author */
  created_by: string;

  /** The last editor */
  updated_by?: string;

  /** UTC: 2024-07-04 08:00:54.847000 */
  created_at: string;

  /** Time of the last change */
  updated_at: string;

  /** Time at which the campaign was sent */
  sent_time?: string;

  /** The time at which a child was due, or at which a FAILED campaign was due and missed */
  planned_time?: string;

  /** Children only */
  parent_id?: string;

  /** name, platforms, tags */
  basic_details?: Record<string, unknown>;

  /** The content for each platform */
  campaign_content?: Record<string, unknown>;

  /** The audience */
  segmentation_details?: Record<string, unknown>;

  /** The schedule */
  scheduling_details?: Record<string, unknown>;

  /** Priorities and time to live */
  advanced?: Record<string, unknown>;

  /** Goals */
  conversion_goal_details?: Record<string, unknown>;
};

export type CampaignValidation = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Whether the draft could be published */
    valid: boolean;

    /** Problems that prevent publishing */
    errors: {
      /** Path of the member that the error concerns */
      field: string;

      /** What is wrong */
      issue: string;
    }[];
  };
};

/** variation_1, variation_2 … */
export type CampaignVariations = Record<
  string,
  {
    /** Content for each platform */
    push?: CampaignPushContent;
  }
>;

export type CampaignWinner = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id of the campaign */
    campaign_id: string;

    /** The variation for all users without a message so far; null: the shares decide */
    winner: string | null;

    /** ISO 8601 */
    named_at: string | null;

    /** The key or the person */
    named_by: string | null;

    /** Has GOAL if the campaign has goals; empty for a campaign without variations */
    figures: {
      /** The counted metric */
      metric: 'CLICKS' | 'GOAL';

      /** Figures of each variation */
      variations: {
        /** Name of the variation */
        variation: string;

        /** Messages that a provider accepted, in all runs of this version */
        sent: number;

        /** Clicked messages, or users who fulfilled the primary goal, each once per run */
        successes: number;

        /** Successes divided by sent, in percent; absent until it was sent */
        rate?: number;

        /** Lower bound of the 95 % interval, in percent; absent until it was sent */
        rate_low?: number;

        /** Upper bound of the 95 % interval, in percent; absent until it was sent */
        rate_high?: number;

        /** Probability that it is the best one */
        best_percent: number;
      }[];
    }[];
  };
};

export type CampaignWinnerRequest = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** variation_1, variation_2 …; or metric */
  variation?:
    | 'variation_1'
    | 'variation_2'
    | 'variation_3'
    | 'variation_4'
    | 'variation_5'
    | 'variation_6'
    | 'variation_7'
    | 'variation_8'
    | 'variation_9';

  /** The one that is best with 95 % probability */
  metric?: 'CLICKS' | 'GOAL';
};

export type CampaignsChangedV1 = Record<string, unknown>;

export type CampaignsFoundV1 =
  | {
      /** Number of campaigns that were found */
      total_count: number;

      /** Campaigns that were found */
      campaigns: CampaignV1[];
    }
  | CampaignV1[];

export type CampaignsFoundV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Campaigns that were found */
    campaigns: CampaignV5[];
  };
};

export type CohortRequest = {
  /** Whether the members join the segment or leave it */
  action: 'add_members' | 'remove_members';

  /** Name of the partner */
  partner: string;

  /** The cohort and its members */
  parameters: {
    /** Name of the cohort, which becomes the name of the segment */
    cohort_name: string;

    /** Id of the cohort at the partner */
    cohort_id: string;

    /** Description of the cohort */
    cohort_description?: string;

    /** Users that join or leave */
    members: {
      /** Customer id of the user */
      uid: string | number;
    }[];
  };
};

export type ConnectionTestAnswer = {
  /** Outcome or state */
  status: string;

  /** Name of the workspace */
  app_name: string;
};

export type ConnectionTestRequest = {
  /** Workspace id */
  app_id: string;

  /** The data key to check */
  app_secret: string;

  /** The caller's name, stored in the API log */
  source?: string;

  /** The workspace's data center, such as 01 or dc_01 */
  region?: string;
};

export type CustomerRequest = {
  /** Kind of the object */
  type: 'customer';

  /** Customer id of the user */
  customer_id: string;

  /** Attributes by name; a value of `null` removes the attribute */
  attributes?: Record<string, unknown>;

  /** Platforms */
  platforms?: {
    /** Platform */
    platform: string;

    /** Not read; the devices determine it */
    active?: unknown;
  }[];

  /** Whether only an existing user is changed */
  update_existing_only?: boolean;

  /** Attributes to remove: names, or rules */
  unset_attributes?: (
    | {
        /** Name of the attribute, or a part of its name */
        attr: string;

        /** How `attr` is compared with names; equals if absent */
        type?: 'equals' | 'prefix' | 'suffix' | 'contains';

        /** Absent: true */
        case_sensitive?: boolean;
      }
    | string
  )[];
};

export type DataAccepted = {
  /** Outcome or state */
  status: 'success';

  /** What happened, as a sentence */
  message: string;

  /** Identifies this call in the API log */
  request_id: string;
};

export type DataError = {
  /** Outcome or state */
  status: 'fail';

  /** The error */
  error: {
    /** Attribute that the error concerns */
    attribute?: string;

    /** What happened, as a sentence */
    message: string;

    /** The kind of error */
    type:
      | 'Authentication Mismatch'
      | 'Authentication required'
      | 'Empty request body'
      | 'IdempotencyConflict'
      | 'InternalServerError'
      | 'InvalidParams'
      | 'InvalidRequest'
      | 'LimitBreached'
      | 'Malformed JSON'
      | 'MediaTypeError'
      | 'MethodNotAllowed'
      | 'MisdirectedRequest'
      | 'Missing header value'
      | 'MissingAttributeError'
      | 'ParamsRequired'
      | 'PayloadTooLarge'
      | 'RateLimitError'
      | 'Resource not created'
      | 'ServiceUnavailable'
      | 'ValueError';

    /** Your id of the request, returned in the response */
    request_id: string;
  };
};

export type DeadEventBatches = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** Batches that the receiver did not accept */
    dead_batches: {
      /** webhook-id of the batch's attempts */
      id: string;

      /** Number of events in the batch */
      events: number;

      /** ISO 8601 */
      first_event_time: string;

      /** Seconds since the batch was made or resent */
      attempts: number;

      /** The receiver's response */
      last_status: number | null;

      /** timeout, unreachable or refused; null if the receiver responded */
      last_error: string | null;

      /** ISO 8601 */
      given_up_at: string;
    }[];
  };
};

export type DeleteRequest = {
  /** customer_id or id */
  identity_type: string;

  /** Customer id or id of the user */
  identity_value: string | number;
};

export type DeliveryExplanation = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Id of the campaign */
    campaign_id: string;

    /** Name of the campaign */
    campaign_name: string;

    /** State of the campaign */
    campaign_status: string;

    /** ISO 8601 */
    next_send: string | null;

    /** Customer id of the user */
    customer_id: string;

    /** From the newest run; NO_RUN or UNKNOWN_PERSON if there is none */
    step: string;

    /** The reason, as a sentence */
    explanation: string;

    /** Runs of the campaign, newest first */
    runs: {
      /** Id */
      id: string;

      /** Outcome or state */
      status: string;

      /** Time of creation */
      created_at: string;

      /** The id of a step */
      step: ExplanationStep;

      /** The reason, as a sentence */
      explanation: string;

      /** Devices of the user, with their outcomes */
      devices: {
        /** The app's name for the device; null if the device no longer exists */
        device_id: string | null;

        /** Platform */
        platform: string;

        /** The id of a step */
        step: ExplanationStep;

        /** The reason, as a sentence */
        explanation: string;

        /** The provider's reason, or why it was held */
        code: string | null;

        /** Number of attempts to send the message */
        attempts: number;

        /** When the outcome was stored, ISO 8601 */
        at: string | null;

        /** ISO 8601; the message waits until then */
        until: string | null;

        /** variation_1, variation_2 …; null if the campaign has only one */
        variation: string | null;

        /** `default` or a language tag; null if the campaign has only one, or no message was sent */
        locale: string | null;
      }[];

      /** The message in the inbox of the user; null if the run kept none */
      inbox: {
        /** When the message was put into the inbox, ISO 8601 */
        kept_at: string;

        /** Until when it can be read, ISO 8601 */
        expires_at: string;

        /** When the user read it, ISO 8601; null if it is unread */
        read_at: string | null;

        /** When the user archived it, ISO 8601; null if it is not archived */
        archived_at: string | null;
      } | null;
    }[];

    /** For an EVENT_TRIGGERED campaign: the messages that the user's events started, newest first */
    triggers?: {
      /** Name of the event */
      event_name: string;

      /** Time of the event */
      occurred_at: string;

      /** ISO 8601; null if the event has no time */
      due_at: string | null;

      /** The outcome */
      state: 'DROPPED' | 'HELD' | 'SENT' | 'WAITING';

      /** Why */
      reason: ('AUDIENCE' | 'CAMPAIGN_OVER' | 'CONDITION' | 'LATE' | 'NO_TIME' | 'TOO_FAR') | null;

      /** The run it is in */
      run_id: string | null;

      /** The reason, as a sentence */
      explanation: string;
    }[];
  };
};

export type DeviceBlockRequest = {
  /** customer_id or id */
  user_identifier_type: string;

  /** Value that names the user */
  user_identifier_value: string | number;

  /** BLOCK or UNBLOCK */
  action_type: 'block' | 'unblock';

  /** Absent: all devices. {"push_id": "…"}, or svc_gaid, unique_id, device_unique_id */
  device_identifiers?: Record<string, string>[];

  /** Why */
  reason?: string;

  /** Your reference, stored with the device */
  client_reference_id?: string;
};

export type DeviceRequest = {
  /** Kind of the object */
  type: 'device';

  /** Customer id of the user */
  customer_id: string;

  /** Your id of the device, unique for the user */
  device_id: string | number;

  /** Attributes of the device */
  attributes: {
    /** ANDROID, iOS or web */
    platform: string;

    /** FCM token, APNs token, PushSubscription, Huawei token, Amazon registration id; a PushSubscription as JSON text or object */
    push_id: unknown;

    /** Whose token push_id is: fcm or hms or adm on ANDROID, apns or fcm on iOS, webpush or fcm on web; absent: the first */
    push_provider?: string;

    /** Kind of a Firebase push_id: token, or fid for an installation id; absent: token */
    push_id_type?: string;

    /** An app of the workspace; absent: the device's current app, or the default app */
    app_id?: string;

    /** Model of the device */
    model?: string;

    /** Version of the app */
    app_version?: string;

    /** Version of the operating system */
    os_version?: string;

    /** Apple's identifier for vendors */
    idfv?: string;

    /** BCP 47: in which of `payload.locales` it gets messages */
    locale?: string;

    /** The number on the icon of the app */
    badge_count?: number;

    /** Advertising id of the device; read if there is no `idfv` */
    advertising_identifier?: string;

    /** False if the user opted out */
    svc_push_opted?: string | boolean;

    /** Whether iOS granted provisional permission */
    svc_push_provisional_opted?: string | boolean;

    /** Google's advertising id */
    svc_gaid?: string;
  };
};

export type EventBatch = {
  /** Name of the workspace */
  app_name: string;

  /** What sent the events */
  source: 'CARILLON';

  /** The same value as webhook-id. The name of this member contains the abbreviation of the installation */
  svc_request_id: string;

  /** Events, oldest first */
  events: {
    /** As event_code */
    event_name: string;

    /** NOTIFICATION_RECEIVED_SVC, n_i_s and others; docs/event-stream.md */
    event_code: string;

    /** The same in each attempt */
    event_uuid: string;

    /** Seconds since 1970 */
    event_time: number;

    /** Kind of the event */
    event_type: 'CAMPAIGN_EVENT' | 'USER_ACTION_EVENT';

    /** What created the event */
    event_source: 'CARILLON';

    /** Push address of the device */
    push_id: string | null;

    /** customer_id */
    uid: string | null;

    /** The campaign: campaign_id, campaign_name, campaign_type, campaign_channel; and variation and locale of a message of several contents */
    event_attributes: Record<string, unknown>;

    /** The attributes that the stream names */
    user_attributes: Record<string, unknown>;

    /** The attributes that the stream names */
    device_attributes: Record<string, unknown>;
  }[];
};

export type EventBatchResend = {
  /** A single batch; default: all batches that were given up */
  batch_id?: string;
};

export type EventBatchesResent = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** Due now */
    batches: number;
  };
};

export type EventRequest = {
  /** Kind of the object */
  type: 'event';

  /** Customer id of the user */
  customer_id: string;

  /** Your id of the device, unique for the user */
  device_id?: string | number;

  /** Events of the user, with their attributes and times */
  actions: {
    /** Name of the event */
    action: string;

    /** Attributes of the event, by name */
    attributes?: Record<string, unknown>;

    /** ANDROID, iOS, web, TV or unknown */
    platform?: string;

    /** Version of the app */
    app_version?: string;

    /** The time of the event: ISO 8601 (UTC unless it has an offset) or seconds since 1970 */
    user_time?: string | number;

    /** The sender's clock; used if user_time is absent */
    current_time?: string | number;

    /** Seconds */
    user_timezone_offset?: number;
  }[];
};

export type EventStream = {
  /** Id */
  id: string;

  /** Receiver of the batches; a public address, http or https */
  url: string;

  /** Default: all of them */
  events: EventStreamKind[];

  /** User attributes included in each event; default: none */
  user_attributes: string[];

  /** Device attributes included in each event: platform, device_id, app_id, model, app_version, os_version, locale, push_id; default: none */
  device_attributes: string[];

  /** Null: batches are posted to url */
  object_store: {
    /** Of the bucket */
    region: string;

    /** The access key, without its secret */
    access_key_id: string;
  } | null;

  /** ISO 8601 */
  created_at: string;

  /** Time of the last change */
  updated_at: string;

  /** In batches that the receiver accepted */
  delivered_events: number;

  /** ISO 8601; null: none yet */
  last_delivered_at: string | null;

  /** Waiting to be sent or resent */
  pending_batches: number;

  /** Batches that were given up; they can be sent again */
  dead_batches: number;

  /** ISO 8601; null if the receiver responded to the last attempt, with any status */
  unanswered_since: string | null;

  /** ISO 8601; no request is sent before then, because three attempts in a row got no response */
  paused_until: string | null;
};

export type EventStreamAnswer = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** The event stream */
    event_stream: EventStream;
  };
};

/** Members that are absent stay as they are */
export type EventStreamChange = {
  /** Receiver of the batches; a public address, http or https */
  url?: string;

  /** Default: all of them */
  events?: EventStreamKind[];

  /** User attributes included in each event; default: none */
  user_attributes?: string[];

  /** Device attributes included in each event: platform, device_id, app_id, model, app_version, os_version, locale, push_id; default: none */
  device_attributes?: string[];
  object_store?: EventStreamObjectStore;
};

export type EventStreamCreate = {
  /** Receiver of the batches; a public address, http or https */
  url: string;

  /** Default: all of them */
  events?: EventStreamKind[];

  /** User attributes included in each event; default: none */
  user_attributes?: string[];

  /** Device attributes included in each event: platform, device_id, app_id, model, app_version, os_version, locale, push_id; default: none */
  device_attributes?: string[];
  object_store?: EventStreamObjectStore;
};

export type EventStreamCreated = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** The event stream */
    event_stream: EventStream;

    /** Signs the requests (Standard Webhooks); returned only once. Absent for a bucket */
    secret?: string;
  };
};

/** What happened to a message */
export type EventStreamKind = 'cleared' | 'clicked' | 'control_group' | 'delivered';

/** The stream stores objects in an S3 bucket, and url is its address. Absent: batches are posted to url */
export type EventStreamObjectStore = {
  /** Of the bucket */
  region: string;

  /** May put objects into the bucket, and needs no other right */
  access_key_id: string;

  /** Stored encrypted, and never shown */
  secret_access_key: string;
};

export type EventStreamRemoved = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** Whether the event stream was removed */
    removed: boolean;
  };
};

export type EventStreams = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'event_stream';

  /** The result */
  data: {
    /** Event streams of the workspace */
    event_streams: EventStream[];
  };
};

export type ExecutionsPageV1 = {
  /** Your id of the request, returned in the response */
  request_id: string;

  /** Maximum number of items in a page */
  limit: number;

  /** From 1 */
  page: number;
};

export type ExecutionsPageV5 = {
  /** Your id of the request, returned in the response */
  request_id?: string;

  /** Maximum number of items in a page */
  limit: number;

  /** From 1 */
  page: number;
};

export type ExecutionsV1 = {
  /** Runs of the recurring campaign */
  executions: {
    /** Id of the campaign */
    campaign_id: string;

    /** As in 2024-06-24T14:30:18.908000; null if not sent yet */
    sent_time: string | null;

    /** The state of the run */
    status: 'FAILED' | 'MISSED' | 'PAUSED' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'STOPPED';

    /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
    status_reason?: string;

    /** The time at which it was due, in the format of `sent_time`; absent if an event started it */
    planned_time?: string;
  }[];

  /** Number of runs */
  total_instances: number;
};

export type ExecutionsV5 = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'campaign';

  /** The result */
  data: {
    /** Runs of the recurring campaign */
    executions: {
      /** Id */
      id: string;

      /** Id of the campaign */
      campaign_id: string;

      /** As in 2024-06-24T14:30:18.908000; null if not sent yet */
      sent_time: string | null;

      /** The state of the run */
      status: 'FAILED' | 'MISSED' | 'PAUSED' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'STOPPED';

      /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
      status_reason?: string;

      /** The time at which it was due, in the format of `sent_time`; absent if an event started it */
      planned_time?: string;
    }[];

    /** Number of runs */
    total_instances: number;
  };
};

/** The reason for the decision */
export type ExplanationStep =
  | 'ACCEPTED'
  | 'APP_NOT_MEANT'
  | 'AUDIENCE_FORGOTTEN'
  | 'BEST_TIME'
  | 'CAMPAIGN_AUDIENCE_LIMIT'
  | 'CAMPAIGN_CONTROL_GROUP'
  | 'CAMPAIGN_SEND_LIMIT'
  | 'CHANGED_SINCE'
  | 'CHUNK_SET_ASIDE'
  | 'DEVICE_BLOCKED'
  | 'DEVICE_GONE'
  | 'DEVICE_OPTED_OUT'
  | 'DEVICE_TOO_NEW'
  | 'EXPIRED'
  | 'FAILED'
  | 'FREQUENCY_CAP'
  | 'GLOBAL_CONTROL_GROUP'
  | 'GONE'
  | 'INBOX'
  | 'LEDGER_DROPPED'
  | 'MINIMUM_DELAY'
  | 'NOT_IN_AUDIENCE'
  | 'NOT_REACHED_YET'
  | 'NO_DEVICE'
  | 'PLATFORM_NOT_MEANT'
  | 'QUIET_HOURS'
  | 'REJECTED'
  | 'RUN_FAILED'
  | 'RUN_MISSED'
  | 'RUN_NOT_STARTED'
  | 'RUN_STOPPED'
  | 'TEMPLATE_FAILED'
  | 'TIME_ZONE_UNKNOWN'
  | 'TOPIC_NOT_OPTED_IN'
  | 'TOPIC_OPTED_OUT'
  | 'TRIAL_NOT_MEANT'
  | 'USER_TIME_ZONE'
  | 'WAITING';

export type ExportAnswer = {
  /** Outcome or state */
  status: string;

  /** Kind of the object */
  type: string;

  /** The result */
  data: {
    /** Identifiers that match no user */
    users_not_found: {
      /** Attribute by whose value the user is named */
      identifier_type: string;

      /** Value by which the user is named */
      identifier: string;
    }[];

    /** Users that were found */
    users: {
      /** Attributes of the user */
      user_attributes: Record<string, unknown>;
    }[];
  };
};

export type ExportRequest = {
  /** Kind of the object */
  type?: 'export_users';

  /** The result */
  data: {
    /** Users to export */
    identifiers: {
      /** customer_id or id */
      identifier_type: string;

      /** Value by which the user is named */
      identifier: string | number;
    }[];

    /** Attributes to export; absent: all */
    user_fields_to_export?: string[];
  };
};

export type FileSegmentCallback = FileSegmentProcessed | FileSegmentFailed;

export type FileSegmentChange = {
  /** Segment name, unique in the workspace */
  name: string;

  /** User attribute that the file holds; `uid` is the customer id */
  attribute_name: string;

  /** Type of the attribute's values */
  attribute_type: 'string' | 'double';

  /** Public address of a single-column CSV file of at most 150 MB */
  file_url: string;

  /** Receives the result (interface 2.7) */
  callback_url?: string;

  /** Addresses that get the result by email */
  emails?: string[];

  /** Takes precedence over the name */
  cs_id?: string;
};

export type FileSegmentError = {
  /** The kind of error */
  title:
    | 'Authentication required'
    | 'Conflict'
    | 'Entity Not Found'
    | 'Forbidden Request'
    | 'Internal Server Error'
    | 'Invalid Request'
    | 'Method Not Allowed'
    | 'Misdirected Request'
    | 'Payload Too Large'
    | 'Resource not created'
    | 'Service Unavailable'
    | 'Too Many Requests'
    | 'Unsupported Media Type';

  /** Absent for an internal error */
  description?: string;
};

export type FileSegmentFailed = {
  /** Database name of the workspace */
  db_name: string;

  /** Name of the segment */
  segment_name: string;

  /** Unique identifier of this processing request */
  request_id: string;

  /** Outcome of the operation as an HTTP status */
  status: 400 | 500;

  /** Cause of the failure */
  error_message: string;
};

export type FileSegmentProcessed = {
  /** Database name of the workspace */
  db_name: string;

  /** Name of the segment */
  segment_name: string;

  /** Unique identifier of this processing request */
  request_id: string;

  /** Outcome of the operation as an HTTP status */
  status: 201;

  /** Rows of the file */
  values_found: number;

  /** Values that are neither corrupted nor empty */
  values_processed: number;

  /** Users found and added to the segment */
  user_count: number;
};

export type FileSegmentRequest = {
  /** Segment name, unique in the workspace */
  name: string;

  /** User attribute that the file holds; `uid` is the customer id */
  attribute_name: string;

  /** Type of the attribute's values */
  attribute_type: 'string' | 'double';

  /** Public address of a single-column CSV file of at most 150 MB */
  file_url: string;

  /** Receives the result (interface 2.7) */
  callback_url?: string;

  /** Addresses that get the result by email */
  emails?: string[];

  /** Days until the segment is archived */
  expiry_time: number;
};

export type FilterSegmentChange = {
  /** Name */
  name?: string;

  /** Filters that select the users */
  included_filters?: Filters;

  /** Filters whose users are left out */
  excluded_filters?: Filters;

  /** Email address of the author of the change */
  updated_by?: string;
};

export type FilterSegmentError = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'custom_segment';

  /** The error */
  error: {
    /** The kind of error */
    code:
      | 'Authentication required'
      | 'Cyclic Entity'
      | 'Entity Not Found'
      | 'Forbidden operation'
      | 'Internal Server Error'
      | 'Invalid Request'
      | 'Invalid request'
      | 'Method Not Allowed'
      | 'Misdirected Request'
      | 'Query has too many nesting levels'
      | 'Query length limit exceeded'
      | 'Request Error'
      | 'Resource not created'
      | 'Service Unavailable'
      | 'Too Many Requests'
      | 'Too many segments in a query'
      | 'Unsupported Media Type';

    /** What happened, as a sentence */
    message: string;

    /** The reason */
    details?: string;
  };
};

export type FilterSegmentRequest = {
  /** Name */
  name: string;

  /** Filters that select the users */
  included_filters: Filters;

  /** Filters whose users are left out */
  excluded_filters?: Filters;
};

/** {"filter_operator": "and" | "or", "filters": [...]}: filters of user attributes and of other segments, nested up to 10 levels */
export type Filters = Record<string, unknown>;

export type GatewayError = {
  /** ER001 invalid, ER007 scope missing, ER008 expired */
  code: 'ER001' | 'ER007' | 'ER008';

  /** The rejected request */
  target: 'Authentication Expired' | 'Authentication Invalid' | 'Authorization Invalid';

  /** What happened, as a sentence */
  message: string;
};

export type GeneratedToken = {
  /** Outcome or state */
  status: 'SUCCESS';

  /** The result */
  data: {
    /** The Bearer token. */
    access_token: string;

    /** Kind of the access token */
    token_type: 'Bearer';

    /** Seconds from the issue, 300 to 3600. */
    expires_in: number;

    /** Valid 30 days; not replaced by refreshing. */
    refresh_token: string;
  };

  /** The Bearer token. */
  access_token: string;

  /** Kind of the access token */
  token_type: 'Bearer';

  /** Seconds from the issue, 300 to 3600. */
  expires_in: number;

  /** Valid 30 days; not replaced by refreshing. */
  refresh_token: string;
};

export type Health = {
  /** Outcome or state */
  status: 'ok' | 'not ready';

  /** The missing conditions; docs/operations.md lists them */
  troubles?: string[];

  /** With `verbose`: result of the last call through the outgoing proxy, if there is one */
  proxy?: 'UNUSED' | 'OK' | 'PROXY_UNREACHABLE' | 'PROXY_REFUSED' | 'PROXY_AUTH';
};

export type IdentityKey = {
  /** The kid in the header of tokens */
  kid: string;

  /** Of every token under the key */
  algorithm: 'HS256' | 'ES256';

  /** Time of creation */
  created_at: string;

  /** HS256 only: the secret that signs tokens, for your server. It is shown only now */
  secret?: string;
};

export type IdentityKeyRequest = {
  /** Of every token under the key */
  algorithm: 'HS256' | 'ES256';

  /** ES256 only: a P-256 public key in PEM */
  public_key?: string;
};

export type IdentityRequest = {
  /** JWT of your server: kid, sub, aud (the workspace id), exp at most 24 hours ahead */
  identity_token?: string;

  /** The customer id. With a token, it must be its sub; only a sandbox accepts it alone */
  user_id?: string;
};

export type Inbox = {
  /** Newest first */
  messages: InboxMessage[];

  /** Unread messages that are not archived, at most 1,000 */
  unread_count: number;

  /** For the next page; null: this is the last one */
  next_cursor: string | null;
};

export type InboxMarkRequest = {
  /** Ids of messages; those that have expired are skipped */
  ids?: string[];

  /** true: all messages that are not archived, instead of ids */
  all?: boolean;

  /** With all: only messages with sent_at up to this time, ISO 8601; default now */
  until?: string;

  /** true: read, false: unread, absent: as it is */
  read?: boolean;

  /** true: archived, false: not archived, absent: as it is */
  archived?: boolean;
};

export type InboxMessage = {
  /** The id of the message, the same on all devices of the user */
  id: string;

  /** In the language of the user */
  title: string;

  /** In the language of the user */
  message: string;

  /** A web address or a deep link of the app; null: none */
  link: string | null;

  /** An https picture; null: none */
  image_url: string | null;

  /** Key-value pairs for the app */
  data: Record<string, string>;

  /** The tags of the campaign’s inbox */
  tags: string[];

  /** The campaign that sent it */
  campaign_id: string;

  /** When it was put into the inbox, ISO 8601 */
  sent_at: string;

  /** When it leaves the inbox, ISO 8601 */
  expires_at: string;

  /** When the user read it on any device; null: unread, ISO 8601 */
  read_at: string | null;

  /** When the user archived it; null: it is not archived, ISO 8601 */
  archived_at: string | null;
};

export type InboxUnread = {
  /** Unread messages that are not archived, at most 1,000 */
  unread_count: number;
};

export type Installation = {
  /** As the app sent it */
  installation_id: string;

  /** True: a proved user is attached. False: the installation is anonymous */
  signed_in: boolean;

  /** False: the user wants no messages on this device */
  opted_in: boolean;

  /** True: a push token is stored */
  can_receive: boolean;

  /** WEB only: the VAPID public key with which the browser subscribes */
  web_push_public_key?: string;
};

export type InstallationChanges = {
  /** False: the user wants no messages on this device. Absent: true at the first registration */
  opted_in?: boolean;

  /** BCP 47: the language of the device */
  locale?: string;

  /** IANA name such as Europe/Berlin; stored as the attribute app:time_zone */
  time_zone?: string;

  /** Version of the app */
  app_version?: string;

  /** Version of the system or browser */
  os_version?: string;

  /** Model of the device, or name of the browser */
  model?: string;
};

export type InstallationRequest = {
  /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
  installation_id: string;

  /** ANDROID, IOS or WEB */
  platform: 'ANDROID' | 'IOS' | 'WEB';

  /** The token of the push service, or the PushSubscription of a browser. Absent: the device cannot receive pushes */
  push_token?: unknown;

  /** Whose token it is. Absent: FCM, APNs or the push service of the browser */
  push_provider?: 'fcm' | 'apns' | 'webpush' | 'hms' | 'adm';

  /** For FCM: token, or fid for an installation id. Absent: token */
  push_token_type?: 'token' | 'fid';

  /** An app of the workspace. Absent: the default app */
  app_id?: string;

  /** iOS: the user has only allowed quiet delivery */
  provisional?: boolean;

  /** False: the user wants no messages on this device. Absent: true at the first registration */
  opted_in?: boolean;

  /** BCP 47: the language of the device */
  locale?: string;

  /** IANA name such as Europe/Berlin; stored as the attribute app:time_zone */
  time_zone?: string;

  /** Version of the app */
  app_version?: string;

  /** Version of the system or browser */
  os_version?: string;

  /** Model of the device, or name of the browser */
  model?: string;

  /** The earlier installation of a reinstalled app: its push token moves to this one */
  previous?: {
    /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
    installation_id: string;

    /** Its secret: 256 bits in base64url */
    secret: string;
  };

  /** The code of the silent push that this app received through the push token */
  push_token_challenge?: string;
};

export type InteractionReport = {
  /** The token that was sent with the message */
  token: string;

  /** What the device reports */
  kind: 'impression' | 'click' | 'close' | 'badge';

  /** For kind badge: the current number on the app icon */
  value?: number;

  /** The button that was clicked */
  action?: string;

  /** For kind impression: true if the message arrived with a lower priority than it was sent with, and therefore late */
  lowered?: boolean;

  /** Your own name for this report; repeats are counted once */
  id?: string;
};

export type Journey = {
  /** Id */
  id: string;

  /** Name */
  name: string;

  /** DRAFT: never published; STOPPED is final */
  status: 'ACTIVE' | 'DRAFT' | 'PAUSED' | 'STOPPED';

  /** The version that users enter; null: never published */
  version: number | null;

  /** There are changes that were not published */
  has_draft: boolean;

  /** Email address of the author */
  created_by: string;

  /** ISO 8601 */
  created_at: string;

  /** Email address of the author of the change */
  updated_by: string;

  /** ISO 8601 */
  updated_at: string;

  /** The graph that is being edited, as it was sent, which may be unfinished */
  draft: Record<string, unknown> | null;

  /** The graph that users enter */
  live: JourneyGraph | null;

  /** Of each send step of the live version, the id of its campaign, for explain */
  campaigns: Record<string, string>;
};

export type JourneyAnswer = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** The journey as it is now */
    journey: Journey;
  };
};

export type JourneyChange = {
  /** Unique in the workspace */
  name?: string;

  /** The entry and the steps of the journey */
  graph?: JourneyGraph;
};

/** A draft, which may be unfinished; also the form of an exported journey */
export type JourneyCreate = {
  /** Unique in the workspace */
  name: string;

  /** The entry and the steps of the journey */
  graph: JourneyGraph;
};

/** At most 366 days */
export type JourneyDuration = {
  /** Value */
  value: number;

  /** MINUTES, HOURS or DAYS */
  unit: 'MINUTES' | 'HOURS' | 'DAYS';
};

export type JourneyEntered = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** Who entered */
    entered: string[];

    /** Who may not enter again now */
    refused: string[];

    /** Who is not a user of the workspace */
    unknown: string[];
  };
};

export type JourneyEntries = {
  /** Different users; who is unknown is reported */
  users: JourneyUser[];
};

export type JourneyEntry = {
  /** event: an event of the person, or the route; api: only the route */
  type: 'event' | 'api';

  /** Filters of type `actions`, as in the trigger of a campaign: any of these events */
  included_filters?: Record<string, unknown>;

  /** Events that apps report through /v1/app/events let people enter too. Absent: false */
  from_apps?: boolean;
};

/** An event that ends the journey */
export type JourneyExit = {
  /** Filters of type `actions`, as in the trigger of a campaign: any of these events */
  included_filters: Record<string, unknown>;
};

export type JourneyFigures = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** Users who are at each step now */
    inside: {
      /** The id of a step */
      step: string;

      /** Users that were found */
      users: number;
    }[];

    /** By UTC days of the range */
    edges: {
      /** The version of the journey */
      version: number;

      /** Empty: entries and ends */
      step: string;

      /** How users left the step; entered, or the reason of the end */
      edge: string;

      /** Users that were found */
      users: number;
    }[];
  };
};

/** An event that ends the journey as converted */
export type JourneyGoal = {
  /** Filters of type `actions`, as in the trigger of a campaign: any of these events */
  included_filters: Record<string, unknown>;
};

export type JourneyGraph = {
  /** What lets users enter */
  entry: JourneyEntry;

  /** Id of the step where an entry begins */
  first_step: string;

  /** The steps of the journey, each with the ones that follow it */
  steps: (
    | {
        /** Kind of the object */
        type: 'wait';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;
        duration: JourneyDuration;

        /** Id of the following step; null: the journey ends */
        next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'wait_until_time';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** HH:MM in the time zone of the person, else of the workspace */
        time: string;

        /** 1 is Monday, 7 is Sunday; default: every day */
        weekdays?: number[];

        /** Id of the following step; null: the journey ends */
        next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'wait_for_event';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** Filters of type `actions`, as in the trigger of a campaign: any of these events */
        included_filters: Record<string, unknown>;
        timeout: JourneyDuration;

        /** Id of the following step; null: the journey ends */
        next: string | null;

        /** Id of the following step; null: the journey ends */
        timeout_next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'branch';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** What decides the way that the user takes */
        condition:
          | {
              /** Kind of the object */
              type: 'user';

              /** Filters of users, as in filter segments: attributes, segments, and what users did */
              included_filters: Record<string, unknown>;
            }
          | {
              /** Kind of the object */
              type: 'events';

              /** Filters of type `actions`: events of the person since the entry */
              included_filters: Record<string, unknown>;
            }
          | {
              /** Kind of the object */
              type: 'message';

              /** Id of an earlier step of type send */
              step: string;

              /** accepted by a push service, shown on a device, or clicked */
              outcome: 'accepted' | 'shown' | 'clicked';
            };

        /** Id of the following step; null: the journey ends */
        next: string | null;

        /** Id of the following step; null: the journey ends */
        else_next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'split';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** Percents add up to 100 */
        ways: JourneyWay[];
      }
    | {
        /** Kind of the object */
        type: 'send';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** What happened, as a sentence */
        message: JourneyMessage;

        /** If the step is reached too late, after an outage: send all the same (default), skip the message, or end the journey */
        late?: 'send' | 'skip' | 'exit';

        /** Id of the following step; null: the journey ends */
        next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'update';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;

        /** Attributes of the person, at most 50; null removes */
        attributes: Record<string, unknown>;

        /** Id of the following step; null: the journey ends */
        next: string | null;
      }
    | {
        /** Kind of the object */
        type: 'exit';

        /** Letters, digits, - and _ */
        id: string;

        /** Shown in figures and in the names of messages */
        name?: string;
      }
  )[];
  goal?: JourneyGoal;
  exit_events?: JourneyExit;
  reentry?: JourneyReentry;
};

export type JourneyHistory = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** The newest 20, newest first */
    entries: {
      /** The id of the entry; a user may enter more than once */
      entry_id: string;

      /** The version of the journey */
      version: number;

      /** Where the user is, or was at the end */
      step: string;

      /** ISO 8601 */
      entered_at: string;

      /** When the user goes on; null: the entry is over */
      due_at: string | null;

      /** Null: the user is inside */
      ended_at: string | null;

      /** Why the entry ended; null: the user is inside */
      end_reason: ('COMPLETED' | 'EXIT_EVENT' | 'GOAL' | 'LATE' | 'MERGED' | 'STEP_REMOVED' | 'STOPPED') | null;

      /** The steps that the user passed, in order */
      passages: {
        /** The id of a step */
        step: string;

        /** The version of the journey */
        version: number;

        /** ISO 8601 */
        arrived_at: string;

        /** ISO 8601 */
        left_at: string;

        /** next, event, timeout, yes, no, late, end, or way and its number */
        edge: string;
      }[];
    }[];
  };
};

/** Platforms, content and delivery options, as in a campaign */
export type JourneyMessage = {
  /** ANDROID, IOS, WEB */
  platforms: string[];

  /** Content of the campaign */
  campaign_content: CampaignContent;

  /** Limits and rate of the campaign */
  delivery_controls?: CampaignDeliveryControls;

  /** Options of the platform, such as sound, group and coupon code */
  advanced?: CampaignAdvanced;

  /** Control groups that get no message */
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Events that count as conversions */
  conversion_goal_details?: CampaignGoals;

  /** Added to links; at most 5 other names. Among the names: utm_source, utm_medium, utm_campaign, utm_term, utm_content */
  utm_params?: Record<string, string>;
};

export type JourneyPublish = {
  /** Of each removed step where users are: the step to which they move, or null where they leave the journey */
  users?: Record<string, unknown>;
};

/** Default: never */
export type JourneyReentry = {
  /** never: once per person; after: when a time has passed since the last entry; always: also while inside */
  type: 'never' | 'after' | 'always';
  after?: JourneyDuration;

  /** With always: entries of a person that are inside together; default 1 */
  at_a_time?: number;
};

export type JourneyRemoved = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** Whether the event stream was removed */
    removed: boolean;
  };
};

export type JourneySummary = {
  /** Id */
  id: string;

  /** Name */
  name: string;

  /** DRAFT: never published; STOPPED is final */
  status: 'ACTIVE' | 'DRAFT' | 'PAUSED' | 'STOPPED';

  /** The version that users enter; null: never published */
  version: number | null;

  /** There are changes that were not published */
  has_draft: boolean;

  /** Email address of the author */
  created_by: string;

  /** ISO 8601 */
  created_at: string;

  /** Email address of the author of the change */
  updated_by: string;

  /** ISO 8601 */
  updated_at: string;
};

export type JourneyUser = {
  /** The id that the app identifies the user with */
  customer_id: string;

  /** Values that texts use as EventAttribute */
  attributes?: Record<string, unknown>;
};

export type JourneyUsers = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** Users that were found */
    users: {
      /** Null: a user without an id */
      customer_id: string | null;

      /** The id of the entry; a user may enter more than once */
      entry_id: string;

      /** The version of the journey */
      version: number;

      /** ISO 8601 */
      entered_at: string;

      /** When the user came to the step */
      arrived_at: string;

      /** When the user goes on, unless an event comes first */
      due_at: string;
    }[];

    /** There may be another page */
    next_cursor?: string;
  };
};

export type JourneyValidation = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** Whether the draft could be published */
    valid: boolean;

    /** Everything that keeps the draft from being published */
    faults: {
      /** The path of the member; of a step: graph.steps.<id>.<member> */
      field: string;

      /** Why */
      reason: string;
    }[];
  };
};

export type JourneyWay = {
  /** Share of the users who take this way, of 100 */
  percent: number;

  /** Id of the following step; null: the journey ends */
  next: string | null;
};

export type Journeys = {
  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'journey';

  /** The result */
  data: {
    /** A page of journeys, newest first */
    journeys: JourneySummary[];

    /** There may be another page */
    next_cursor?: string;
  };
};

export type LiveActivity = {
  /** App of the Live Activity */
  app_id: string;

  /** Your name for the activity */
  activityId: string;

  /** Number of tokens of each kind */
  tokens: {
    /** Number of tokens that start a Live Activity */
    start: number;

    /** Number of tokens that update a Live Activity */
    update: number;
  };

  /** Newest first */
  events: {
    /** What happens to the Live Activity */
    event: 'start' | 'update' | 'end';

    /** Time of the event */
    timestamp: number;

    /** WAITING, ACCEPTED, GONE, REJECTED, FAILED, EXPIRED or SUPERSEDED */
    outcome: string;

    /** Apple's reason, or the reason why the message was not sent */
    code: string | null;

    /** Number of devices that the event was sent to */
    devices: number;
  }[];
};

export type LiveActivityEvent = {
  /** App of the Live Activity */
  app_id: string;

  /** Your name for the activity */
  activityId: string;

  /** What happens to the Live Activity */
  event: 'start' | 'update' | 'end';

  /** Epoch seconds; grows with every event of the activity */
  timestamp: number;

  /** Tokens that the event is sent to */
  devices: number;
};

export type LiveActivityEventRequest = {
  /** An iOS app of the workspace; absent: the default app */
  app_id?: string;

  /** Your name for the activity */
  activityId: string;

  /** What happens to the Live Activity */
  event: 'start' | 'update' | 'end';

  /** As the app decodes it */
  contentState: Record<string, unknown>;

  /** For a start: the name of the attributes' type */
  attributesType?: string;

  /** For a start: the attributes in the form that the app decodes */
  attributes?: Record<string, unknown>;

  /** Required for a start */
  alert?: {
    /** Title of the message */
    title: string;

    /** Text of the message */
    body: string;
  };

  /** Epoch seconds: the content is stale from then on */
  staleDate?: number;

  /** Epoch seconds: the activity is removed then */
  dismissalDate?: number;

  /** Absent: 10 */
  priority?: 5 | 10;
};

export type LiveActivityTokens = {
  /** App of the Live Activity */
  app_id: string;

  /** Your name for the activity */
  activityId: string;

  /** Number of stored tokens of each kind */
  tokens: {
    /** Number of tokens that start a Live Activity */
    start: number;

    /** Number of tokens that update a Live Activity */
    update: number;
  };
};

export type LiveActivityTokensRequest = {
  /** An iOS app of the workspace; absent: the default app */
  app_id?: string;

  /** Update tokens of phones that show the activity, hexadecimal */
  tokens?: string[];

  /** Push-to-start tokens of the phones that start the activity, hexadecimal */
  startTokens?: string[];
};

export type MergeAnswer = {
  /** Outcome or state */
  status: string;

  /** The operation */
  operation: string;
};

export type MergeRequest = {
  /** Pairs of users */
  merge_data: {
    /** Customer id of the user that is merged and removed */
    merged_user: string;

    /** Customer id of the user that keeps everything */
    retained_user: string;
  }[];
};

export type PlatformStats = {
  /** and each locale, if the campaign has several */
  locales: {
    /** The same as all_locales, as some clients spell it */
    all_locale?: unknown;

    /** The sum over all locales */
    all_locales: {
      /** and variation_1, variation_2 …, if there are several */
      variations: {
        /** Sum of all variations */
        all_variations: StatsFigures;

        /** Users of the campaign's control group */
        campaign_control_group?: StatsControlGroup;

        /** Users of the workspace's control group */
        global_control_group?: StatsControlGroup;
      } & Record<string, unknown>;
    };
  } & Record<string, unknown>;
};

export type PreferenceLink = {
  /** Opens the page for this user only. Whoever has it can change the choices */
  url: string;

  /** The page rejects the link from then on */
  expires_at: string;
};

export type PreferenceLinkRequest = {
  /** How long the link is valid. Absent: 30 */
  days?: number;
};

export type Problem = {
  /** urn:carillon:error: and the code */
  type: string;

  /** What is wrong */
  title: string;

  /** HTTP status */
  status: number;

  /** The name of the error */
  code:
    | 'ACCOUNT_ATTEMPTS_LIMITED'
    | 'ACCOUNT_COMPANY_REFUSED'
    | 'ACCOUNT_EMAIL_TAKEN'
    | 'ACCOUNT_LAST_OWNER'
    | 'ACCOUNT_LINK_INVALID'
    | 'ACCOUNT_NOT_PERMITTED'
    | 'ACCOUNT_PASSWORDS_OFF'
    | 'ACCOUNT_SECOND_FACTOR_FAILED'
    | 'ACCOUNT_SECOND_FACTOR_NEEDED'
    | 'ACCOUNT_SIGN_IN_FAILED'
    | 'ACCOUNT_SIGN_IN_STALE'
    | 'ADDRESS_TOO_LONG'
    | 'APP_KEY_UNKNOWN'
    | 'APP_ORIGIN_REFUSED'
    | 'APP_RATE_LIMITED'
    | 'AUTHENTICATION_EXPIRED'
    | 'AUTHENTICATION_INVALID'
    | 'BODY_EMPTY'
    | 'BODY_MALFORMED'
    | 'BODY_TOO_LARGE'
    | 'CAMPAIGN_ACTION_INVALID'
    | 'CAMPAIGN_CREATION_LIMITED'
    | 'CAMPAIGN_NOT_DRAFT'
    | 'CAMPAIGN_NOT_EDITABLE'
    | 'CAMPAIGN_NOT_FOUND'
    | 'CAMPAIGN_REQUEST_INVALID'
    | 'CLOCK_ADVANCING'
    | 'CREDENTIAL_IN_USE'
    | 'DATA_ATTRIBUTE_MISSING'
    | 'DATA_USER_NOT_FOUND'
    | 'DATA_VALUE_INVALID'
    | 'EXPECTATION_UNKNOWN'
    | 'HEADERS_TOO_LARGE'
    | 'HOST_NOT_SERVED'
    | 'IDEMPOTENCY_CONFLICT'
    | 'IDEMPOTENCY_KEY_INVALID'
    | 'IDENTITY_TOKEN_INVALID'
    | 'INSTALLATION_SIGNED_OUT'
    | 'INSTALLATION_UNKNOWN'
    | 'INTERACTION_RATE_LIMITED'
    | 'INTERACTION_TOKEN_UNKNOWN'
    | 'INTERNAL'
    | 'MEDIA_TYPE_UNSUPPORTED'
    | 'METHOD_NOT_ALLOWED'
    | 'NOT_FOUND'
    | 'OVERLOADED'
    | 'PARAMETER_INVALID'
    | 'PICTURE_ADDRESS_UNKNOWN'
    | 'PICTURE_IN_USE'
    | 'PICTURE_RATE_LIMITED'
    | 'PICTURE_SPACE_FULL'
    | 'PICTURE_STORE_UNAVAILABLE'
    | 'PICTURE_UNREADABLE'
    | 'PROPOSALS_LIMITED'
    | 'PROPOSAL_CLOSED'
    | 'PROVIDER_KEY_INVALID'
    | 'PROVIDER_NOT_ASKED'
    | 'PROVIDER_REFUSED'
    | 'PUSH_TOKEN_HELD'
    | 'REQUEST_MALFORMED'
    | 'REQUEST_TIMED_OUT'
    | 'ROUTE_NOT_FOUND'
    | 'SANDBOX_NOT_LOCAL'
    | 'SCOPE_MISSING'
    | 'SEGMENT_ACTIVE_LIMITED'
    | 'SEGMENT_ARCHIVED'
    | 'SEGMENT_FIELD_INVALID'
    | 'SEGMENT_FIELD_MISSING'
    | 'SEGMENT_NAME_TAKEN'
    | 'SEGMENT_NOT_FOUND'
    | 'SEGMENT_NOT_OF_FILES'
    | 'SEGMENT_OPERATIONS_LIMITED'
    | 'STORAGE_REFUSES_WRITES'
    | 'STORAGE_UNAVAILABLE'
    | 'TOPIC_IN_USE';

  /** The subject */
  field?: string;

  /** The fault */
  detail?: string;
};

export type PushAdvancedSettings = {
  /** Seconds for which the message may be delivered */
  ttl?: {
    /** Minutes */
    ANDROID?: number;

    /** Minutes */
    IOS?: number;

    /** Minutes */
    WEB?: number;
  };

  /** Whether the message wakes the app and shows nothing */
  silent?: boolean | 'true' | 'false';

  /** Whether the message ignores the frequency caps */
  ignoreFC?: boolean | 'true' | 'false';

  /** Whether the message counts towards the frequency caps */
  countFC?: boolean | 'true' | 'false';

  /** Priority of the message for each platform */
  notificationPrioritySettings?: {
    /** Priority of Android messages */
    Android?: 'High' | 'Low';

    /** Priority of the message for APNs */
    iOS?: 1 | 5 | 10;
  };

  /** Accepted without effect */
  'pushAmp+'?: boolean | 'true' | 'false';

  /** Accepted without effect */
  preCacheSegment?: boolean | 'true' | 'false';

  /** Minutes */
  campaignThrottleTime?: number;

  /** Devices a minute */
  campaignThrottleRpm?: number;

  /** Whether texts are templates */
  useJinjaPersonalization?: boolean | 'true' | 'false';

  /** Whether the message ignores the minimum delay between campaigns */
  ignoreMinimumDelay?: boolean | 'true' | 'false';

  /** Hours */
  inboxExpiry?: number;

  /** Kind of Apple device that gets the message */
  iOSTargetDevice?: 'apns_device_default_push' | 'apns_device_provisional_push' | 'apns_device_non_provisional_push';

  /** Apps whose devices are reached; absent: all */
  appIds?: string[];

  /** Accepted without effect */
  deliverWhenActive?: boolean | 'true' | 'false';

  /** Whether the message ignores quiet hours */
  bypassDND?: boolean | 'true' | 'false';

  /** Whether the message is sent with high priority */
  sendAtHighPriority?: boolean | 'true' | 'false';
};

export type PushAndroidContent = {
  /** What happened, as a sentence */
  message: string;

  /** Title of the message */
  title: string;

  /** Line of text below the message on Android */
  summary?: string;

  /** Older spelling of summary */
  Summary?: string;

  /** Android notification channel */
  channel_id?: string;

  /** At most 45 ASCII characters are kept */
  groupKey?: string;

  /** The same key updates the earlier notification */
  collapseReplaceKey?: string;

  /** Media of the message */
  richContent?: {
    /** Kind of media */
    type: 'image' | 'coupon' | 'sound';

    /** Address of the media */
    value: string;
  }[];

  /** What a tap opens */
  defaultAction?: PushDefaultAction;

  /** Buttons of the notification */
  additionalActions?: {
    /** What the button does */
    type: 'call' | 'snooze' | 'copy' | 'share';

    /** Value of the button's action, such as a number to call */
    value?: string;

    /** Name */
    name?: string;

    /** Address of the icon */
    iconURL?: string;
  }[];

  /** Options beyond the interface */
  options?: {
    /** Who shows the message: the app (`data`), the system (`notification`), or both */
    deliveryMode?: 'data' | 'notification' | 'both';

    /** Whether a locked screen shows the message */
    visibility?: 'private' | 'public' | 'secret';

    /** #rrggbb */
    color?: string;

    /** A drawable of the app */
    icon?: string;

    /** Whether the user cannot swipe the notification away */
    sticky?: boolean | 'true' | 'false';

    /** Removed after this time */
    timeoutSeconds?: number;

    /** The number on the icon of the app */
    badge?: {
      /** What happens to the number on the icon */
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };

    /** Texts that are looked up in the app */
    locKeys?: {
      /** Key of a text in the app; required for its arguments */
      titleLocKey?: string;

      /** Values for the placeholders of `titleLocKey` */
      titleLocArgs?: string[];

      /** Key of the message's text in the app */
      bodyLocKey?: string;

      /** Values for the placeholders of `bodyLocKey` */
      bodyLocArgs?: string[];
    };

    /** Whether the app may get the message before the first unlock */
    directBootOk?: boolean | 'true' | 'false';

    /** Whether FCM may deliver over a network with limited bandwidth */
    bandwidthConstrainedOk?: boolean | 'true' | 'false';

    /** Whether FCM may deliver over a satellite link */
    restrictedSatelliteOk?: boolean | 'true' | 'false';

    /** 1 to 50 letters, digits and -_.~% */
    analyticsLabel?: string;
  };

  /** Content for users for whom rendering fails */
  fallback?: {
    /** What happened, as a sentence */
    message?: string;

    /** Title of the message */
    title?: string;

    /** Line of text below the message on Android */
    summary?: string;

    /** Older spelling of summary */
    Summary?: string;

    /** Android notification channel */
    channel_id?: string;

    /** At most 45 ASCII characters are kept */
    groupKey?: string;

    /** The same key updates the earlier notification */
    collapseReplaceKey?: string;

    /** Media of the message */
    richContent?: {
      /** Kind of media */
      type: 'image' | 'coupon' | 'sound';

      /** Address of the media */
      value: string;
    }[];

    /** What a tap opens */
    defaultAction?: PushDefaultAction;

    /** Buttons of the notification */
    additionalActions?: {
      /** What the button does */
      type: 'call' | 'snooze' | 'copy' | 'share';

      /** Value of the button's action, such as a number to call */
      value?: string;

      /** Name */
      name?: string;

      /** Address of the icon */
      iconURL?: string;
    }[];

    /** Options beyond the interface */
    options?: {
      /** Who shows the message: the app (`data`), the system (`notification`), or both */
      deliveryMode?: 'data' | 'notification' | 'both';

      /** Whether a locked screen shows the message */
      visibility?: 'private' | 'public' | 'secret';

      /** #rrggbb */
      color?: string;

      /** A drawable of the app */
      icon?: string;

      /** Whether the user cannot swipe the notification away */
      sticky?: boolean | 'true' | 'false';

      /** Removed after this time */
      timeoutSeconds?: number;

      /** The number on the icon of the app */
      badge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };

      /** Texts that are looked up in the app */
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;

        /** Values for the placeholders of `titleLocKey` */
        titleLocArgs?: string[];

        /** Key of the message's text in the app */
        bodyLocKey?: string;

        /** Values for the placeholders of `bodyLocKey` */
        bodyLocArgs?: string[];
      };

      /** Whether the app may get the message before the first unlock */
      directBootOk?: boolean | 'true' | 'false';

      /** Whether FCM may deliver over a network with limited bandwidth */
      bandwidthConstrainedOk?: boolean | 'true' | 'false';

      /** Whether FCM may deliver over a satellite link */
      restrictedSatelliteOk?: boolean | 'true' | 'false';

      /** 1 to 50 letters, digits and -_.~% */
      analyticsLabel?: string;
    };
  };
};

export type PushAnswer = PushSuccess | PushFailure;

export type PushConversionGoal = {
  /** Name */
  name: string;

  /** Event that counts as a conversion */
  eventName: string;

  /** Condition on an attribute of the event */
  attrs?: {
    /** Name */
    name: string;

    /** Comparison, such as `is` */
    filter: string;

    /** Type of the attribute */
    type: 'string' | 'numeric';

    /** Value */
    value?: string | number | string[];
  };
};

export type PushDefaultAction = {
  /** What a tap opens: a web page, a screen, or an address of an app */
  type: 'richlanding' | 'navigation' | 'deeplinking';

  /** Address or screen that a tap opens */
  value: string;

  /** Pairs that the app gets with the message */
  kvPairs?: Record<string, string>;
};

export type PushDelivery = PushDeliverySoon | PushDeliveryLater | PushDeliveryPeriodic;

export type PushDeliveryLater = {
  /** Once, at a date and time */
  type: 'later';

  /** MM/DD/YYYY */
  date: string;

  /** hh:mm AM/PM */
  time: string;

  /** IANA name */
  timezone?: string;
};

export type PushDeliveryPeriodic = {
  /** Repeatedly, until the end date */
  type: 'periodic';

  /** hh:mm AM/PM */
  time: string;

  /** MM/DD/YYYY */
  endDate: string;

  /** IANA name */
  timezone?: string;

  /** Days between sends, 1 to 365 */
  repeatAfter: string;
};

export type PushDeliverySoon = {
  /** At once */
  type: 'soon';
};

export type PushFailure = {
  /** Outcome or state */
  status: 'Fail';

  /** Id of the request */
  requestId: string;

  /** Id of the response */
  responseId: string;

  /** One of: Invalid Request Type; Invalid appId; appId not present; Campaign Name not found; Campaign Name too short (must be >= 5 chars); Request limit exceeded; Signature not present; Signature is not verified; Duplicate campaign name; Key not of Type List or Value not allowed: <field>; Error parsing parameters: <field>: <reason>; The request body could not be decoded.; A request body is required.; The request body is too large.; The media type of the request is not supported.; The request is not well-formed: <reason>; This host is not served here.; This method is not allowed here.; Idempotency-Key must be 1 to 255 printable characters.; Idempotency-Key reused with a different request body.; The service is busy. Please retry.; The service cannot reach its storage. Please retry.; The service cannot store anything at present. Please retry. */
  Error_Message: string;
};

export type PushFault = {
  /** Code of the error */
  code: 500;

  /** Outcome or state */
  status: 'error';

  /** Why */
  reason: string;

  /** Identifies this call in the API log */
  reference: string;
};

export type PushIosContent = {
  /** What happened, as a sentence */
  message: string;

  /** Title of the message */
  title: string;

  /** Second line of an iPhone's message */
  subtitle?: string;

  /** Messages with the same key are shown as a group */
  groupKey?: string;

  /** A newer message with the same key replaces this one */
  collapseReplaceKey?: string;

  /** Whether the message raises the number on the app's icon */
  enableIosBadge?: boolean | 'true' | 'false';

  /** Media of the message */
  richContent?: {
    /** Kind of media */
    type: 'gif' | 'coupon' | 'sound' | 'image' | 'audio' | 'video';

    /** Address of the media */
    value: string;
  }[];

  /** What a tap opens */
  defaultAction?: PushDefaultAction;

  /** Buttons of the notification */
  additionalActions?: {
    /** Category of buttons that the app has registered */
    category: string;
  }[];

  /** Options beyond the interface */
  options?: {
    /** How strongly iOS interrupts the user */
    interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';

    /** Order within the summary of notifications, 0 to 1 */
    relevanceScore?: number;

    /** Window of the app that the message concerns */
    targetContentId?: string;

    /** Text that a Focus filter compares */
    filterCriteria?: string;

    /** Sound of the message */
    sound?: {
      /** A file of the app, or default */
      name: string;

      /** Plays even if the phone is muted; requires an app with criticalAlerts */
      critical?: boolean | 'true' | 'false';

      /** For a critical sound */
      volume?: number;
    };

    /** The number on the icon of the app */
    badge?: {
      /** What happens to the number on the icon */
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };

    /** Whether iOS wakes the app to load content */
    contentAvailable?: boolean | 'true' | 'false';

    /** Image that the app shows when it is launched by the message */
    launchImage?: string;

    /** Texts that are looked up in the app */
    locKeys?: {
      /** Key of a text in the app; required for its arguments */
      titleLocKey?: string;

      /** Values for the placeholders of `titleLocKey` */
      titleLocArgs?: string[];

      /** Key of the message's text in the app */
      bodyLocKey?: string;

      /** Values for the placeholders of `bodyLocKey` */
      bodyLocArgs?: string[];

      /** Key of the subtitle in the app */
      subtitleLocKey?: string;

      /** Values for the placeholders of `subtitleLocKey` */
      subtitleLocArgs?: string[];
    };

    /** Buttons of the notification */
    additionalActions?: {
      /** Its name in reports, used only once */
      action: string;

      /** Text of the button */
      title: string;

      /** http, https or the scheme of an app */
      url: string;

      /** https */
      iconURL?: string;
    }[];
  };

  /** Content for users for whom rendering fails */
  fallback?: {
    /** What happened, as a sentence */
    message?: string;

    /** Title of the message */
    title?: string;

    /** Second line of an iPhone's message */
    subtitle?: string;

    /** Messages with the same key are shown as a group */
    groupKey?: string;

    /** A newer message with the same key replaces this one */
    collapseReplaceKey?: string;

    /** Whether the message raises the number on the app's icon */
    enableIosBadge?: boolean | 'true' | 'false';

    /** Media of the message */
    richContent?: {
      /** Kind of media */
      type: 'gif' | 'coupon' | 'sound' | 'image' | 'audio' | 'video';

      /** Address of the media */
      value: string;
    }[];

    /** What a tap opens */
    defaultAction?: PushDefaultAction;

    /** Buttons of the notification */
    additionalActions?: {
      /** Category of buttons that the app has registered */
      category: string;
    }[];

    /** Options beyond the interface */
    options?: {
      /** How strongly iOS interrupts the user */
      interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';

      /** Order within the summary of notifications, 0 to 1 */
      relevanceScore?: number;

      /** Window of the app that the message concerns */
      targetContentId?: string;

      /** Text that a Focus filter compares */
      filterCriteria?: string;

      /** Sound of the message */
      sound?: {
        /** A file of the app, or default */
        name: string;

        /** Plays even if the phone is muted; requires an app with criticalAlerts */
        critical?: boolean | 'true' | 'false';

        /** For a critical sound */
        volume?: number;
      };

      /** The number on the icon of the app */
      badge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };

      /** Whether iOS wakes the app to load content */
      contentAvailable?: boolean | 'true' | 'false';

      /** Image that the app shows when it is launched by the message */
      launchImage?: string;

      /** Texts that are looked up in the app */
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;

        /** Values for the placeholders of `titleLocKey` */
        titleLocArgs?: string[];

        /** Key of the message's text in the app */
        bodyLocKey?: string;

        /** Values for the placeholders of `bodyLocKey` */
        bodyLocArgs?: string[];

        /** Key of the subtitle in the app */
        subtitleLocKey?: string;

        /** Values for the placeholders of `subtitleLocKey` */
        subtitleLocArgs?: string[];
      };

      /** Buttons of the notification */
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;

        /** Text of the button */
        title: string;

        /** http, https or the scheme of an app */
        url: string;

        /** https */
        iconURL?: string;
      }[];
    };
  };
};

export type PushRequestV2 = PushToAllUsersV2 | PushToSegmentV2 | PushToUsersV2;

export type PushRequestV21 = PushToAllUsersV21 | PushToSegmentV21 | PushToUsersV21;

export type PushSuccess = {
  /** Outcome or state */
  status: 'Success';

  /** Id of the request */
  requestId: string;

  /** Id of the response */
  responseId: string;

  /** The id of the campaign */
  cid: string;
};

export type PushToAllUsersV2 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'All Users';

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Workspace id */
  appId: string;

  /** Signature of the push */
  signature: string;
};

export type PushToAllUsersV21 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'All Users';

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Must be equal to the header */
  appId?: string;

  /** Must be equal to the header */
  signature?: string;
};

export type PushToSegmentV2 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'Custom Segment';

  /** Required for audience Custom Segment */
  customSegmentName: string;

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Workspace id */
  appId: string;

  /** Signature of the push */
  signature: string;
};

export type PushToSegmentV21 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'Custom Segment';

  /** Required for audience Custom Segment */
  customSegmentName: string;

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Must be equal to the header */
  appId?: string;

  /** Must be equal to the header */
  signature?: string;
};

export type PushToUsersV2 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'User';

  /** The users of audience `User`, by the value of an attribute */
  targetUserAttributes: {
    /** Attribute by whose value the users are named */
    attribute: string;

    /** is or in */
    comparisonParameter: 'is' | 'in';

    /** Value of the attribute, or a list of values for `in` */
    attributeValue: string | string[];

    /** Whether `attribute` is the name of a custom attribute */
    isCustom?: boolean | 'true' | 'false';
  };

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Workspace id */
  appId: string;

  /** Signature of the push */
  signature: string;
};

export type PushToUsersV21 = {
  /** Name of the campaign. A `User` push with the name of an existing campaign joins it */
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;

  /** Kind of the request */
  requestType?: 'push';

  /** Platforms that get the push */
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];

  /** Who gets the push: all users, a segment, or the users that `targetUserAttributes` names */
  targetAudience: 'User';

  /** The users of audience `User`, by the value of an attribute */
  targetUserAttributes: {
    /** Attribute by whose value the users are named */
    attribute: string;

    /** is or in */
    comparisonParameter: 'is' | 'in';

    /** Value of the attribute, or a list of values for `in` */
    attributeValue: string | string[];

    /** Whether `attribute` is the name of a custom attribute */
    isCustom?: boolean | 'true' | 'false';
  };

  /** Content for each platform */
  payload: {
    /** Texts for Android that replace those of the content in this locale */
    ANDROID?: PushAndroidContent;

    /** Texts for iPhones and iPads that replace those of the content in this locale */
    IOS?: PushIosContent;

    /** Texts for browsers that replace those of the content in this locale */
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        /** Texts for Android that replace those of the content in this locale */
        ANDROID?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Line of text below the message on Android */
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };

        /** Texts for iPhones and iPads that replace those of the content in this locale */
        IOS?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Second line of an iPhone's message */
          subtitle?: string;
        };

        /** Texts for browsers that replace those of the content in this locale */
        WEB?: {
          /** Title of the message */
          title?: string;

          /** What happened, as a sentence */
          message?: string;

          /** Address that a click opens */
          redirectURL?: string;

          /** Address of the icon */
          iconURL?: string;

          /** https */
          imageURL?: string;
        };
      }
    >;

    /** Changes to the finished requests, as merge patches */
    providerOverrides?: {
      /** For messages to FCM */
      fcm?: Record<string, unknown>;

      /** For messages to Huawei Push Kit */
      hms?: Record<string, unknown>;

      /** For messages to Amazon Device Messaging */
      adm?: Record<string, unknown>;

      /** Members added to the finished request of APNs */
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };

      /** Members added to the finished request of Web Push */
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };

  /** When the push is sent */
  campaignDelivery: PushDelivery;

  /** Tags of the campaign */
  campaignTags?: string[];

  /** Events that count as conversions */
  conversionGoals?: PushConversionGoal[];

  /** Priority, time to live, limits and other settings */
  advancedSettings?: PushAdvancedSettings;

  /** Must be equal to the header */
  appId?: string;

  /** Must be equal to the header */
  signature?: string;
};

export type PushWebContent = {
  /** What happened, as a sentence */
  message: string;

  /** Title of the message */
  title: string;

  /** Absent: a click opens the site */
  redirectURL?: string;

  /** Absent: the browser's own icon */
  iconURL?: string;

  /** https */
  imageURL?: string;

  /** Whether the notification disappears by itself */
  autoDismiss?: boolean | 'true' | 'false';

  /** Options beyond the interface */
  options?: {
    /** Buttons of the notification */
    additionalActions?: {
      /** Its name in reports, used only once */
      action: string;

      /** Text of the button */
      title: string;

      /** http or https */
      url: string;

      /** https */
      iconURL?: string;
    }[];

    /** https */
    badgeURL?: string;

    /** The same tag replaces the earlier notification */
    tag?: string;

    /** Whether a message that replaces another alerts again */
    renotify?: boolean | 'true' | 'false';

    /** Whether the message makes no sound */
    silent?: boolean | 'true' | 'false';

    /** Whether the notification stays until the user acts */
    requireInteraction?: boolean | 'true' | 'false';

    /** BCP 47 */
    lang?: string;

    /** Direction of the text */
    dir?: 'auto' | 'ltr' | 'rtl';

    /** Pattern of vibration in milliseconds */
    vibrate?: number[];

    /** Milliseconds since 1970 */
    timestamp?: number;

    /** Whether the push has the declarative form */
    declarative?: 'auto' | 'always' | 'never';

    /** The number on the icon of the app */
    appBadge?: {
      /** What happens to the number on the icon */
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };
  };

  /** Content for users for whom rendering fails */
  fallback?: {
    /** What happened, as a sentence */
    message?: string;

    /** Title of the message */
    title?: string;

    /** Absent: a click opens the site */
    redirectURL?: string;

    /** Absent: the browser's own icon */
    iconURL?: string;

    /** https */
    imageURL?: string;

    /** Whether the notification disappears by itself */
    autoDismiss?: boolean | 'true' | 'false';

    /** Options beyond the interface */
    options?: {
      /** Buttons of the notification */
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;

        /** Text of the button */
        title: string;

        /** http or https */
        url: string;

        /** https */
        iconURL?: string;
      }[];

      /** https */
      badgeURL?: string;

      /** The same tag replaces the earlier notification */
      tag?: string;

      /** Whether a message that replaces another alerts again */
      renotify?: boolean | 'true' | 'false';

      /** Whether the message makes no sound */
      silent?: boolean | 'true' | 'false';

      /** Whether the notification stays until the user acts */
      requireInteraction?: boolean | 'true' | 'false';

      /** BCP 47 */
      lang?: string;

      /** Direction of the text */
      dir?: 'auto' | 'ltr' | 'rtl';

      /** Pattern of vibration in milliseconds */
      vibrate?: number[];

      /** Milliseconds since 1970 */
      timestamp?: number;

      /** Whether the push has the declarative form */
      declarative?: 'auto' | 'always' | 'never';

      /** The number on the icon of the app */
      appBadge?: {
        /** What happens to the number on the icon */
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
    };
  };
};

export type RefreshRequest = {
  /** Always `refresh_token`. */
  grant_type: 'refresh_token';

  /** The Workspace ID. */
  client_id: string;

  /** The refresh token returned by generation; valid 30 days. */
  refresh_token: string;

  /** Optional, unless the workspace requires it; checked when sent. */
  client_secret?: string;
};

export type RefreshedToken = {
  /** Outcome or state */
  status: 'SUCCESS';

  /** The result */
  data: {
    /** The Bearer token. */
    access_token: string;

    /** Kind of the access token */
    token_type: 'Bearer';

    /** Seconds from the issue, 300 to 3600. */
    expires_in: number;
  };

  /** The Bearer token. */
  access_token: string;

  /** Kind of the access token */
  token_type: 'Bearer';

  /** Seconds from the issue, 300 to 3600. */
  expires_in: number;
};

export type ReportFile = {
  /** JSON lines, one per campaign, compressed with gzip */
  file_name: string;

  /** The path for reading the file */
  path: string;

  /** The state of the file */
  state: 'FAILED' | 'READY' | 'WAITING';

  /** The reason why the file could not be written */
  reason?: string;

  /** Number of lines */
  campaigns?: number;

  /** Size of the file in bytes */
  size_bytes?: number;

  /** First day */
  start_date: string;

  /** Last day */
  end_date: string;

  /** What must come before an event for it to count as a conversion */
  attribution_type: string;

  /** Whether repeated reports of a user count once */
  metric_type: string;

  /** ISO 8601 */
  created_at: string;

  /** ISO 8601; the file is deleted then */
  expires_at: string;
};

/** JSON lines, one per campaign, compressed with gzip */
export type ReportFileBytes = string;

export type ReportFileError = {
  /** The error */
  error: {
    /** Member that the error concerns */
    attribute: string;

    /** What happened, as a sentence */
    message: string;

    /** Code of the error */
    type: string;

    /** Eight letters that identify this call in the API log */
    request_id: string;
  };
};

export type ReportFileRequest = {
  /** Echoed as response_id */
  request_id: string;

  /** Ids of the campaigns */
  campaign_ids?: string[];

  /** YYYY-MM-DD in the zone of the workspace */
  start_date: string;

  /** YYYY-MM-DD, included; at most 90 days after start_date */
  end_date: string;

  /** What must come before an event for it to count as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (it was clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (it was sent) or CLICK_CONVERSIONS (it was sent and has been clicked) */
  attribution_type: 'VIEW_THROUGH' | 'CLICK_THROUGH' | 'IN_SESSION' | 'TOTAL_CONVERSIONS' | 'CLICK_CONVERSIONS';

  /** Whether repeated reports of a user count once */
  metric_type: 'TOTAL' | 'UNIQUE';
};

export type ReportFileRequested = {
  /** Id of the response */
  response_id: string;

  /** JSON lines, one per campaign, compressed with gzip */
  file_name: string;

  /** The path for reading the file */
  path: string;

  /** Value for the header Signature: the hexadecimal SHA-256 of workspace id, file name and key, joined by pipes. A request with a token gets one made with a separate secret */
  signature: string;

  /** ISO 8601; the file is deleted then */
  expires_at: string;
};

export type ReportFiles = {
  /** Files that have not expired */
  report_files: ReportFile[];
};

export type RevokeRequest = {
  /** An access token, or a refresh token together with all access tokens made from it. */
  token: string;

  /** Not needed; any value is accepted. */
  token_type_hint?: string;

  /** The Workspace ID. */
  client_id: string;

  /** The API key value; its authentication type must be OAuth 2.0. */
  client_secret: string;
};

export type RevokedToken = {
  /** Outcome or state */
  status: 'SUCCESS';
};

export type SandboxBrowserDevice = {
  /** Customer id of the user */
  customerId: string;

  /** Subscription of the browser */
  subscription: {
    /** Address of the browser's push service */
    endpoint: string;

    /** Keys with which the message is encrypted */
    keys: {
      /** Public key of the browser's subscription */
      p256dh: string;

      /** Authentication secret of the browser's subscription */
      auth: string;
    };
  };
};

export type SandboxClock = {
  /** Time of the installation */
  now: string;

  /** Seconds ahead of real time; negative if behind it */
  offsetSeconds: number;

  /** True while the clock is stopped, until it is moved, resumed or reset */
  frozen: boolean;

  /** Progress of the advance; null if the clock is not being moved */
  advancing: {
    /** Times at which the clock stopped because something was due */
    stops: number;

    /** Seconds that the clock still has to move */
    remainingSeconds: number;
  } | null;
};

export type SandboxClockAdvance = {
  /** Seconds by which the clock moves forward */
  advanceSeconds: number;
};

export type SandboxClockFreeze = {
  /** Stops the clock */
  freeze: true;
};

export type SandboxClockMove =
  SandboxClockAdvance | SandboxRunUntilIdle | SandboxClockFreeze | SandboxClockResume | SandboxClockReset;

export type SandboxClockReset = {
  /** Returns the clock to real time */
  reset: true;
};

export type SandboxClockResume = {
  /** Lets the clock run */
  resume: true;
};

export type SandboxCounted = {
  /** Requests that the simulated provider received */
  received: number;

  /** Requests that the simulated provider accepted */
  accepted: number;

  /** Requests that the simulated provider refused */
  refused: number;
};

export type SandboxCounters = {
  /** Texts for Android that replace those of the content in this locale */
  ANDROID?: SandboxCounted;

  /** Texts for iPhones and iPads that replace those of the content in this locale */
  IOS?: SandboxCounted;

  /** Texts for browsers that replace those of the content in this locale */
  WEB?: SandboxCounted;

  /** Counts of the simulated Huawei Push Kit */
  HMS?: SandboxCounted;

  /** Counts of the simulated Amazon Device Messaging */
  ADM?: SandboxCounted;
};

export type SandboxDemo = {
  /** Workspace id */
  workspaceId: string;
};

export type SandboxFault = {
  /** Return this response instead of processing the request */
  status?: number;

  /** Body of the injected response */
  body?: string;

  /** Headers of the injected response */
  headers?: Record<string, string>;

  /** For a provider: an answer of the real provider, by its name in docs/sandbox.md */
  answer?: string;

  /** Milliseconds to wait before the response */
  delayMilliseconds?: number;

  /** Reset the stream instead of responding */
  reset?: boolean;

  /** Send GOAWAY after this many streams of a connection */
  goawayEvery?: number;

  /** Connections that one installation may hold open */
  maxStreams?: number;

  /** Only the n-th request */
  nth?: number;

  /** Only every n-th request */
  every?: number;

  /** Only this share of requests */
  probability?: number;

  /** Selects which requests or devices belong to the share */
  seed?: number;

  /** For a provider: only devices whose address begins with this text */
  device?: string;

  /** For a provider: only this share of devices, always the same ones */
  share?: number;

  /** For a provider: only this many times per device */
  countPerDevice?: number;

  /** For `api`: only this route, such as `POST /v1/oauth/token` or `/v5/campaigns/*` */
  route?: string;

  /** Only this many times */
  count?: number;
};

export type SandboxFaults = {
  /** Faults of the simulated FCM */
  fcm?: SandboxFault | SandboxFault[];

  /** Faults of the simulated APNs */
  apns?: SandboxFault | SandboxFault[];

  /** Faults of the simulated push service */
  webpush?: SandboxFault | SandboxFault[];

  /** Faults of the simulated Huawei Push Kit */
  hms?: SandboxFault | SandboxFault[];

  /** Faults of the simulated Amazon Device Messaging */
  adm?: SandboxFault | SandboxFault[];

  /** Faults of this API */
  api?: SandboxFault | SandboxFault[];
};

export type SandboxInbox = {
  /** Messages, newest first */
  messages: SandboxMessage[];
};

export type SandboxMessage = {
  /** Id */
  id: string;

  /** Workspace id */
  workspaceId: string;

  /** Messages with the same id replace each other */
  collapseId: string | null;

  /** Id of the message */
  messageId: string;

  /** Platform */
  platform: 'ANDROID' | 'IOS' | 'WEB';

  /** Push address of the device */
  deviceToken: string;

  /** Title of the message */
  title: string;

  /** Text of the message */
  body: string;

  /** Id of the campaign */
  campaignId: string | null;

  /** Time at which the simulated device got the message */
  receivedAt: string;

  /** Parameters of the request other than the message, such as its priority and time to live. */
  transport: Record<string, string>;

  /** All headers of the request, with only the scheme of credentials. Empty for messages of older versions. */
  headers: Record<string, string>;

  /** The message as the provider got it */
  payload: unknown;

  /** The visible part while the app is in the background; empty for messages of older versions. */
  screen: {
    /** What shows the message: the system or the app */
    shownBy?: 'app' | 'system' | 'extension' | 'worker' | 'nobody';

    /** Title of the message */
    title?: string;

    /** Text of the message */
    body?: string;

    /** Address of the image */
    image?: string;

    /** Buttons of the notification */
    buttons?: string[];

    /** What the simulated phone can report */
    reports?: ('impression' | 'click' | 'close')[];
  };
};

export type SandboxRefusal = {
  /** Counted from 1 at the start of the node */
  number: number;

  /** Time of the request */
  at: string;

  /** Provider that got the request */
  provider: 'fcm' | 'apns' | 'webpush' | 'hms' | 'adm';

  /** Path of the request */
  path: string;

  /** Device that the request was for */
  device: string | null;

  /** Null: no response, or the stream was cut */
  status: number | null;

  /** The reason in the provider's words */
  reason: string;

  /** Rule that the request breaks */
  rule: 'fault' | 'magic address' | 'credentials' | 'route' | 'headers' | 'payload' | 'device address';

  /** Credentials are reduced to their scheme */
  headers: Record<string, string>;
};

export type SandboxRefusals = {
  /** Refused requests, newest first */
  refusals: SandboxRefusal[];
};

export type SandboxRegisteredDevice = {
  /** Your id of the device */
  deviceId: string;
};

export type SandboxRunUntilIdle = {
  /** Moves the clock until nothing is due */
  runUntilIdle: true;

  /** Stops before messages that are due later than this; default 2678400, 31 days */
  withinSeconds?: number;
};

export type SegmentAccepted = {
  /** What happened, as a sentence */
  message: string;

  /** Whether the request was accepted */
  success: boolean;

  /** Name of the segment */
  cs_name: string;

  /** Id of the segment */
  cs_id: string;
};

export type SegmentAnswer = {
  /** The result */
  data: {
    /** Name */
    name: string;

    /** Id */
    id: string;

    /** UTC, without a zone */
    created_time: string;

    /** ELASTIC_SEARCH for a filter segment */
    type: 'COHORT' | 'ELASTIC_SEARCH' | 'FILE';

    /** Where it was created */
    source: 'API' | 'DASHBOARD' | 'PARTNER';

    /** Time of the last change */
    updated_time: string;

    /** Description */
    description: string | null;

    /** Filters that select the users */
    included_filters: unknown;

    /** Filters whose users are left out */
    excluded_filters: unknown;

    /** FILLING: the segment has none or some of its members so far */
    status: 'ARCHIVED' | 'FAILED' | 'FILLING' | 'READY';

    /** Number of users in the segment */
    user_count: number | null;
  };

  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'custom_segment';
};

export type SegmentList = {
  /** The result */
  data: {
    /** Name */
    name: string;

    /** Id */
    id: string;

    /** UTC, without a zone */
    created_time: string;

    /** ELASTIC_SEARCH for a filter segment */
    type: 'COHORT' | 'ELASTIC_SEARCH' | 'FILE';

    /** Where it was created */
    source: 'API' | 'DASHBOARD' | 'PARTNER';
  }[];

  /** Id of the response */
  response_id: string;

  /** Kind of the object */
  type: 'custom_segment';
};

export type SegmentName = {
  /** Name */
  name: string;

  /** Takes precedence over the name */
  cs_id?: string;
};

export type SourceAccepted = {
  /** Also if messages were rejected: the API log names them */
  success: true;
};

export type SourceAlias = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** The earlier userId or anonymousId of the user */
  previousId?: string | number;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceBatch = {
  /** The messages, oldest first */
  batch: SourceMessage[];

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceError = {
  /** Whether the request was accepted */
  success: false;

  /** What is wrong, for people */
  message: string;
};

export type SourceGroup = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Stored as the attribute group_id of the user */
  groupId?: string | number;

  /** Attributes; null removes one */
  traits?: Record<string, unknown>;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceIdentify = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Attributes; null removes one */
  traits?: Record<string, unknown>;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceMessage = {
  /** What the message is */
  type: 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias';

  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Attributes; null removes one */
  traits?: Record<string, unknown>;

  /** Name of the event */
  event?: string;

  /** Attributes of the event */
  properties?: Record<string, unknown>;

  /** Name */
  name?: string;

  /** Category of buttons that the app has registered */
  category?: string;

  /** Stored as the attribute group_id of the user */
  groupId?: string | number;

  /** The earlier userId or anonymousId of the user */
  previousId?: string | number;
};

export type SourcePage = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Name */
  name?: string;

  /** Category of buttons that the app has registered */
  category?: string;

  /** Attributes of the event */
  properties?: Record<string, unknown>;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceScreen = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Name */
  name?: string;

  /** Category of buttons that the app has registered */
  category?: string;

  /** Attributes of the event */
  properties?: Record<string, unknown>;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type SourceTrack = {
  /** Made by the library, new for each message: a repeat counts once */
  messageId?: string;

  /** The customer id of the user */
  userId?: string | number;

  /** Names a user who has not signed in; a later identify with both merges this user */
  anonymousId?: string | number;

  /** When it happened, ISO 8601, by the clock of the sender; absent: now */
  timestamp?: unknown;

  /** Read if there is no timestamp */
  originalTimestamp?: unknown;

  /** Read: device.id, device.token, device.type, device.model, app.version, os.version, locale */
  context?: Record<string, unknown>;

  /** Name of the event */
  event?: string;

  /** Attributes of the event */
  properties?: Record<string, unknown>;

  /** The clock of the sender when it sent the request: times are corrected by it */
  sentAt?: unknown;

  /** The write key, if it is not sent with Basic authentication */
  writeKey?: string;
};

export type StatsControlGroup = {
  /** Counts of sent, shown and clicked messages */
  performance_stats: {
    /** Users of the runs in the group */
    eligible_users: number;
  };

  /** For TOTAL_CONVERSIONS */
  conversion_goal_stats?: Record<
    string,
    {
      /** total or unique, by metric_type */
      conversions: number;

      /** Events that fulfilled the goal, by attribution_type */
      total: number;

      /** Users who fulfilled the goal, each counted once */
      unique: number;

      /** Percent of eligible_users who fulfilled the goal, each once a run */
      cvr?: number;
    }
  >;
};

export type StatsError = {
  /** The kind of error */
  title:
    | 'Authentication required'
    | 'Bad Request'
    | 'Conflict'
    | 'Forbidden Request'
    | 'Invalid Field Value'
    | 'Method Not Allowed'
    | 'Misdirected Request'
    | 'Payload Too Large'
    | 'Server Error'
    | 'Service Unavailable'
    | 'Too Many Requests'
    | 'Unsupported Media Type';

  /** What is wrong */
  description: string;

  /** Eight letters that identify this call in the API log */
  code: string;
};

export type StatsFigures = {
  /** Counts of sent, shown and clicked messages */
  performance_stats: {
    /** Devices with an attempt: sent, failed, or waiting for a retry */
    attempted?: number;

    /** Messages that a provider accepted */
    sent?: number;

    /** Messages that a provider permanently rejected, or that expired */
    failed?: number;

    /** Of the failed ones: the provider no longer knows the address */
    bounced?: number;

    /** Messages that a device reported as shown, each counted once */
    delivered?: number;

    /** Reports that a message was shown; UNIQUE: devices */
    impression?: number;

    /** Reports that a message was clicked; UNIQUE: devices */
    click?: number;

    /** Reports that a message was closed without a click; UNIQUE: devices */
    closed_click?: number;

    /** Percent: click divided by impression */
    ctr?: number;

    /** Percent: delivered divided by sent */
    delivery_rate?: number;

    /** Percent: sent divided by attempted */
    sent_rate?: number;

    /** Percent: attempted minus sent, divided by attempted */
    failure_rate?: number;

    /** Users of the runs in no control group, each counted once per run */
    eligible_users?: number;

    /** Percent of the sent messages that were clicked, each counted once; for a variation or a locale */
    clicked_rate?: number;

    /** Lower bound of the 95 % interval of clicked_rate */
    clicked_rate_low?: number;

    /** Upper bound of the 95 % interval of clicked_rate */
    clicked_rate_high?: number;
  };

  /** Conversions of each goal */
  conversion_goal_stats: Record<
    string,
    {
      /** total or unique, by metric_type */
      conversions: number;

      /** Events that fulfilled the goal, by attribution_type */
      total: number;

      /** Users who fulfilled the goal, each counted once */
      unique: number;

      /** Percent of eligible_users who fulfilled the goal, each once a run */
      cvr?: number;

      /** Lower bound of the 95 % interval of cvr */
      cvr_low?: number;

      /** Upper bound of the 95 % interval of cvr */
      cvr_high?: number;

      /** Percent by which cvr is above that of the control group */
      uplift?: number;

      /** Lower bound of the 95 % interval of uplift */
      uplift_low?: number;

      /** Upper bound of the 95 % interval of uplift */
      uplift_high?: number;

      /** Revenue of the events, if the goal has a revenue_attribute */
      revenue?: number;

      /** Currency of the revenue */
      revenue_currency?: string;
    }
  >;

  /** Counts from the audience to the delivered messages */
  delivery_funnel: {
    /** Users of the runs with a device of the platform that is sent to */
    reachable_users_in_segment?: number;

    /** Users of the runs with a device of the platform that has the app */
    segment_after_uninstall?: number;

    /** Reachable users in no control group; the same as eligible_users */
    users_after_dup?: number;

    /** Devices of the runs, whatever the outcome of their messages */
    user_devices?: number;

    /** Of these devices, those whose address is still registered */
    active_device_token?: number;

    /** Of these devices, those that no frequency cap withheld */
    after_fc?: number;

    /** As above */
    sent?: number;

    /** As above */
    impressions?: number;
  };

  /** Failed and withheld messages, by reason */
  failure_breakdown?: Record<string, number>;
};

export type StatsRequest = {
  /** Echoed as response_id */
  request_id: string;

  /** Ids of the campaigns */
  campaign_ids?: string[];

  /** YYYY-MM-DD in the zone of the workspace */
  start_date: string;

  /** YYYY-MM-DD, included; at most 30 days after start_date */
  end_date: string;

  /** What must come before an event for it to count as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (it was clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (it was sent) or CLICK_CONVERSIONS (it was sent and has been clicked) */
  attribution_type: 'VIEW_THROUGH' | 'CLICK_THROUGH' | 'IN_SESSION' | 'TOTAL_CONVERSIONS' | 'CLICK_CONVERSIONS';

  /** Whether repeated reports of a user count once */
  metric_type: 'TOTAL' | 'UNIQUE';

  /** Campaigns to skip; default 0 */
  offset?: number;

  /** Default 10 */
  limit?: number;
};

export type TokenError = {
  /** Outcome or state */
  status: 'FAILURE';

  /** Error code, for example ER011. */
  error_type:
    | 'ER010'
    | 'ER011'
    | 'ER012'
    | 'ER013'
    | 'ER018'
    | 'ER019'
    | 'ER020'
    | 'ER021'
    | 'HOST_NOT_SERVED'
    | 'IDEMPOTENCY_CONFLICT'
    | 'INTERNAL_ERROR'
    | 'INVALID_REQUEST'
    | 'METHOD_NOT_ALLOWED'
    | 'PAYLOAD_TOO_LARGE'
    | 'RATE_LIMIT_EXCEEDED'
    | 'SERVICE_UNAVAILABLE'
    | 'UNSUPPORTED_MEDIA_TYPE';

  /** Human-readable description. */
  reason: string;

  /** Error code of RFC 6749 §5.2. */
  error:
    | 'invalid_client'
    | 'invalid_grant'
    | 'invalid_request'
    | 'server_error'
    | 'temporarily_unavailable'
    | 'unauthorized_client'
    | 'unsupported_grant_type';

  /** What is wrong */
  error_description: string;
};

export type TokenRequest = {
  /** Always `client_credentials`. */
  grant_type: 'client_credentials';

  /** The Workspace ID. */
  client_id: string;

  /** The API key value; its authentication type must be OAuth 2.0. */
  client_secret: string;
};

export type Topic = {
  /** The key */
  topic: string;

  /** Users read it */
  name: string;

  /** Users read it */
  description: string;

  /** Whether users without a choice are in the topic */
  default: 'opted_in' | 'opted_out';

  /** Order in lists, then by key */
  position: number;
};

/** Members that are absent stay as they are */
export type TopicChange = {
  /** Users read it */
  name?: string;

  /** Users read it. Absent: none */
  description?: string;

  /** Order in lists, then by key. Absent: 0 */
  position?: number;
};

export type TopicRequest = {
  /** The name in requests and campaigns; cannot be changed */
  key: string;

  /** Whether users without a choice are in the topic; cannot be changed */
  default: 'opted_in' | 'opted_out';

  /** Users read it */
  name: string;

  /** Users read it. Absent: none */
  description?: string;

  /** Order in lists, then by key. Absent: 0 */
  position?: number;
};

export type Topics = {
  /** In the order in which users see them */
  topics: Topic[];
};

export type TransitionRequest = {
  /** Kind of the object */
  type: 'transition';

  /** Users, devices and events */
  elements: (CustomerRequest | EventRequest | DeviceRequest)[];
};

export type UserTopic = {
  /** The key */
  topic: string;

  /** Users read it */
  name: string;

  /** Users read it */
  description: string;

  /** True if the user is in the topic */
  opted_in: boolean;

  /** Whether users without a choice are in the topic */
  default: 'opted_in' | 'opted_out';

  /** Null: the user made no choice and follows the default */
  chosen_at: string | null;

  /** What sent the events */
  source: ('api' | 'app' | 'console' | 'import' | 'page') | null;
};

export type UserTopics = {
  /** All topics of the workspace, in their order */
  topics: UserTopic[];
};

export type UserTopicsRequest = {
  /** By the keys of topics; others stay as they are */
  topics: Record<string, boolean>;
};
