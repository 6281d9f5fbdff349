import { expect, test } from 'vitest';
import { selectHeaders } from '../../src/http/server/build-server.ts';

test('returns the headers that describe a call, only the scheme of credentials, and no others', () => {
  const request = {
    'content-type': 'application/json',
    authorization: 'Basic d29ya3NwYWNlOnNlY3JldA==',
    'x-svc-appkey': 'W1',
    'x-acme-query-type': 'user',
    'x-svc-pushapi-signature': 'a1b2',
    'svc-dbname': 'shop',
    cookie: 'carillon_session=secret',
    'x-forwarded-for': '198.51.100.7',
    'user-agent': 'x'.repeat(300),
  };
  const response = {
    'content-type': 'application/json',
    'retry-after': 3,
    'set-cookie': 'a=b',
    'x-ratelimit-limit': '9',
  };
  expect(JSON.parse(selectHeaders({ request, response }))).toEqual({
    request: {
      'content-type': 'application/json',
      authorization: 'Basic [redacted]',
      'x-svc-appkey': 'W1',
      'x-acme-query-type': 'user',
      'x-svc-pushapi-signature': '[redacted]',
      'svc-dbname': 'shop',
      'user-agent': 'x'.repeat(200),
    },
    response: { 'content-type': 'application/json', 'retry-after': '3', 'x-ratelimit-limit': '9' },
  });
});

test.each([
  ['Bearer cat_secret', 'Bearer [redacted]'],
  ['bearer cat_secret', 'bearer [redacted]'],
  ['cat_secret', '[redacted]'],
  ['cat_secret more', '[redacted]'],
])('shortens %s to %s', (authorization, told) => {
  expect(JSON.parse(selectHeaders({ request: { authorization }, response: {} })).request).toEqual({
    authorization: told,
  });
});
