import { expect, test } from 'vitest';
import { messageOfContent, messageOfInbox } from '../../../console/src/parts/phone/phone-message.ts';
import type { InboxMessage } from '../../../console/src/api/generated/overview.ts';

const appName = 'Shop';

test('a notification is drawn of the content that a campaign has, as far as its platform shows it', () => {
  const texts = {
    title: 'Hello',
    message: 'There',
    summary: 'Sale',
    subtitle: 'Today',
    image_url: 'https://a.example/i.png',
  };
  expect(
    messageOfContent({
      platform: 'ANDROID',
      content: { basic_details: texts, buttons: [{ btn_name: 'Later' }, { btn_name: '' }] },
      appName,
    }),
  ).toEqual({
    platform: 'ANDROID',
    sender: 'Shop',
    title: 'Hello',
    message: 'There',
    summary: 'Sale',
    image: 'https://a.example/i.png',
    buttons: ['Later'],
  });
  const media = { ...texts, rich_media_type: 'Video', rich_media_value: 'https://a.example/v.mp4' };
  const onIphone = { basic_details: media, buttons: [{ button_category: 'REPLY' }] };
  expect(messageOfContent({ platform: 'IOS', content: onIphone, appName })).toEqual({
    platform: 'IOS',
    sender: 'Shop',
    title: 'Hello',
    message: 'There',
    subtitle: 'Today',
    buttons: ['REPLY'],
  });
  const gif = { ...media, rich_media_type: 'GIF' };
  expect(messageOfContent({ platform: 'IOS', content: { basic_details: gif }, appName }).image).toBe(
    'https://a.example/v.mp4',
  );
  const site = { ...texts, redirect_url: 'https://shop.example/sale?of=today' };
  expect(
    messageOfContent({
      platform: 'WEB',
      content: { basic_details: site, advanced: { icon_url: 'https://a.example/icon.png' } },
      appName,
    }),
  ).toMatchObject({ sender: 'shop.example', icon: 'https://a.example/icon.png', image: 'https://a.example/i.png' });
});

test('a notification that arrived is drawn of what its device showed', () => {
  const arrived: InboxMessage = {
    id: '1',
    workspaceId: 'W',
    collapseId: null,
    messageId: 'm',
    platform: 'IOS',
    deviceToken: 't',
    title: 'Hello',
    body: 'There',
    campaignId: null,
    receivedAt: '2026-01-01T00:00:00.000Z',
    transport: {},
    headers: {},
    payload: { aps: { alert: { title: 'Hello', subtitle: 'Today', body: 'There' } } },
    screen: {
      shownBy: 'extension',
      title: 'Hello',
      body: 'There',
      image: 'https://a.example/i.png',
      buttons: ['REPLY'],
    },
  };
  expect(messageOfInbox(arrived, appName)).toEqual({
    platform: 'IOS',
    sender: 'Shop',
    title: 'Hello',
    subtitle: 'Today',
    message: 'There',
    image: 'https://a.example/i.png',
    buttons: ['REPLY'],
  });
  // Of older versions nothing is known but the message.
  expect(messageOfInbox({ ...arrived, payload: {}, screen: {} }, appName)).toEqual({
    platform: 'IOS',
    sender: 'Shop',
    title: 'Hello',
    message: 'There',
    buttons: [],
  });
});
