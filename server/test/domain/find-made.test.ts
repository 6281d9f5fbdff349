import { expect, test } from 'vitest';
import { findMade } from '../../src/domain/access/api-log.ts';

const id = 'a'.repeat(24);
const other = 'b'.repeat(24);
const call = { method: 'POST', path: '/', status: 200, requestBody: null, responseBody: null };

test.each([
  [{ route: '/v2.1/transaction/sendpush', responseBody: `{"status":"Success","cid":"${id}"}` }, [['campaign', id]]],
  [{ route: '/v2.1/transaction/sendpush', responseBody: '{"status":"Fail","cid":""}' }, []],
  [{ route: '/v5/campaigns', responseBody: `{"data":{"id":"${id}"}}` }, [['campaign', id]]],
  [{ route: '/v1/campaigns', responseBody: `{"campaign_id":"${id}"}` }, [['campaign', id]]],
  [{ route: '/v5/campaigns/:id', path: `/v5/campaigns/${id}` }, [['campaign', id]]],
  [{ route: '/v2/custom-segments/file-segment', responseBody: `{"cs_id":"${id}"}` }, [['segment', id]]],
  [{ route: '/v3/custom-segments', responseBody: `{"data":{"id":"${id}"}}` }, [['segment', id]]],
  [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
  [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada"}', status: 400 }, []],
  [{ route: '/v1/customer/:id', requestBody: '{"customer_id":""}' }, []],
  [{ route: '/v1/customer/:id', requestBody: '[{"customer_id":"ada"}]' }, []],
  [{ route: '/v1/customer/:id', requestBody: 'null' }, []],
  [{ route: '/v1/device', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
  [{ route: '/v1/event/:id', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
  [{ route: '/v1/customers/export', requestBody: '{"customer_id":"ada"}' }, []],
  [{ route: '/v2/other', requestBody: '{"customer_id":"ada"}', responseBody: `{"cid":"${id}","cs_id":"${id}"}` }, []],
  [{ route: '/v2.1/transaction/sendpush/status', responseBody: `{"cid":"${id}"}` }, []],
  [{ route: '/v3/custom-segments/:id', path: `/v3/custom-segments/${id}` }, [['segment', id]]],
  [{ route: '/v3/custom-segments/:id', path: '/v3/custom-segments/a' }, []],
  [
    { route: '/v5/campaigns/:id', path: `/v5/campaigns/${id}`, responseBody: `{"data":{"id":"${id}"}}` },
    [['campaign', id]],
  ],
  [
    { route: '/v5/campaigns/:id/clone', path: `/v5/campaigns/${id}/clone`, responseBody: `{"data":{"id":"${other}"}}` },
    [
      ['campaign', other],
      ['campaign', id],
    ],
  ],
  [
    { route: '/v1/campaigns/custom-segments', responseBody: `{"campaign_id":"${id}","cs_id":"${id}"}` },
    [
      ['campaign', id],
      ['segment', id],
    ],
  ],
  [{ route: '/v5/campaigns', responseBody: '{"data":{"id":"short"}}' }, []],
  // The beginning of a body.
  [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada","attributes":{"a' }, []],
])('finds for %j: %j', (more, made) => {
  expect(findMade({ ...call, ...more }).map(({ kind, id }) => [kind, id])).toEqual(made);
});
