/** A difference that an integration may notice when its base URL changes, and the test that verifies it. */
export type DeclaredDifference = {
  what: string;
  here: string;
  /** Operation ids of the OpenAPI document. */
  operationIds: readonly string[];
  /** The file and the name of the test that shows the difference. */
  test: { file: string; name: string };
};

/** Cases where the interface is silent or leaves a choice, and where this server returns more than it must. */
export const declaredDifferences: readonly DeclaredDifference[] = [
  {
    what: 'More members than the interface names',
    here: 'The members of a token also stand at the top, so that standard OAuth clients work. A reader that ignores what it does not know notices nothing.',
    operationIds: ['generateToken', 'refreshToken'],
    test: {
      file: 'server/test/switch/switch.test.ts',
      name: 'a recorded integration that is replied to in the same way ends with 0, under the credentials of this workspace',
    },
  },
  {
    what: 'Unknown fields',
    here: 'Ignored, and named in `X-SVC-Warning`.',
    operationIds: ['sendPushV2', 'sendPushV21', 'searchCampaigns', 'searchCampaignsV1'],
    test: {
      file: 'server/test/push/push-endpoints.test.ts',
      name: 'ignores an unknown field at any depth with a warning (decision D5)',
    },
  },
  {
    what: 'Repeats',
    here: 'With an `Idempotency-Key` the first answer comes again; another body under the same key is refused.',
    operationIds: ['sendPushV21', 'createFileSegment', 'createCampaign'],
    test: {
      file: 'server/test/push/push-endpoints.test.ts',
      name: 'returns one response for 100 requests with one Idempotency-Key, and rejects another body with it (decision D4)',
    },
  },
  {
    what: 'A user push to an existing campaign',
    here: 'Only identity, target and payload are judged. Members that would have changed what is sent are named in `X-SVC-Warning`.',
    operationIds: ['sendPushV2', 'sendPushV21'],
    test: {
      file: 'server/test/push/real-clients.test.ts',
      name: 'names the members that would have changed what is sent',
    },
  },
  {
    what: 'Elements of a bulk request that cannot be stored',
    here: 'Named in `X-SVC-Warning`; the answer is 200 as documented.',
    operationIds: ['importInBulk'],
    test: {
      file: 'server/test/data/real-clients.test.ts',
      name: 'get a warning header that names the elements of a bulk request that cannot be stored (field B9)',
    },
  },
  {
    what: 'Time zone of a `later` push without `timezone`',
    here: 'The time zone of the workspace, UTC unless set, where the other service uses Indian time. `--time-zone Asia/Kolkata` of `carillon workspaces set` keeps that.',
    operationIds: ['sendPushV2', 'sendPushV21'],
    test: {
      file: 'server/test/push/scheduled-push.test.ts',
      name: 'uses its zone, or the zone of the workspace (decision D36)',
    },
  },
  {
    what: 'V1 search',
    here: 'A bare array with `X-Total-Count`; `--v1-bare-array off` of `carillon workspaces set` returns an object with `total_count` and `campaigns`.',
    operationIds: ['searchCampaignsV1'],
    test: {
      file: 'server/test/campaigns/search.test.ts',
      name: '7: returns the object of V1 with total_count to a workspace that chose it (decision D41)',
    },
  },
  {
    what: 'Segments by affinity, place and first or last time',
    here: 'Filters on affinity, on places and on objects are refused with 400, which names the filter; so are `firstTime`, `lastTime`, `aggregation_attributes` and lists in a filter of type `actions`. A month of `primary_time_range` has 30 days. Send the ids as a file, or [start the campaign by the event](triggered-campaigns.md).',
    operationIds: ['createFilterSegment', 'changeFilterSegment'],
    test: {
      file: 'server/test/segments/parse-segment-filter.test.ts',
      name: 'rejects filters on affinity, places and objects by their names',
    },
  },
  {
    what: 'Statistics',
    here: '`ALL_PLATFORMS`, `ANDROID`, `IOS`, `WEB`, and both `all_locale` and `all_locales`; `--earlier-statistics on` of `carillon workspaces set` returns `android`, `ios`, `web` and `all_locales` alone. [Members](statistics.md#members) without a value are absent, such as `ctr` before the first impression.',
    operationIds: ['readCampaignStats'],
    test: {
      file: 'server/test/stats/stats.test.ts',
      name: 'adds up all platforms, and has both spellings of the locale key (field B3)',
    },
  },
  {
    what: 'Rich content of an unknown type',
    here: 'Left out, and named in `X-SVC-Warning`; [what is not available](not-there.md) lists the kinds.',
    operationIds: ['sendPushV2', 'sendPushV21'],
    test: { file: 'server/test/push/real-clients.test.ts', name: 'is left out with a warning' },
  },
  {
    what: 'Data centers',
    here: 'Any host is served; with `CARILLON_SERVICE_DOMAIN` a workspace addressed through another data center is refused like unknown credentials.',
    operationIds: ['generateToken'],
    test: {
      file: 'server/test/tokens/token-endpoints.test.ts',
      name: 'a workspace called through another data center is refused like unknown credentials (decision D1)',
    },
  },
  {
    what: 'Prefix of V1',
    here: 'Campaign paths of V1 work with and without `/core-services`.',
    operationIds: ['searchCampaignsV1', 'searchCampaignsV1CoreServices'],
    test: {
      file: 'server/test/campaigns/search.test.ts',
      name: '9: has a path for executions in each version, in V1 also with its prefix (decision D3)',
    },
  },
];
