import type { KeyKind } from '../api/generated/keys.ts';

type Kind = { name: string; means: string; curl: (workspace: { id: string; dbName: string }) => string };

/** The four kinds of keys: what each opens, and a call with it. */
export const keyKinds: Record<KeyKind, Kind> = {
  oauth: {
    name: 'OAuth 2.0',
    means:
      'Gets access tokens, which are sent as Bearer tokens on every API. The key itself is sent to the token endpoint only.',
    curl: ({ id }) => `KEY='…'
curl ${location.origin}/v1/oauth/token \\
  -d grant_type=client_credentials \\
  -d client_id=${id} \\
  -d client_secret="$KEY"`,
  },
  data: {
    name: 'Data',
    means: 'People, devices, events and segments, by Basic authentication: the workspace id is the user name.',
    curl: ({ id, dbName }) => `KEY='…'
curl ${location.origin}/v1/customer/${id} \\
  -u "${id}:$KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'SVC-DBNAME: ${dbName}' \\
  -d '{"type":"customer","customer_id":"ada","attributes":{"first_name":"Ada"}}'`,
  },
  push: {
    name: 'Push',
    means: 'Signs push requests: SHA-256 of workspace id, campaign name and this key. The key itself is never sent.',
    curl: ({ id }) => `KEY='…'
printf '%s' "${id}|Hello from Carillon|$KEY" | openssl dgst -sha256 -r | cut -c1-64`,
  },
  campaigns: {
    name: 'Campaigns',
    means: 'Campaigns, their search, executions and figures, V1 and V5, by Basic authentication.',
    curl: ({ id }) => `KEY='…'
curl ${location.origin}/v5/campaigns/search \\
  -u "${id}:$KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"limit":15,"page":1}'`,
  },
};
