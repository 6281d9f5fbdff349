const { copyFileSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');
const withCarillonIos = require('./expo-ios');

const iconName = 'carillon_notification';

/**
 * The entries of the manifest by the names of the plugin's options.
 *
 * @type {Record<string, string>}
 */
const names = {
  defaultChannel: 'dev.carillon.default_channel',
  pushFrom: 'dev.carillon.push_from',
  dataPrefix: 'dev.carillon.data_prefix',
  appId: 'dev.carillon.app_id',
};

const optionNames = ['icon', ...Object.keys(names), 'host', 'appGroup'];

/** @throws Error if an option is unknown */
function checkOptions(options) {
  for (const name of Object.keys(options))
    if (!optionNames.includes(name))
      throw new Error(`@carillon/react-native: unknown option ${name}; use ${optionNames.join(', ')}`);
}

/** Sets the `meta-data` of Carillon in a parsed manifest, and removes the entries whose options are absent. */
function setManifest(manifest, options) {
  const [application] = manifest.manifest.application;
  const others = (application['meta-data'] ?? []).filter(({ $ }) => !$['android:name'].startsWith('dev.carillon.'));
  const own = Object.entries(names).flatMap(([option, name]) =>
    options[option] === undefined ? [] : [{ $: { 'android:name': name, 'android:value': String(options[option]) } }],
  );
  const icon = { 'android:name': 'dev.carillon.small_icon', 'android:resource': `@drawable/${iconName}` };
  application['meta-data'] = [...others, ...own, ...(options.icon === undefined ? [] : [{ $: icon }])];
  return manifest;
}

/** Copies the icon, white on transparent, to where Android finds it. */
function copyIcon(icon, { projectRoot, platformProjectRoot }) {
  const folder = join(platformProjectRoot, 'app', 'src', 'main', 'res', 'drawable');
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(projectRoot, icon), join(folder, `${iconName}.png`));
}

/** The Expo config plugin: `["@carillon/react-native", {"icon": "./assets/notification.png", "defaultChannel": "offers"}]`. */
function withCarillon(config, options = {}) {
  checkOptions(options);
  const { withAndroidManifest, withDangerousMod } = require('expo/config-plugins');
  const withManifest = withAndroidManifest(withCarillonIos(config, options), (changed) => {
    changed.modResults = setManifest(changed.modResults, options);
    return changed;
  });
  if (options.icon === undefined) return withManifest;
  return withDangerousMod(withManifest, [
    'android',
    (changed) => {
      copyIcon(options.icon, changed.modRequest);
      return changed;
    },
  ]);
}

module.exports = withCarillon;
module.exports.checkOptions = checkOptions;
module.exports.setManifest = setManifest;
module.exports.copyIcon = copyIcon;
