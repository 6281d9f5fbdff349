// Generated from the OpenAPI document by `npm run client:types`; edits are lost.

export type App = {
  app_id: string;

  /** ANDROID, IOS or WEB */
  platform: 'ANDROID' | 'IOS' | 'WEB';
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
  web_origins: string[];
  attributes: string[];

  /** At most two, both valid */
  identity_keys: {
    /** The kid in the header of tokens */
    kid: string;

    /** Of every token under the key */
    algorithm: 'HS256' | 'ES256';
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
    id: string;
    reason: string;
  }[];
};

export type AppEventsRequest = {
  /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
  installation_id: string;

  /** The device's clock when it sends the request: times are corrected by its difference */
  sent_at?: string;
  events: AppEvent[];
};

export type AppReceipt = {
  /** Made by the app, new for each: 8 to 64 letters, digits, - and _ */
  id: string;

  /** The report token of the message */
  token: string;
  type: 'shown' | 'clicked' | 'dismissed';

  /** The button that was clicked */
  action?: string;
};

export type AppReceipts = {
  accepted: number;

  /** Reports that are never stored: do not send them again */
  refused: {
    id: string;
    reason: string;
  }[];
};

export type AppReceiptsRequest = {
  /** Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits */
  installation_id: string;
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
  apps: App[];
};

export type BusinessEventAttribute = {
  attribute_name: string;

  /** string, int, float, array, date */
  attribute_data_type: string;
};

export type BusinessEventCreated = {
  message: string;
  event_id: string;
};

export type BusinessEventRequest = {
  event_name: string;
  event_attributes?: BusinessEventAttribute[];
  created_by: string;
};

/** At least one of the two */
export type BusinessEventSearchV1 = {
  event_ids?: string[];
  event_names?: string[];
};

export type BusinessEventSearchV5 = {
  request_id?: string;
  event_ids?: string[];
  event_names?: string[];
  limit?: number;

  /** next_cursor of the previous page */
  cursor?: string;
};

export type BusinessEventTriggerV1 = {
  event_name: string;

  /** Values of the event’s attributes */
  event_attributes?: Record<string, unknown>;
  triggered_by?: string;
};

export type BusinessEventTriggerV5 = {
  request_id?: string;

  /** Name or id */
  event_name: string;

  /** Values of the event’s attributes */
  event_attributes?: Record<string, unknown>;
  triggered_by: string;
};

export type BusinessEventTriggeredV1 = {
  message: string;
};

export type BusinessEventTriggeredV5 = {
  response_id: string;
  type: 'business_event';
  data: {
    /** True if all campaigns were started */
    triggered_status: 'FAILURE' | 'PARTIAL_SUCCESS' | 'SUCCESS';
    message: string;
    summary: {
      total: number;
      triggered: number;
      failed: number;
    };
    triggered_campaign_ids: string[];
    failed_campaign_ids: string[];
    triggered_flow_ids: string[];
    failed_flow_ids: string[];
  };
};

export type BusinessEventsV1 = {
  data: {
    db_name: string;
    event_id: string;
    event_name: string;
    event_attributes: BusinessEventAttribute[];
    created_by: string;
    created_at: string;
    total_trigger: number;

    /** Number of campaigns published with it */
    usage_count: number;
    last_received_time?: string;
  }[];
};

export type BusinessEventsV5 = {
  response_id: string;
  type: 'business_event';
  data: {
    business_events: {
      id: string;
      event_id: string;
      event_name: string;
      event_attributes: BusinessEventAttribute[];
      created_by: string;
      created_at: string;
      total_trigger: number;

      /** Number of campaigns published with it */
      usage_count: number;
      last_received_time?: string;
    }[];

    /** There may be another page */
    next_cursor?: string;
  };
};

export type CampaignAdvanced = {
  expiration_settings?: {
    /** At most seven days */
    expire_notification_after_value?: number;

    /** HOUR or DAY */
    expire_notification_after_type?: string;

    /** Refused */
    remove_from_inbox_after_value?: number;

    /** Refused */
    remove_from_inbox_after_type?: string;
  };
  platform_level_priority?: {
    android_specific_priority?: {
      /** HIGH or NORMAL */
      send_with_priority?: string;
    };
    ios_specific_priority?: {
      /** 1, 5 or 10 */
      apns_priority?: string;

      /** ACTIVE */
      interruption_level?: string;
      relevance_score?: number;
    };
  };

  /** Apps whose devices are reached; absent: all */
  app_ids?: string[];
};

export type CampaignAnswerV5 = {
  response_id: string;
  type: 'campaign';
  data: CampaignV5;
};

export type CampaignAudience = {
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
  frequency?: string;

  /** SENT */
  metric?: string;

  /** V1: SENT */
  metrics?: string;
};

export type CampaignBasicDetails = {
  name?: string;

  /** ANDROID, IOS, WEB */
  platforms?: string[];
  platform_specific_details?: {
    android?: {
      /** false */
      push_amp_plus_enabled?: boolean;
    };
    ios?: {
      /** true */
      send_to_all_eligible_device?: boolean;

      /** false */
      exclude_provisional_push_devices?: boolean;

      /** false */
      send_to_only_provisional_push_enabled_devices?: boolean;
    };
  };
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
  request_id: string;

  /** PUSH */
  channel?: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details?: CampaignAudience;
  scheduling_details?: CampaignSchedule;
  delivery_controls?: CampaignDeliveryControls;
  advanced?: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
  updated_by: string;
};

export type CampaignChangedAnswer = {
  response_id: string;
  type: 'campaign';
  data: {
    id: string;
  };
};

export type CampaignContent = {
  locales?: string[];
  variation_details?: {
    no_of_variations?: number;

    /** MANUAL or SHERPA: learned */
    distribution_type?: string;

    /** CLICKS, or GOAL: the primary goal */
    sherpa_metric?: string;

    /** Minimum share of each variation */
    sherpa_minimum_percentage?: number;

    /** Percent of the users by variation, 100 together */
    manual_distribution_percentage?: Record<string, number>;
  };

  /** `push`, or `push` below each locale (`default` and language tags) and each variation */
  content?: {
    push?: CampaignPushContent;
    default?: CampaignVariations;
  } & Record<string, CampaignVariations>;
};

export type CampaignCreatedV1 = {
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
  limit_send_config?: {
    /** Default false */
    enabled?: boolean;

    /** Messages of this campaign to a user */
    max_count?: number;

    /** Number of units, at most 30 days */
    window_value?: number;

    /** MINUTES, HOURS or DAYS */
    window_unit?: string;
  };
};

export type CampaignDraftAnswer = {
  response_id: string;
  type: 'campaign';
  data: {
    id: string;
    status: 'DRAFT';
  };
};

export type CampaignDraftChange = {
  request_id?: string;

  /** PUSH */
  channel?: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details?: CampaignAudience;
  scheduling_details?: CampaignSchedule;
  delivery_controls?: CampaignDeliveryControls;
  advanced?: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
  updated_by?: string;
};

export type CampaignDraftRequest = {
  request_id?: string;

  /** PUSH */
  channel: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details?: CampaignAudience;
  scheduling_details?: CampaignSchedule;
  delivery_controls?: CampaignDeliveryControls;
  advanced?: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
  created_by: string;
};

export type CampaignErrorV1 = {
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
    message: string;

    /** The subject; empty if there is none */
    target: string;
    details: {
      code?: string;
      target: string;
      message: string;
    }[];

    /** As sent; empty if the request had none */
    request_id: string;
  };
};

