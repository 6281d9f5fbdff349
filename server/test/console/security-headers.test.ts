import { expect, test } from 'vitest';
import { makeAccountsBundle } from './accounts-bundle.ts';

test('every route of the console answers with the headers that restrict a browser (ASVS 3.4), with and without a session', async () => {
  const bundle = await makeAccountsBundle();
  const owner = await bundle.createOwner();
  expect(bundle.routes.length).toBeGreaterThan(90);
  for (const { method, url } of bundle.routes) {
    const path = url.replace('/console/api/', '').replace(/:[A-Za-z]+/g, '0'.repeat(24));
    for (const cookie of [undefined, owner]) {
      // Signing out would end the walk.
      if (cookie !== undefined && method === 'DELETE' && url.endsWith('/session')) continue;
      const asked = `${path}?workspaceId=${bundle.workspaceId}`;
      const { headers } = await bundle.call(method as 'GET', asked, cookie === undefined ? {} : { cookie });
      expect(headers, `${method} ${url}`).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': expect.stringContaining('no-store'),
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        'strict-transport-security': expect.stringContaining('max-age='),
        'cross-origin-opener-policy': 'same-origin',
      });
    }
  }
  await bundle.end();
}, 60_000);
