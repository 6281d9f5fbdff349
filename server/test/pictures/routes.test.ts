import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from '../console/signed-in-client.ts';
import { findFreePort } from '../find-free-port.ts';
import { makePicture, readPicture } from './make-picture.ts';

describe('the routes of pictures', () => {
  let bundle: CarillonBundle;
  let cookie: string;
  let publicUrl: string;
  beforeAll(async () => {
    const port = String(await findFreePort());
    publicUrl = `http://localhost:${port}`;
    bundle = await startCarillonBundle({ CARILLON_PORT: port, CARILLON_PUBLIC_URL: publicUrl });
    ({ cookie } = await openSignedInClient(bundle));
  });
  afterAll(() => bundle?.stop());

  async function post(body: Uint8Array | string, headers: Record<string, string> = {}) {
    const answer = await fetch(`${bundle.url}/console/api/pictures?workspaceId=${bundle.workspaceId}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'image/png', ...headers },
      body: body as BodyInit,
    });
    return { status: answer.status, body: (await answer.json()) as any };
  }

  test('store an uploaded file, and serve it to every caller with headers for caches and against scripts', async () => {
    const { status, body } = await post(makePicture({ width: 3_000, height: 1_500, format: 'jpg' }));
    expect([status, body.picture]).toMatchObject([201, { width: 1_440, height: 720, mediaType: 'image/jpeg' }]);
    expect(body.picture.url).toContain(`${publicUrl}/pictures/`);
    const path = new URL(body.picture.url as string).pathname;
    const answer = await fetch(`${bundle.url}${path}`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'public, max-age=2592000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([bytes.length, readPicture(bytes).width]).toEqual([body.picture.bytes, 1_440]);
    const tag = answer.headers.get('etag')!;
    expect((await fetch(`${bundle.url}${path}`, { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await fetch(`${bundle.url}${path}`, { method: 'HEAD' })).headers.get('content-length')).toBe(
      `${bytes.length}`,
    );
    expect(await bundle.database`select from api_log where path like '/pictures/%'`).toEqual([]);
  });

  test('find nothing under other names, and let no cache keep that', async () => {
    for (const name of ['0'.repeat(32) + '.jpg', '0'.repeat(32), 'x.jpg', '..%2f..%2fetc%2fpasswd', 'a'.repeat(200)]) {
      const answer = await fetch(`${bundle.url}/pictures/${name}`);
      expect([name, answer.status, answer.headers.get('cache-control')]).toEqual([name, 404, 'no-store']);
    }
  });

  test('accept what the bytes are and not what the header says', async () => {
    const picture = makePicture({ width: 20, height: 20, format: 'webp' });
    expect((await post(picture, { 'content-type': 'text/html' })).status).toBe(201);
    const page = await post('<html><script>alert(1)</script></html>');
    expect([page.status, page.body.code]).toEqual([400, 'PICTURE_UNREADABLE']);
    expect(page.body.detail).toBe('It is not a JPEG, PNG or WebP');
  });

  test('reject an empty file, one over 10 MB, and a call from another site', async () => {
    expect((await post('')).body.code).toBe('BODY_EMPTY');
    const large = await post(new Uint8Array(10 * 1024 * 1024 + 1));
    expect([large.status, large.body.code]).toEqual([413, 'BODY_TOO_LARGE']);
    const picture = makePicture({ width: 20, height: 20, format: 'png' });
    expect((await post(picture, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});
