import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTopic } from '../../src/app/topics/manage-topics.ts';
import { makeInstallationBundle, secretOf } from '../installations/installation-bundle.ts';
import type { InstallationBundle, Phone } from '../installations/installation-bundle.ts';

let bundle: InstallationBundle;
const [phone, tablet, other]: [Phone, Phone, Phone] = [
  { id: 'phone-of-the-topics-test', secret: secretOf('a') },
  { id: 'tablet-of-the-topics-test', secret: secretOf('b') },
  { id: 'other-of-the-topics-test', secret: secretOf('c') },
];
beforeAll(async () => {
  bundle = await makeInstallationBundle();
  const { workspaceId } = bundle;
  for (const [key, isInByDefault] of [
    ['news', true],
    ['offers', false],
  ] as const)
    await addTopic(bundle, {
      ...{ actor: { kind: 'program', name: 'test' }, workspaceId, key, name: key, description: '', position: 0 },
      isInByDefault,
    });
  for (const one of [phone, tablet, other]) await bundle.register(one);
});
afterAll(() => bundle?.stop());

const path = ({ id }: Phone) => `/v1/app/installations/${id}/topics`;
const read = (one: Phone, secret = one.secret) => bundle.app('GET', path(one), { secret });
const set = (one: Phone, topics: unknown, secret = one.secret) =>
  bundle.app('PATCH', path(one), { secret, body: { topics } });
const shown = ({ body }: { body: any }) =>
  body.topics.map(({ topic, opted_in, source }: any) => `${topic} ${opted_in} ${source}`);

describe('the topics of an installation', () => {
  test('are those of its signed-in user, on all of the installations of the user', async () => {
    for (const one of [phone, tablet]) await bundle.signIn(one, 'ada');
    await bundle.signIn(other, 'eve');
    expect(shown(await read(phone))).toEqual(['news true null', 'offers false null']);
    expect(shown(await set(phone, { news: false, offers: true }))).toEqual(['news false app', 'offers true app']);
    expect(shown(await read(tablet))).toEqual(['news false app', 'offers true app']);
    expect(shown(await read(other))).toEqual(['news true null', 'offers false null']);
  });

  test('cannot be read or set with another secret, and not without a signed-in user', async () => {
    const codes = async (calls: Promise<{ status: number; body: any }>[]) =>
      (await Promise.all(calls)).map(({ status, body }) => `${status} ${body.code}`);
    expect(await codes([read(phone, other.secret), set(phone, { news: true }, other.secret)])).toEqual([
      '401 INSTALLATION_UNKNOWN',
      '401 INSTALLATION_UNKNOWN',
    ]);
    await bundle.signOut(phone);
    expect(await codes([read(phone), set(phone, { news: true })])).toEqual([
      '409 INSTALLATION_SIGNED_OUT',
      '409 INSTALLATION_SIGNED_OUT',
    ]);
    expect(shown(await read(tablet))).toEqual(['news false app', 'offers true app']);
  });

  test('reject unknown topics and values, and answer sites that the workspace lists', async () => {
    expect((await set(tablet, { none: true })).status).toBe(400);
    expect((await set(tablet, { news: 1 })).status).toBe(400);
    const asked = await bundle.app('OPTIONS', path(tablet), { key: '', origin: 'https://shop.example' });
    expect([asked.status, asked.headers['access-control-allow-methods']]).toEqual([
      204,
      expect.stringContaining('PATCH'),
    ]);
  });
});
