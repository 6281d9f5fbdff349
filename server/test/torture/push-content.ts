/** A push to everybody's phones and browsers. */
export const pushContent = {
  targetPlatform: ['ANDROID', 'IOS', 'WEB'],
  payload: {
    ANDROID: { title: 'Hello', message: 'To an Android phone' },
    IOS: { title: 'Hello', message: 'To an iPhone' },
    WEB: {
      title: 'Hello',
      message: 'To a browser',
      redirectURL: 'https://example.com/',
      iconURL: 'https://example.com/icon.png',
    },
  },
  campaignDelivery: { type: 'soon' },
};