export type CampaignErrorV5 = {
  /** Identifies this call in the API log */
  response_id: string;
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
    message: string;
    target?: string;
    details: {
      target: string;
      message: string;
    }[];
    request_id?: string;
  };
};

export type CampaignGoals = {
  /** How long after a message an event counts; default 36 */
  attribution_window_in_hours?: number;
  goals?: {
    goal_name?: string;
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

export type CampaignMetaListV1 = {
  campaign_id: string;
  channel: string;
  platform: string[];
  created_by: string;
  campaign_delivery_type: string;
  campaign_name: string;
  campaign_team: string;
  campaign_tags: string[];
  campaign_status: string;
  campaign_start_time: string;
  parent_campaign_id?: string;
  total_child_campaigns: number;
  reachability_details?: {
    count: number;
    last_updated_time: string;
  };
}[];

export type CampaignMetaListV5 = {
  response_id: string;
  type: 'campaign';
  data: {
    campaigns: {
      campaign_id: string;
      channel: string;
      platform: string[];
      created_by: string;
      campaign_delivery_type: string;
      campaign_name: string;
      campaign_team: string;
      campaign_tags: string[];
      campaign_status: string;
      campaign_start_time: string;
      parent_campaign_id?: string;
      total_child_campaigns: number;
      reachability_details?: {
        count: number;
        last_updated_time: string;
      };
      version_number?: number;
    }[];
  };
};

export type CampaignMetaSearchV5 = {
  request_id?: string;
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;
  include_archive_campaigns?: boolean;
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: string[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      from_date?: string;
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: string[];

    /** Any of them */
    tags?: string[];
    id?: string;

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    delivery_type?: string;

    /** Only with campaign versioning */
    version_number?: number;
  };
};

export type CampaignPeriod = {
  /** DAILY, WEEKLY or MONTHLY */
  sending_frequency?: string;

  /** Days; weeks up to 52, months up to 12 */
  repeat_frequency?: number;
  no_of_occurences?: number;
  repeat_on_date_of_month?: number[];

  /** MONDAY to SUNDAY */
  repeat_on_days_of_week?: string[];
  repeat_on_days_of_week_for_month?: {
    /** FIRST to FIFTH, or LAST */
    week_granularity?: string;
    repeat_on_days_of_week?: string[];
  }[];
};

export type CampaignPreview = {
  response_id: string;
  type: 'campaign';
  data: {
    customer_id: string;
    platforms: Record<
      string,
      {
        /** RENDERED, FALLBACK or FAILED */
        outcome: string;

        /** The locale for all other users; absent: the campaign's texts */
        language?: string;

        /** The content, in the form of campaign_content */
        content?: Record<string, unknown>;
        failure?: {
          field: string;
          cause: string;
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
  channel?: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;

  /** One of the campaign's; absent: all of them */
  platform?: string;

  /** `default` or a language of the campaign; absent: each user's own */
  locale_name?: string;

  /** variation_1, variation_2 …; absent: variation_1 */
  variation?: unknown;

  /** USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute */
  identifier: string;
  identifier_value: string;

  /** Attributes of a sample firing of the business event */
  event_attributes?: Record<string, unknown>;
};

export type CampaignPushContent = {
  android?: {
    /** BASIC */
    template_type?: string;

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;
    options?: {
      deliveryMode?: 'data' | 'notification' | 'both';
      visibility?: 'private' | 'public' | 'secret';

      /** #rrggbb */
      color?: string;

      /** A drawable of the app */
      icon?: string;
      sticky?: boolean | 'true' | 'false';

      /** Removed after this time */
      timeoutSeconds?: number;

      /** The number on the icon of the app */
      badge?: {
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;
        titleLocArgs?: string[];
        bodyLocKey?: string;
        bodyLocArgs?: string[];
      };
      directBootOk?: boolean | 'true' | 'false';
      bandwidthConstrainedOk?: boolean | 'true' | 'false';
      restrictedSatelliteOk?: boolean | 'true' | 'false';

      /** 1 to 50 letters, digits and -_.~% */
      analyticsLabel?: string;
    };
    basic_details?: {
      notification_channel?: string;
      title?: string;
      message?: string;
      summary?: string;
      image_url?: string;

      /** Refused */
      input_gif_url?: string;

      /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
      default_click_action?: string;
      default_click_action_value?: string;
      key_value_pairs?: {
        key: string;
        value?: string;
      }[];
    };
    buttons?: {
      btn_name?: string;

      /** call, snooze, copy or share */
      click_action_type?: string;
      click_action_value?: string;
      icon_url?: string;
    }[];
    advanced?: {
      coupon_code?: string;
      sound_file?: string;
      group_key?: string;
      collapse_replace_key?: string;

      /** false */
      make_notification_sticky?: boolean;

      /** Refused */
      auto_dismiss_notification?: unknown;
    };

    /** Refused */
    timer?: Record<string, unknown>;
    template_backup?: {
      /** BASIC */
      template_type?: string;

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;
      options?: {
        deliveryMode?: 'data' | 'notification' | 'both';
        visibility?: 'private' | 'public' | 'secret';

        /** #rrggbb */
        color?: string;

        /** A drawable of the app */
        icon?: string;
        sticky?: boolean | 'true' | 'false';

        /** Removed after this time */
        timeoutSeconds?: number;

        /** The number on the icon of the app */
        badge?: {
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };
        locKeys?: {
          /** Key of a text in the app; required for its arguments */
          titleLocKey?: string;
          titleLocArgs?: string[];
          bodyLocKey?: string;
          bodyLocArgs?: string[];
        };
        directBootOk?: boolean | 'true' | 'false';
        bandwidthConstrainedOk?: boolean | 'true' | 'false';
        restrictedSatelliteOk?: boolean | 'true' | 'false';

        /** 1 to 50 letters, digits and -_.~% */
        analyticsLabel?: string;
      };
      basic_details?: {
        notification_channel?: string;
        title?: string;
        message?: string;
        summary?: string;
        image_url?: string;

        /** Refused */
        input_gif_url?: string;

        /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
        default_click_action?: string;
        default_click_action_value?: string;
        key_value_pairs?: {
          key: string;
          value?: string;
        }[];
      };
      buttons?: {
        btn_name?: string;

        /** call, snooze, copy or share */
        click_action_type?: string;
        click_action_value?: string;
        icon_url?: string;
      }[];
      advanced?: {
        coupon_code?: string;
        sound_file?: string;
        group_key?: string;
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
  ios?: {
    /** BASIC */
    template_type?: string;

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;
    options?: {
      interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
      relevanceScore?: number;
      targetContentId?: string;
      filterCriteria?: string;
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
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
      contentAvailable?: boolean | 'true' | 'false';
      launchImage?: string;
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;
        titleLocArgs?: string[];
        bodyLocKey?: string;
        bodyLocArgs?: string[];
        subtitleLocKey?: string;
        subtitleLocArgs?: string[];
      };
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;
        title: string;

        /** http, https or the scheme of an app */
        url: string;

        /** https */
        iconURL?: string;
      }[];
    };
    basic_details?: {
      title?: string;
      message?: string;
      subtitle?: string;

      /** false */
      allow_bg_refresh?: boolean;

      /** Image, Video, GIF or Audio */
      rich_media_type?: string;
      rich_media_value?: string;

      /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
      default_click_action?: string;
      default_click_action_value?: string;
      key_value_pairs?: {
        key: string;
        value?: string;
      }[];
    };
    buttons?: {
      button_category?: string;
    }[];
    advanced?: {
      coupon_code?: string;
      sound_file?: string;
      group_key?: string;
      collapse_replace_key?: string;
      enable_ios_badge?: boolean;
    };

    /** Refused */
    timer?: Record<string, unknown>;
    template_backup?: {
      /** BASIC */
      template_type?: string;

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;
      options?: {
        interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
        relevanceScore?: number;
        targetContentId?: string;
        filterCriteria?: string;
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
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };
        contentAvailable?: boolean | 'true' | 'false';
        launchImage?: string;
        locKeys?: {
          /** Key of a text in the app; required for its arguments */
          titleLocKey?: string;
          titleLocArgs?: string[];
          bodyLocKey?: string;
          bodyLocArgs?: string[];
          subtitleLocKey?: string;
          subtitleLocArgs?: string[];
        };
        additionalActions?: {
          /** Its name in reports, used only once */
          action: string;
          title: string;

          /** http, https or the scheme of an app */
          url: string;

          /** https */
          iconURL?: string;
        }[];
      };
      basic_details?: {
        title?: string;
        message?: string;
        subtitle?: string;

        /** false */
        allow_bg_refresh?: boolean;

        /** Image, Video, GIF or Audio */
        rich_media_type?: string;
        rich_media_value?: string;

        /** DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING */
        default_click_action?: string;
        default_click_action_value?: string;
        key_value_pairs?: {
          key: string;
          value?: string;
        }[];
      };
      buttons?: {
        button_category?: string;
      }[];
      advanced?: {
        coupon_code?: string;
        sound_file?: string;
        group_key?: string;
        collapse_replace_key?: string;
        enable_ios_badge?: boolean;
      };

      /** Refused */
      timer?: Record<string, unknown>;
    };
  };
  web?: {
    /** BASIC */
    template_type?: string;

    /** Refused */
    custom_template_id?: string;

    /** Refused */
    custom_template_version?: string;
    options?: {
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;
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
      renotify?: boolean | 'true' | 'false';
      silent?: boolean | 'true' | 'false';
      requireInteraction?: boolean | 'true' | 'false';

      /** BCP 47 */
      lang?: string;
      dir?: 'auto' | 'ltr' | 'rtl';
      vibrate?: number[];

      /** Milliseconds since 1970 */
      timestamp?: number;
      declarative?: 'auto' | 'always' | 'never';

      /** The number on the icon of the app */
      appBadge?: {
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
    };
    basic_details?: {
      title?: string;
      message?: string;
      redirect_url?: string;
      image_url?: string;
      auto_dismiss_notification?: boolean;
    };

    /** Refused */
    buttons?: unknown[];
    advanced?: {
      /** ICON_URL */
      icon_image_type?: string;
      icon_url?: string;
    };

    /** Refused */
    timer?: Record<string, unknown>;
    template_backup?: {
      /** BASIC */
      template_type?: string;

      /** Refused */
      custom_template_id?: string;

      /** Refused */
      custom_template_version?: string;
      options?: {
        additionalActions?: {
          /** Its name in reports, used only once */
          action: string;
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
        renotify?: boolean | 'true' | 'false';
        silent?: boolean | 'true' | 'false';
        requireInteraction?: boolean | 'true' | 'false';

        /** BCP 47 */
        lang?: string;
        dir?: 'auto' | 'ltr' | 'rtl';
        vibrate?: number[];

        /** Milliseconds since 1970 */
        timestamp?: number;
        declarative?: 'auto' | 'always' | 'never';

        /** The number on the icon of the app */
        appBadge?: {
          operation: 'set' | 'clear' | 'increment';

          /** The number to set, or 1 to 99 to add to the device's count */
          value?: number;
        };
      };
      basic_details?: {
        title?: string;
        message?: string;
        redirect_url?: string;
        image_url?: string;
        auto_dismiss_notification?: boolean;
      };

      /** Refused */
      buttons?: unknown[];
      advanced?: {
        /** ICON_URL */
        icon_image_type?: string;
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
      android?: {
        title?: string;
        message?: string;
        summary?: string;
      };
      ios?: {
        title?: string;
        message?: string;
        subtitle?: string;
      };
      web?: {
        title?: string;
        message?: string;
        redirectURL?: string;
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
    apns?: {
      /** null removes it */
      headers?: Record<string, unknown>;

      /** RFC 7386 */
      payload?: Record<string, unknown>;
    };
    webpush?: {
      /** null removes it */
      headers?: Record<string, unknown>;

      /** RFC 7386 */
      payload?: Record<string, unknown>;
    };
  };
};

export type CampaignRequestV1 = {
  request_id: string;

  /** PUSH */
  channel: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type: string;
  basic_details: CampaignBasicDetails;
  campaign_content: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details: CampaignAudience;
  scheduling_details: CampaignSchedule;
  delivery_controls: CampaignDeliveryControls;
  advanced: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
  created_by: string;
};

export type CampaignSchedule = {
  /** ASAP, AT_FIXED_TIME, SEND_IN_USER_TIMEZONE or SEND_IN_BTS: at the best time of each user */
  delivery_type?: string;

  /** YYYY-MM-DDThh:mm:ss */
  start_time?: string;

  /** YYYY-MM-DDThh:mm:ss */
  expiry_time?: string;

  /** V5; default: the zone of the workspace. V1 is in UTC */
  timezone?: string;
  periodic_details?: CampaignPeriod;
  bts_details?: {
    /** From the start; default 24 */
    window_in_hours?: number;

    /** SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND */
    if_best_time_is_unknown?: string;

    /** SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND */
    if_best_time_is_outside?: string;
  };
  user_timezone_details?: {
    /** Default false: these devices are excluded */
    send_if_user_timezone_has_passed?: boolean;
  };
};

export type CampaignSearchV1 = {
  request_id: string;
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;
  include_archive_campaigns?: boolean;
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: string[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      from_date?: string;
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: string[];

    /** Any of them */
    tags?: string[];
    id?: string;

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    delivery_type?: string[];
  };
};

export type CampaignSearchV5 = {
  request_id?: string;
  limit: number;

  /** From 1 */
  page: number;

  /** Runs of recurring campaigns, with `parent_id` */
  include_child_campaigns?: boolean;
  include_archive_campaigns?: boolean;
  campaign_fields?: {
    /** PUSH, EMAIL, SMS; V1 finds no SMS, V5 only when asked */
    channels?: string[];

    /** Names of keys or people, any of them */
    created_by?: string[];

    /** YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included */
    created_date?: {
      from_date?: string;
      to_date?: string;
    };

    /** A part of the name, in any case */
    name?: string;

    /** DRAFT, SCHEDULED, SENDING, SENT, ACTIVE, PAUSED, RETIRED, STOPPED, FAILED, ARCHIVED */
    status?: string[];

    /** Any of them */
    tags?: string[];

    /** At most 100 */
    ids?: string[];

    /** ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED; other documented types find no campaign */
    campaign_delivery_type?: string[];

    /** Only with campaign versioning */
    version_number?: number;
  };
};

export type CampaignStats = {
  response_id: string;
  total_campaigns: number;
  current_page: number;
  total_pages: number;
  data: Record<
    string,
    {
      platforms: Record<string, PlatformStats>;
    }[]
  >;
};

export type CampaignStatusAnswer = {
  response_id: string;
  type: 'campaign';
  data: {
    id: string;
    action: string;
  };
};

export type CampaignStatusRequestV1 = {
  request_id: string;

  /** STOP, PAUSE or RESUME */
  action: string;

  /** 1 to 10 */
  campaign_ids: string[];
};

export type CampaignStatusRequestV5 = {
  request_id?: string;

  /** STOP, PAUSE, RESUME, or PUBLISH for a draft */
  action: string;
};

export type CampaignTestAnswerV1 = {
  data: Record<
    string,
    {
      /** success or failed */
      status: string;
      failure_reason?: string;
    }
  >;
  message: string;
};

export type CampaignTestAnswerV5 = {
  response_id: string;
  type: 'campaign';
  data: Record<
    string,
    {
      /** success or failed */
      status: string;
      failure_reason?: string;
    }
  >;
};

export type CampaignTestMeta = {
  /** USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute */
  identifier: string;

  /** At most ten */
  identifier_values: string[];
  platform?: string;

  /** `default` or a language of the campaign; absent: each user's own */
  locale_name?: string;

  /** variation_1, variation_2 …; absent: variation_1 */
  variation?: unknown;
};

export type CampaignTestRequestV1 = {
  request_id: string;

  /** PUSH */
  channel?: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details?: CampaignAudience;
  scheduling_details?: CampaignSchedule;
  delivery_controls?: CampaignDeliveryControls;
  advanced?: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
  test_campaign_meta: CampaignTestMeta;

  /** Refused */
  personalization_details?: Record<string, unknown>;
};

export type CampaignTestRequestV5 = {
  request_id?: string;

  /** Instead of campaign_content */
  draft_id?: string;

  /** PUSH */
  channel?: string;

  /** ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED */
  campaign_delivery_type?: string;
  basic_details?: CampaignBasicDetails;
  campaign_content?: CampaignContent;
  trigger_condition?: CampaignTrigger;
  segmentation_details?: CampaignAudience;
  scheduling_details?: CampaignSchedule;
  delivery_controls?: CampaignDeliveryControls;
  advanced?: CampaignAdvanced;
  conversion_goal_details?: CampaignGoals;
  control_group_details?: {
    /** Default false */
    is_campaign_control_group_enabled?: boolean;

    /** Percent of its users that get no message */
    campaign_control_group_percentage?: number;

    /** Excludes the workspace's control group; default false */
    is_global_control_group_enabled?: boolean;
  };

  /** Added to links; at most 5 other names */
  utm_params?: {
    utm_source: string;
    utm_medium: string;
    utm_campaign?: string;
    utm_term?: string;
    utm_content?: string;
  } & Record<string, string>;
  campaign_audience_limit?: CampaignAudienceLimit;

  /** Refused */
  connector?: unknown;

  /** Refused */
  sender_name?: string;
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
  trigger_delay_type?: string;

  /** With DELAY; at most 30 days */
  trigger_delay_value?: number;

  /** MINUTES, HOURS or DAYS */
  trigger_delay_granularity?: string;

  /** AFTER (default), or BEFORE with trigger_attr */
  trigger_relation?: string;

  /** A time attribute of the event, or else of the user; default: the time of the event */
  trigger_attr?: string;

  /** Refused */
  intelligent_delay_optimization?: Record<string, unknown>;

  /** Events that apps report through /v1/app/events start the campaign too. Absent: false */
  from_apps?: boolean;
};

export type CampaignV1 = {
  campaign_id: string;

  /** A run that waits in the queue is SCHEDULED */
  status:
    'ACTIVE' | 'ARCHIVED' | 'DRAFT' | 'FAILED' | 'PAUSED' | 'RETIRED' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'STOPPED';

  /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
  status_reason?: string;

  /** Includes SMS campaigns if requested */
  channel: 'EMAIL' | 'PUSH' | 'SMS';
  campaign_delivery_type: string;
  created_by: string;

  /** The last editor */
  updated_by?: string;

  /** UTC: 2024-07-04 08:00:54.847000 */
  created_at: string;
  updated_at: string;
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
  campaign_delivery_type: string;
  created_by: string;

  /** The last editor */
  updated_by?: string;

  /** UTC: 2024-07-04 08:00:54.847000 */
  created_at: string;
  updated_at: string;
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
  response_id: string;
  type: 'campaign';
  data: {
    valid: boolean;
    errors: {
      field: string;
      issue: string;
    }[];
  };
};

/** variation_1, variation_2 … */
export type CampaignVariations = Record<
  string,
  {
    push?: CampaignPushContent;
  }
>;

export type CampaignWinner = {
  response_id: string;
  type: 'campaign';
  data: {
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
      variations: {
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
  request_id?: string;

  /** variation_1, variation_2 …; or metric */
  variation?: string;

  /** The one that is best with 95 % probability */
  metric?: 'CLICKS' | 'GOAL';
};

export type CampaignsChangedV1 = Record<string, unknown>;

export type CampaignsFoundV1 =
  | {
      total_count: number;
      campaigns: CampaignV1[];
    }
  | CampaignV1[];

export type CampaignsFoundV5 = {
  response_id: string;
  type: 'campaign';
  data: {
    campaigns: CampaignV5[];
  };
};

export type CohortRequest = {
  action: 'add_members' | 'remove_members';
  partner: string;
  parameters: {
    cohort_name: string;
    cohort_id: string;
    cohort_description?: string;
    members: {
      uid: string | number;
    }[];
  };
};

export type ConnectionTestAnswer = {
  status: string;
  app_name: string;
};

export type ConnectionTestRequest = {
  app_id: string;
  app_secret: string;

  /** The caller's name, stored in the API log */
  source?: string;

  /** The workspace's data center, such as 01 or dc_01 */
  region?: string;
};

export type CustomerRequest = {
  type: 'customer';
  customer_id: string;
  attributes?: Record<string, unknown>;
  platforms?: {
    platform: string;

    /** Not read; the devices determine it */
    active?: unknown;
  }[];
  update_existing_only?: boolean;
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
  status: 'success';
  message: string;

  /** Identifies this call in the API log */
  request_id: string;
};

export type DataError = {
  status: 'fail';
  error: {
    attribute?: string;
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
    request_id: string;
  };
};

export type DeadEventBatches = {
  response_id: string;
  type: 'event_stream';
  data: {
    dead_batches: {
      /** webhook-id of the batch's attempts */
      id: string;
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
  identity_value: string | number;
};

export type DeliveryExplanation = {
  response_id: string;
  type: 'campaign';
  data: {
    campaign_id: string;
    campaign_name: string;
    campaign_status: string;

    /** ISO 8601 */
    next_send: string | null;
    customer_id: string;

    /** From the newest run; NO_RUN or UNKNOWN_PERSON if there is none */
    step: string;
    explanation: string;
    runs: {
      id: string;
      status: string;
      created_at: string;
      step: ExplanationStep;
      explanation: string;
      devices: {
        /** The app's name for the device; null if the device no longer exists */
        device_id: string | null;
        platform: string;
        step: ExplanationStep;
        explanation: string;

        /** The provider's reason, or why it was held */
        code: string | null;
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
    }[];

    /** For an EVENT_TRIGGERED campaign: the messages that the user's events started, newest first */
    triggers?: {
      event_name: string;
      occurred_at: string;

      /** ISO 8601; null if the event has no time */
      due_at: string | null;

      /** The outcome */
      state: 'DROPPED' | 'HELD' | 'SENT' | 'WAITING';
      reason: ('AUDIENCE' | 'CAMPAIGN_OVER' | 'CONDITION' | 'LATE' | 'NO_TIME' | 'TOO_FAR') | null;

      /** The run it is in */
      run_id: string | null;
      explanation: string;
    }[];
  };
};

export type DeviceBlockRequest = {
  /** customer_id or id */
  user_identifier_type: string;
  user_identifier_value: string | number;
  action_type: 'block' | 'unblock';

  /** Absent: all devices. {"push_id": "…"}, or svc_gaid, unique_id, device_unique_id */
  device_identifiers?: Record<string, string>[];
  reason?: string;
  client_reference_id?: string;
};

export type DeviceRequest = {
  type: 'device';
  customer_id: string;
  device_id: string | number;
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
    model?: string;
    app_version?: string;
    os_version?: string;
    idfv?: string;

    /** BCP 47: in which of `payload.locales` it gets messages */
    locale?: string;

    /** The number on the icon of the app */
    badge_count?: number;
    advertising_identifier?: string;
    svc_push_opted?: string | boolean;
    svc_push_provisional_opted?: string | boolean;
    svc_gaid?: string;
  };
};

export type EventBatch = {
  /** Name of the workspace */
  app_name: string;
  source: 'CARILLON';

  /** The same value as webhook-id. The name of this member contains the abbreviation of the installation */
  svc_request_id: string;
  events: {
    /** As event_code */
    event_name: string;

    /** NOTIFICATION_RECEIVED_SVC, n_i_s and others; docs/event-stream.md */
    event_code: string;

    /** The same in each attempt */
    event_uuid: string;

    /** Seconds since 1970 */
    event_time: number;
    event_type: 'CAMPAIGN_EVENT' | 'USER_ACTION_EVENT';
    event_source: 'CARILLON';
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
  response_id: string;
  type: 'event_stream';
  data: {
    /** Due now */
    batches: number;
  };
};

export type EventRequest = {
  type: 'event';
  customer_id: string;
  device_id?: string | number;
  actions: {
    /** Name of the event */
    action: string;
    attributes?: Record<string, unknown>;

    /** ANDROID, iOS, web, TV or unknown */
    platform?: string;
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
  id: string;

  /** Receiver of the batches; a public address, http or https */
  url: string;

  /** Default: all of them */
  events: EventStreamKind[];

  /** User attributes included in each event; default: none */
  user_attributes: string[];

  /** Device attributes included in each event: platform, device_id, app_id, model, app_version, os_version, locale, push_id; default: none */
  device_attributes: string[];

  /** ISO 8601 */
  created_at: string;
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
  response_id: string;
  type: 'event_stream';
  data: {
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
};

export type EventStreamCreated = {
  response_id: string;
  type: 'event_stream';
  data: {
    event_stream: EventStream;

    /** Signs the requests (Standard Webhooks); returned only once */
    secret: string;
  };
};

/** What happened to a message */
export type EventStreamKind = 'cleared' | 'clicked' | 'control_group' | 'delivered';

export type EventStreamRemoved = {
  response_id: string;
  type: 'event_stream';
  data: {
    removed: boolean;
  };
};

export type EventStreams = {
  response_id: string;
  type: 'event_stream';
  data: {
    event_streams: EventStream[];
  };
};

export type ExecutionsPageV1 = {
  request_id: string;
  limit: number;

  /** From 1 */
  page: number;
};

export type ExecutionsPageV5 = {
  request_id?: string;
  limit: number;

  /** From 1 */
  page: number;
};

export type ExecutionsV1 = {
  executions: {
    campaign_id: string;

    /** As in 2024-06-24T14:30:18.908000; null if not sent yet */
    sent_time: string | null;

    /** SCHEDULED, SENDING, PAUSED, SENT, FAILED, STOPPED or MISSED */
    status: string;

    /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
    status_reason?: string;

    /** The time at which it was due, in the format of `sent_time`; absent if an event started it */
    planned_time?: string;
  }[];
  total_instances: number;
};

export type ExecutionsV5 = {
  response_id: string;
  type: 'campaign';
  data: {
    executions: {
      id: string;
      campaign_id: string;

      /** As in 2024-06-24T14:30:18.908000; null if not sent yet */
      sent_time: string | null;

      /** SCHEDULED, SENDING, PAUSED, SENT, FAILED, STOPPED or MISSED */
      status: string;

      /** The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent */
      status_reason?: string;

      /** The time at which it was due, in the format of `sent_time`; absent if an event started it */
      planned_time?: string;
    }[];
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
  | 'TRIAL_NOT_MEANT'
  | 'USER_TIME_ZONE'
  | 'WAITING';

export type ExportAnswer = {
  status: string;
  type: string;
  data: {
    users_not_found: {
      identifier_type: string;
      identifier: string;
    }[];
    users: {
      user_attributes: Record<string, unknown>;
    }[];
  };
};

export type ExportRequest = {
  type?: 'export_users';
  data: {
    identifiers: {
      /** customer_id or id */
      identifier_type: string;
      identifier: string | number;
    }[];
    user_fields_to_export?: string[];
  };
};

export type FileSegmentCallback = FileSegmentProcessed | FileSegmentFailed;

export type FileSegmentChange = {
  /** Segment name, unique in the workspace */
  name: string;

  /** User attribute that the file holds; `uid` is the customer id */
  attribute_name: string;
  attribute_type: 'string' | 'double';

  /** Public address of a single-column CSV file of at most 150 MB */
  file_url: string;

  /** Receives the result (interface 2.7) */
  callback_url?: string;
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
  segment_name: string;

  /** Unique identifier of this processing request */
  request_id: string;
  status: 400 | 500;

  /** Cause of the failure */
  error_message: string;
};

export type FileSegmentProcessed = {
  /** Database name of the workspace */
  db_name: string;
  segment_name: string;

  /** Unique identifier of this processing request */
  request_id: string;
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
  attribute_type: 'string' | 'double';

  /** Public address of a single-column CSV file of at most 150 MB */
  file_url: string;

  /** Receives the result (interface 2.7) */
  callback_url?: string;
  emails?: string[];

  /** Days until the segment is archived */
  expiry_time: number;
};

export type FilterSegmentChange = {
  name?: string;
  included_filters?: Filters;
  excluded_filters?: Filters;
  updated_by?: string;
};

export type FilterSegmentError = {
  response_id: string;
  type: 'custom_segment';
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
    message: string;

    /** The reason */
    details?: string;
  };
};

export type FilterSegmentRequest = {
  name: string;
  included_filters: Filters;
  excluded_filters?: Filters;
};

/** {"filter_operator": "and" | "or", "filters": [...]}: filters of user attributes and of other segments, nested up to 10 levels */
export type Filters = Record<string, unknown>;

export type GatewayError = {
  /** ER001 invalid, ER007 scope missing, ER008 expired */
  code: 'ER001' | 'ER007' | 'ER008';

  /** The rejected request */
  target: 'Authentication Expired' | 'Authentication Invalid' | 'Authorization Invalid';
  message: string;
};

export type GeneratedToken = {
  status: 'SUCCESS';
  data: {
    /** The Bearer token. */
    access_token: string;
    token_type: 'Bearer';

    /** Seconds from the issue, 300 to 3600. */
    expires_in: number;

    /** Valid 30 days; not replaced by refreshing. */
    refresh_token: string;
  };

  /** The Bearer token. */
  access_token: string;
  token_type: 'Bearer';

  /** Seconds from the issue, 300 to 3600. */
  expires_in: number;

  /** Valid 30 days; not replaced by refreshing. */
  refresh_token: string;
};

export type Health = {
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

export type Installation = {
  installation_id: string;

  /** True: a proved user is attached. False: the installation is anonymous */
  signed_in: boolean;
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
    secret: string;
  };
};

export type InteractionReport = {
  /** The token that was sent with the message */
  token: string;
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

export type LiveActivity = {
  app_id: string;

  /** Your name for the activity */
  activityId: string;
  tokens: {
    start: number;
    update: number;
  };

  /** Newest first */
  events: {
    event: 'start' | 'update' | 'end';
    timestamp: number;

    /** WAITING, ACCEPTED, GONE, REJECTED, FAILED, EXPIRED or SUPERSEDED */
    outcome: string;

    /** Apple's reason, or the reason why the message was not sent */
    code: string | null;
    devices: number;
  }[];
};

export type LiveActivityEvent = {
  app_id: string;

  /** Your name for the activity */
  activityId: string;
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
  event: 'start' | 'update' | 'end';

  /** As the app decodes it */
  contentState: Record<string, unknown>;

  /** For a start: the name of the attributes' type */
  attributesType?: string;

  /** For a start: the attributes in the form that the app decodes */
  attributes?: Record<string, unknown>;

  /** Required for a start */
  alert?: {
    title: string;
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
  app_id: string;

  /** Your name for the activity */
  activityId: string;
  tokens: {
    start: number;
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
  status: string;
  operation: string;
};

export type MergeRequest = {
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
    all_locales: {
      /** and variation_1, variation_2 …, if there are several */
      variations: {
        all_variations: StatsFigures;
        campaign_control_group?: StatsControlGroup;
        global_control_group?: StatsControlGroup;
      } & Record<string, StatsFigures>;
    };
  } & Record<
    string,
    {
      variations: Record<string, StatsFigures>;
    }
  >;
};

export type Problem = {
  /** urn:carillon:error: and the code */
  type: string;
  title: string;
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
    | 'ACCOUNT_SIGN_IN_FAILED'
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
    | 'INSTALLATION_UNKNOWN'
    | 'INTERACTION_RATE_LIMITED'
    | 'INTERACTION_TOKEN_UNKNOWN'
    | 'INTERNAL'
    | 'MEDIA_TYPE_UNSUPPORTED'
    | 'METHOD_NOT_ALLOWED'
    | 'NOT_FOUND'
    | 'OVERLOADED'
    | 'PARAMETER_INVALID'
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
    | 'STORAGE_UNAVAILABLE';

  /** The subject */
  field?: string;

  /** The fault */
  detail?: string;
};

export type PushAdvancedSettings = {
  ttl?: {
    /** Minutes */
    ANDROID?: number;

    /** Minutes */
    IOS?: number;

    /** Minutes */
    WEB?: number;
  };
  silent?: boolean | 'true' | 'false';
  ignoreFC?: boolean | 'true' | 'false';
  countFC?: boolean | 'true' | 'false';
  notificationPrioritySettings?: {
    Android?: string;
    iOS?: 1 | 5 | 10;
  };
  'pushAmp+'?: boolean | 'true' | 'false';
  preCacheSegment?: boolean | 'true' | 'false';

  /** Minutes */
  campaignThrottleTime?: number;

  /** Devices a minute */
  campaignThrottleRpm?: number;
  useJinjaPersonalization?: boolean | 'true' | 'false';
  ignoreMinimumDelay?: boolean | 'true' | 'false';

  /** Hours */
  inboxExpiry?: number;
  iOSTargetDevice?: string;

  /** Apps whose devices are reached; absent: all */
  appIds?: string[];
  deliverWhenActive?: boolean | 'true' | 'false';
  bypassDND?: boolean | 'true' | 'false';
  sendAtHighPriority?: boolean | 'true' | 'false';
};

export type PushAndroidContent = {
  message: string;
  title: string;
  summary?: string;

  /** Older spelling of summary */
  Summary?: string;

  /** Android notification channel */
  channel_id?: string;

  /** At most 45 ASCII characters are kept */
  groupKey?: string;

  /** The same key updates the earlier notification */
  collapseReplaceKey?: string;
  richContent?: {
    type: string;
    value: string;
  }[];
  defaultAction?: PushDefaultAction;
  additionalActions?: {
    type: string;
    value?: string;
    name?: string;
    iconURL?: string;
  }[];
  options?: {
    deliveryMode?: 'data' | 'notification' | 'both';
    visibility?: 'private' | 'public' | 'secret';

    /** #rrggbb */
    color?: string;

    /** A drawable of the app */
    icon?: string;
    sticky?: boolean | 'true' | 'false';

    /** Removed after this time */
    timeoutSeconds?: number;

    /** The number on the icon of the app */
    badge?: {
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };
    locKeys?: {
      /** Key of a text in the app; required for its arguments */
      titleLocKey?: string;
      titleLocArgs?: string[];
      bodyLocKey?: string;
      bodyLocArgs?: string[];
    };
    directBootOk?: boolean | 'true' | 'false';
    bandwidthConstrainedOk?: boolean | 'true' | 'false';
    restrictedSatelliteOk?: boolean | 'true' | 'false';

    /** 1 to 50 letters, digits and -_.~% */
    analyticsLabel?: string;
  };
  fallback?: {
    message?: string;
    title?: string;
    summary?: string;

    /** Older spelling of summary */
    Summary?: string;

    /** Android notification channel */
    channel_id?: string;

    /** At most 45 ASCII characters are kept */
    groupKey?: string;

    /** The same key updates the earlier notification */
    collapseReplaceKey?: string;
    richContent?: {
      type: string;
      value: string;
    }[];
    defaultAction?: PushDefaultAction;
    additionalActions?: {
      type: string;
      value?: string;
      name?: string;
      iconURL?: string;
    }[];
    options?: {
      deliveryMode?: 'data' | 'notification' | 'both';
      visibility?: 'private' | 'public' | 'secret';

      /** #rrggbb */
      color?: string;

      /** A drawable of the app */
      icon?: string;
      sticky?: boolean | 'true' | 'false';

      /** Removed after this time */
      timeoutSeconds?: number;

      /** The number on the icon of the app */
      badge?: {
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;
        titleLocArgs?: string[];
        bodyLocKey?: string;
        bodyLocArgs?: string[];
      };
      directBootOk?: boolean | 'true' | 'false';
      bandwidthConstrainedOk?: boolean | 'true' | 'false';
      restrictedSatelliteOk?: boolean | 'true' | 'false';

      /** 1 to 50 letters, digits and -_.~% */
      analyticsLabel?: string;
    };
  };
};

export type PushAnswer = PushSuccess | PushFailure;

export type PushConversionGoal = {
  name: string;
  eventName: string;
  attrs?: {
    name: string;
    filter: string;
    type: 'string' | 'numeric';
    value?: string | number | string[];
  };
};

export type PushDefaultAction = {
  type: 'richlanding' | 'navigation' | 'deeplinking';
  value: string;
  kvPairs?: Record<string, string>;
};

export type PushDelivery = {
  type: 'soon' | 'later' | 'periodic';

  /** MM/DD/YYYY */
  date?: string;

  /** hh:mm AM/PM */
  time?: string;

  /** MM/DD/YYYY */
  endDate?: string;

  /** IANA name */
  timezone?: string;

  /** Days between sends, 1 to 365 */
  repeatAfter?: string;
};

export type PushFailure = {
  status: 'Fail';
  requestId: string;
  responseId: string;

  /** One of: Invalid Request Type; Invalid appId; appId not present; Campaign Name not found; Campaign Name too short (must be >= 5 chars); Request limit exceeded; Signature not present; Signature is not verified; Duplicate campaign name; Key not of Type List or Value not allowed: <field>; Error parsing parameters: <field>: <reason>; The request body could not be decoded.; A request body is required.; The request body is too large.; The media type of the request is not supported.; The request is not well-formed: <reason>; This host is not served here.; This method is not allowed here.; Idempotency-Key must be 1 to 255 printable characters.; Idempotency-Key reused with a different request body.; The service is busy. Please retry.; The service cannot reach its storage. Please retry.; The service cannot store anything at present. Please retry. */
  Error_Message: string;
};

export type PushFault = {
  code: 500;
  status: 'error';
  reason: string;

  /** Identifies this call in the API log */
  reference: string;
};

export type PushIosContent = {
  message: string;
  title: string;
  subtitle?: string;
  groupKey?: string;
  collapseReplaceKey?: string;
  enableIosBadge?: boolean | 'true' | 'false';
  richContent?: {
    type: string;
    value: string;
  }[];
  defaultAction?: PushDefaultAction;
  additionalActions?: {
    category: string;
  }[];
  options?: {
    interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
    relevanceScore?: number;
    targetContentId?: string;
    filterCriteria?: string;
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
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };
    contentAvailable?: boolean | 'true' | 'false';
    launchImage?: string;
    locKeys?: {
      /** Key of a text in the app; required for its arguments */
      titleLocKey?: string;
      titleLocArgs?: string[];
      bodyLocKey?: string;
      bodyLocArgs?: string[];
      subtitleLocKey?: string;
      subtitleLocArgs?: string[];
    };
    additionalActions?: {
      /** Its name in reports, used only once */
      action: string;
      title: string;

      /** http, https or the scheme of an app */
      url: string;

      /** https */
      iconURL?: string;
    }[];
  };
  fallback?: {
    message?: string;
    title?: string;
    subtitle?: string;
    groupKey?: string;
    collapseReplaceKey?: string;
    enableIosBadge?: boolean | 'true' | 'false';
    richContent?: {
      type: string;
      value: string;
    }[];
    defaultAction?: PushDefaultAction;
    additionalActions?: {
      category: string;
    }[];
    options?: {
      interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
      relevanceScore?: number;
      targetContentId?: string;
      filterCriteria?: string;
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
        operation: 'set' | 'clear' | 'increment';

        /** The number to set, or 1 to 99 to add to the device's count */
        value?: number;
      };
      contentAvailable?: boolean | 'true' | 'false';
      launchImage?: string;
      locKeys?: {
        /** Key of a text in the app; required for its arguments */
        titleLocKey?: string;
        titleLocArgs?: string[];
        bodyLocKey?: string;
        bodyLocArgs?: string[];
        subtitleLocKey?: string;
        subtitleLocArgs?: string[];
      };
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;
        title: string;

        /** http, https or the scheme of an app */
        url: string;

        /** https */
        iconURL?: string;
      }[];
    };
  };
};

export type PushRequestV2 = {
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;
  requestType?: 'push';
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];
  targetAudience: 'All Users' | 'Custom Segment' | 'User';

  /** Required for audience Custom Segment */
  customSegmentName?: string;
  targetUserAttributes?: {
    attribute: string;

    /** is or in */
    comparisonParameter: string;
    attributeValue: string | string[];
    isCustom?: boolean | 'true' | 'false';
  };
  payload: {
    ANDROID?: PushAndroidContent;
    IOS?: PushIosContent;
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        ANDROID?: {
          title?: string;
          message?: string;
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };
        IOS?: {
          title?: string;
          message?: string;
          subtitle?: string;
        };
        WEB?: {
          title?: string;
          message?: string;
          redirectURL?: string;
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
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };
  campaignDelivery: PushDelivery;
  campaignTags?: string[];
  conversionGoals?: PushConversionGoal[];
  advancedSettings?: PushAdvancedSettings;
  appId: string;
  signature: string;
};

export type PushRequestV21 = {
  campaignName: string;

  /** Returned in the response; generated if absent */
  requestId?: string;
  requestType?: 'push';
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];
  targetAudience: 'All Users' | 'Custom Segment' | 'User';

  /** Required for audience Custom Segment */
  customSegmentName?: string;
  targetUserAttributes?: {
    attribute: string;

    /** is or in */
    comparisonParameter: string;
    attributeValue: string | string[];
    isCustom?: boolean | 'true' | 'false';
  };
  payload: {
    ANDROID?: PushAndroidContent;
    IOS?: PushIosContent;
    WEB?: PushWebContent;

    /** Texts by language tag (BCP 47); at most 50 */
    locales?: Record<
      string,
      {
        ANDROID?: {
          title?: string;
          message?: string;
          summary?: string;

          /** Older spelling of summary */
          Summary?: string;
        };
        IOS?: {
          title?: string;
          message?: string;
          subtitle?: string;
        };
        WEB?: {
          title?: string;
          message?: string;
          redirectURL?: string;
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
      apns?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
      webpush?: {
        /** null removes it */
        headers?: Record<string, unknown>;

        /** RFC 7386 */
        payload?: Record<string, unknown>;
      };
    };
  };
  campaignDelivery: PushDelivery;
  campaignTags?: string[];
  conversionGoals?: PushConversionGoal[];
  advancedSettings?: PushAdvancedSettings;

  /** Must be equal to the header */
  appId?: string;

  /** Must be equal to the header */
  signature?: string;
};

export type PushSuccess = {
  status: 'Success';
  requestId: string;
  responseId: string;

  /** The id of the campaign */
  cid: string;
};

export type PushWebContent = {
  message: string;
  title: string;

  /** Absent: a click opens the site */
  redirectURL?: string;

  /** Absent: the browser's own icon */
  iconURL?: string;

  /** https */
  imageURL?: string;
  autoDismiss?: boolean | 'true' | 'false';
  options?: {
    additionalActions?: {
      /** Its name in reports, used only once */
      action: string;
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
    renotify?: boolean | 'true' | 'false';
    silent?: boolean | 'true' | 'false';
    requireInteraction?: boolean | 'true' | 'false';

    /** BCP 47 */
    lang?: string;
    dir?: 'auto' | 'ltr' | 'rtl';
    vibrate?: number[];

    /** Milliseconds since 1970 */
    timestamp?: number;
    declarative?: 'auto' | 'always' | 'never';

    /** The number on the icon of the app */
    appBadge?: {
      operation: 'set' | 'clear' | 'increment';

      /** The number to set, or 1 to 99 to add to the device's count */
      value?: number;
    };
  };
  fallback?: {
    message?: string;
    title?: string;

    /** Absent: a click opens the site */
    redirectURL?: string;

    /** Absent: the browser's own icon */
    iconURL?: string;

    /** https */
    imageURL?: string;
    autoDismiss?: boolean | 'true' | 'false';
    options?: {
      additionalActions?: {
        /** Its name in reports, used only once */
        action: string;
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
      renotify?: boolean | 'true' | 'false';
      silent?: boolean | 'true' | 'false';
      requireInteraction?: boolean | 'true' | 'false';

      /** BCP 47 */
      lang?: string;
      dir?: 'auto' | 'ltr' | 'rtl';
      vibrate?: number[];

      /** Milliseconds since 1970 */
      timestamp?: number;
      declarative?: 'auto' | 'always' | 'never';

      /** The number on the icon of the app */
      appBadge?: {
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
  status: 'SUCCESS';
  data: {
    /** The Bearer token. */
    access_token: string;
    token_type: 'Bearer';

    /** Seconds from the issue, 300 to 3600. */
    expires_in: number;
  };

  /** The Bearer token. */
  access_token: string;
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
  size_bytes?: number;
  start_date: string;
  end_date: string;
  attribution_type: string;
  metric_type: string;

  /** ISO 8601 */
  created_at: string;

  /** ISO 8601; the file is deleted then */
  expires_at: string;
};

/** JSON lines, one per campaign, compressed with gzip */
export type ReportFileBytes = string;

export type ReportFileError = {
  error: {
    attribute: string;
    message: string;
    type: string;

    /** Eight letters that identify this call in the API log */
    request_id: string;
  };
};

export type ReportFileRequest = {
  /** Echoed as response_id */
  request_id: string;
  campaign_ids?: string[];

  /** YYYY-MM-DD in the zone of the workspace */
  start_date: string;

  /** YYYY-MM-DD, included; at most 90 days after start_date */
  end_date: string;

  /** What must come before an event for it to count as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (it was clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (it was sent) or CLICK_CONVERSIONS (it was sent and has been clicked) */
  attribution_type: string;
  metric_type: 'TOTAL' | 'UNIQUE';
};

export type ReportFileRequested = {
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
  status: 'SUCCESS';
};

export type SandboxBrowserDevice = {
  customerId: string;
  subscription: {
    endpoint: string;
    keys: {
      p256dh: string;
      auth: string;
    };
  };
};

export type SandboxClock = {
  now: string;

  /** Seconds ahead of real time; negative if behind it */
  offsetSeconds: number;

  /** True while the clock is stopped, until it is moved, resumed or reset */
  frozen: boolean;

  /** Progress of the advance; null if the clock is not being moved */
  advancing: {
    stops: number;
    remainingSeconds: number;
  } | null;
};

export type SandboxClockAdvance = {
  advanceSeconds: number;
};

export type SandboxClockFreeze = {
  freeze: true;
};

export type SandboxClockMove =
  SandboxClockAdvance | SandboxRunUntilIdle | SandboxClockFreeze | SandboxClockResume | SandboxClockReset;

export type SandboxClockReset = {
  reset: true;
};

export type SandboxClockResume = {
  resume: true;
};

export type SandboxCounted = {
  received: number;
  accepted: number;
  refused: number;
};

export type SandboxCounters = {
  ANDROID?: SandboxCounted;
  IOS?: SandboxCounted;
  WEB?: SandboxCounted;
  HMS?: SandboxCounted;
  ADM?: SandboxCounted;
};

export type SandboxDemo = {
  workspaceId: string;
};

export type SandboxFault = {
  /** Return this response instead of processing the request */
  status?: number;
  body?: string;
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
  fcm?: SandboxFault | SandboxFault[];
  apns?: SandboxFault | SandboxFault[];
  webpush?: SandboxFault | SandboxFault[];
  hms?: SandboxFault | SandboxFault[];
  adm?: SandboxFault | SandboxFault[];
  api?: SandboxFault | SandboxFault[];
};

export type SandboxInbox = {
  messages: SandboxMessage[];
};

export type SandboxMessage = {
  id: string;
  workspaceId: string;
  collapseId: string | null;
  messageId: string;
  platform: 'ANDROID' | 'IOS' | 'WEB';
  deviceToken: string;
  title: string;
  body: string;
  campaignId: string | null;
  receivedAt: string;

  /** Parameters of the request other than the message, such as its priority and time to live. */
  transport: Record<string, string>;

  /** All headers of the request, with only the scheme of credentials. Empty for messages of older versions. */
  headers: Record<string, string>;
  payload: unknown;

  /** The visible part while the app is in the background; empty for messages of older versions. */
  screen: {
    shownBy?: 'app' | 'system' | 'extension' | 'worker' | 'nobody';
    title?: string;
    body?: string;
    image?: string;
    buttons?: string[];
    reports?: ('impression' | 'click' | 'close')[];
  };
};

export type SandboxRefusal = {
  /** Counted from 1 at the start of the node */
  number: number;
  at: string;
  provider: 'fcm' | 'apns' | 'webpush' | 'hms' | 'adm';
  path: string;
  device: string | null;

  /** Null: no response, or the stream was cut */
  status: number | null;

  /** The reason in the provider's words */
  reason: string;
  rule: 'fault' | 'magic address' | 'credentials' | 'route' | 'headers' | 'payload' | 'device address';

  /** Credentials are reduced to their scheme */
  headers: Record<string, string>;
};

export type SandboxRefusals = {
  refusals: SandboxRefusal[];
};

export type SandboxRegisteredDevice = {
  deviceId: string;
};

export type SandboxRunUntilIdle = {
  runUntilIdle: true;

  /** Stops before messages that are due later than this; default 2678400, 31 days */
  withinSeconds?: number;
};

export type SegmentAccepted = {
  message: string;
  success: boolean;
  cs_name: string;
  cs_id: string;
};

export type SegmentAnswer = {
  data: {
    name: string;
    id: string;

    /** UTC, without a zone */
    created_time: string;

    /** ELASTIC_SEARCH for a filter segment */
    type: 'COHORT' | 'ELASTIC_SEARCH' | 'FILE';

    /** Where it was created */
    source: 'API' | 'DASHBOARD' | 'PARTNER';
    updated_time: string;
    description: string | null;
    included_filters: unknown;
    excluded_filters: unknown;

    /** FILLING: the segment has none or some of its members so far */
    status: 'ARCHIVED' | 'FAILED' | 'FILLING' | 'READY';
    user_count: number | null;
  };
  response_id: string;
  type: 'custom_segment';
};

export type SegmentList = {
  data: {
    name: string;
    id: string;

    /** UTC, without a zone */
    created_time: string;

    /** ELASTIC_SEARCH for a filter segment */
    type: 'COHORT' | 'ELASTIC_SEARCH' | 'FILE';

    /** Where it was created */
    source: 'API' | 'DASHBOARD' | 'PARTNER';
  }[];
  response_id: string;
  type: 'custom_segment';
};

export type SegmentName = {
  name: string;

  /** Takes precedence over the name */
  cs_id?: string;
};

export type StatsControlGroup = {
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
  description: string;

  /** Eight letters that identify this call in the API log */
  code: string;
};

export type StatsFigures = {
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
      revenue_currency?: string;
    }
  >;
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
  failure_breakdown?: Record<string, number>;
};

export type StatsRequest = {
  /** Echoed as response_id */
  request_id: string;
  campaign_ids?: string[];

  /** YYYY-MM-DD in the zone of the workspace */
  start_date: string;

  /** YYYY-MM-DD, included; at most 30 days after start_date */
  end_date: string;

  /** What must come before an event for it to count as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (it was clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (it was sent) or CLICK_CONVERSIONS (it was sent and has been clicked) */
  attribution_type: string;
  metric_type: 'TOTAL' | 'UNIQUE';

  /** Campaigns to skip; default 0 */
  offset?: number;

  /** Default 10 */
  limit?: number;
};

export type TokenError = {
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

export type TransitionRequest = {
  type: 'transition';
  elements: (CustomerRequest | EventRequest | DeviceRequest)[];
};
