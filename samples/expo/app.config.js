const { existsSync } = require('node:fs');
const { appId, host } = require('./settings.json');

const googleServicesFile = './google-services.json';

module.exports = {
  name: 'Shop',
  slug: 'carillon-sample',
  version: '1.0.0',
  android: { package: appId, ...(existsSync(googleServicesFile) ? { googleServicesFile } : {}) },
  ios: {
    bundleIdentifier: appId,
    // For a sandbox in your Wi-Fi. A real app uses https and leaves this, and the next plugin, out.
    infoPlist: { NSAppTransportSecurity: { NSAllowsArbitraryLoads: true } },
  },
  plugins: [
    ['expo-build-properties', { android: { usesCleartextTraffic: true } }],
    ['@carillon/react-native', { host, icon: './assets/notification.png' }],
  ],
};
