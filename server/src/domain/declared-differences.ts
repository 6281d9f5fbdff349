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
      name: '9: executions have a path in each version; V1 also with its prefix (decision D3)',
    },
  },
];
