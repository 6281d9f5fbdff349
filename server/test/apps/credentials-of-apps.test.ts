import { expect, test } from 'vitest';
import type { App } from '../../src/domain/apps.ts';
import { makeCredentialsOfApps } from '../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../src/domain/credentials/credentials.ts';
import type { ApnsCredential } from '../../src/domain/providers/apns.ts';
import type { FcmCredential } from '../../src/domain/providers/fcm.ts';

const fcm = (projectId: string): FcmCredential => ({
  ...{ provider: 'fcm', projectId, clientEmail: 'a@b.example', privateKeyId: 'k', privateKey: 'p', simulated: false },
});
const apns = (topic: string): ApnsCredential => ({
  ...{ provider: 'apns', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: 'p', topic, simulated: false },
  environment: 'production',
});
const ofApp = (appId: string, credential: CredentialOfApp['credential']): CredentialOfApp => ({
  ...{ appId, credential, version: '1' },
});
const android = (appId: string, restrictsPackage: boolean): App => ({
  ...{ platform: 'ANDROID', appId, name: appId, identifier: `com.example.${appId}`, environment: null },
  restrictsPackage,
});
const ios = (appId: string): App => ({
  ...{ platform: 'IOS', appId, name: appId, identifier: `com.example.${appId}`, environment: 'sandbox' },
  restrictsPackage: false,
});

test('an app takes its own credential, else that of the default app of its provider', () => {
  const { find } = makeCredentialsOfApps(
    [android('courier', false), android('shop', true)],
    [ofApp('default', fcm('main')), ofApp('courier', fcm('couriers'))],
  );
  expect(find({ platform: 'ANDROID', appId: null })?.credentials.fcm).toEqual(fcm('main'));
  expect(find({ platform: 'ANDROID', appId: 'courier' })).toEqual({
    credentials: { fcm: fcm('couriers') },
    name: { provider: 'fcm', appId: 'courier', version: '1' },
  });
  expect(find({ platform: 'ANDROID', appId: 'shop' })).toEqual({
    credentials: { fcm: { ...fcm('main'), restrictedPackage: 'com.example.shop' } },
    name: { provider: 'fcm', appId: 'default', version: '1' },
  });
});

test("Apple's topic and environment are the app's, whosever the key is", () => {
  const { find } = makeCredentialsOfApps([ios('courier')], [ofApp('default', apns('com.example.main'))]);
  expect(find({ platform: 'IOS', appId: null })?.credentials.apns).toMatchObject({ topic: 'com.example.main' });
  expect(find({ platform: 'IOS', appId: 'courier' })?.credentials.apns).toEqual({
    ...apns('com.example.courier'),
    environment: 'sandbox',
  });
});

test('what names no app is of the default app, or of the only one where that has no credential', () => {
  const stored = [ofApp('courier', fcm('couriers'))];
  const { find: alone } = makeCredentialsOfApps([android('courier', false)], stored);
  expect(alone({ platform: 'ANDROID', appId: null })?.credentials).toEqual({ fcm: fcm('couriers') });
  const { find: ofTwo } = makeCredentialsOfApps([android('courier', false), android('shop', false)], stored);
  expect(ofTwo({ platform: 'ANDROID', appId: null })).toBeUndefined();
  expect(ofTwo({ platform: 'ANDROID', appId: 'shop' })).toBeUndefined();
});

test('an app that is not there has no credential; a platform without any is told from it', () => {
  const { find } = makeCredentialsOfApps([], [ofApp('default', fcm('main')), ofApp('gone', fcm('gone'))]);
  expect(find({ platform: 'ANDROID', appId: 'gone' })).toBeUndefined();
  expect(find({ platform: 'IOS', appId: 'courier' })?.credentials).toEqual({});
  expect(find({ platform: 'IOS', appId: null })?.credentials).toEqual({});
});
