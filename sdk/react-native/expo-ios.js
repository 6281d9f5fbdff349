const { copyFileSync, mkdirSync, readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/** The notification service extension: target, folder, and end of its bundle id. */
const extensionName = 'CarillonNotificationService';

const begin = '// @carillon/react-native begin';
const end = '// @carillon/react-native end';

/** @returns the App Group of the app and its extension */
const appGroupOf = (bundleId, options) => options.appGroup ?? `group.${bundleId}`;

/** Adds the capabilities to the entitlements of the app; those that it has stay. */
function setEntitlements(entitlements, appGroup) {
  const groups = entitlements['com.apple.security.application-groups'] ?? [];
  return {
    'aps-environment': 'development',
    ...entitlements,
    'com.apple.security.application-groups': groups.includes(appGroup) ? groups : [...groups, appGroup],
  };
}

/** Sets Carillon's entries of the app's Info.plist, and removes those whose options are absent. */
function setInfoPlist(plist, { appGroup, dataPrefix, appId }) {
  const others = Object.entries(plist).filter(([name]) => !/^Carillon(AppGroup|Prefix|AppId)$/.test(name));
  const modes = plist.UIBackgroundModes ?? [];
  return {
    ...Object.fromEntries(others),
    UIBackgroundModes: modes.includes('remote-notification') ? modes : [...modes, 'remote-notification'],
    CarillonAppGroup: appGroup,
    ...(dataPrefix === undefined ? {} : { CarillonPrefix: dataPrefix }),
    ...(appId === undefined ? {} : { CarillonAppId: appId }),
  };
}

const methods = `  public override func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    Carillon.didRegister(deviceToken: deviceToken)
    super.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
  }

  public override func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    if Carillon.didReceive(userInfo, then: completionHandler) { return }
    super.application(application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
  }`;

/**
 * Adds what the SDK needs to the application delegate: iOS passes push tokens and silent messages only there.
 *
 * @throws Error if the delegate is not Expo's in Swift, or has these methods of its own
 */
function setAppDelegate(contents) {
  const blocks = new RegExp(`\\n *${begin}[\\s\\S]*?${end}`, 'g');
  const clean = contents.replace(blocks, '');
  for (const name of ['didRegisterForRemoteNotificationsWithDeviceToken', 'didReceiveRemoteNotification'])
    if (clean.includes(name))
      throw new Error(`@carillon/react-native: AppDelegate has a ${name} already; call Carillon from there instead`);
  const insert = (text, pattern, { code, indent }) => {
    if (!pattern.test(text))
      throw new Error('@carillon/react-native: AppDelegate is not the one of Expo in Swift (Expo SDK 53 or newer)');
    return text.replace(pattern, (found) => `${found}\n${indent}${begin}\n${code}\n${indent}${end}`);
  };
  const imported = insert(clean, /^.*import Expo\b.*$/m, { code: 'import CarillonReactNative', indent: '' });
  const launch = /didFinishLaunchingWithOptions[^{]*\{/;
  const prepared = insert(imported, launch, { code: '    Carillon.prepare()', indent: '    ' });
  return insert(prepared, /class AppDelegate: ExpoAppDelegate\b[^{]*\{/, { code: methods, indent: '  ' });
}

/** @returns the files of the extension by their names */
function describeExtension({ host, appGroup, dataPrefix }) {
  const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const string = (name, text) => `    <key>${name}</key>\n    <string>${escape(text)}</string>\n`;
  const plist = (entries) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
${entries}</dict>
</plist>
`;
  const point = `    <key>NSExtension</key>
    <dict>
        <key>NSExtensionPointIdentifier</key>
        <string>com.apple.usernotifications.service</string>
        <key>NSExtensionPrincipalClass</key>
        <string>$(PRODUCT_MODULE_NAME).NotificationService</string>
    </dict>
`;
  // iOS refuses plain http otherwise; a sandbox in your network has no https.
  const plainHttp = `    <key>NSAppTransportSecurity</key>
    <dict>
        <key>NSAllowsArbitraryLoads</key>
        <true/>
    </dict>
`;
  const transport = host.startsWith('http:') ? plainHttp : '';
  const prefix = dataPrefix === undefined ? '' : string('CarillonPrefix', dataPrefix);
  const groups = `    <key>com.apple.security.application-groups</key>\n    <array>\n        <string>${appGroup}</string>\n    </array>\n`;
  return {
    [`${extensionName}-Info.plist`]: plist(
      string('CarillonHost', host) + string('CarillonAppGroup', appGroup) + prefix + point + transport,
    ),
    [`${extensionName}.entitlements`]: plist(groups),
    'NotificationService.swift':
      'final class NotificationService: CarillonNotificationService, @unchecked Sendable {}\n',
  };
}

/** The sources of the Swift package that the extension is compiled from, below `ios/sdk` of this package. */
function listExtensionSources(sdk) {
  const service = join(sdk, 'CarillonNotificationService');
  const core = ['CarillonMessage.swift', 'Receipt.swift'].map((name) => join(sdk, 'CarillonCore', name));
  return [
    ...core,
    ...readdirSync(service)
      .sort()
      .map((name) => join(service, name)),
  ];
}

/** Writes the folder of the extension. @returns the names of its Swift files */
function writeExtension(platformProjectRoot, options) {
  const folder = join(platformProjectRoot, extensionName);
  mkdirSync(folder, { recursive: true });
  const own = describeExtension(options);
  for (const [name, text] of Object.entries(own)) writeFileSync(join(folder, name), text);
  const sources = listExtensionSources(options.sdk);
  const names = sources.map((path) => path.split(/[\\/]/).at(-1));
  for (const [index, path] of sources.entries()) copyFileSync(path, join(folder, names[index]));
  return [...names, 'NotificationService.swift'];
}

/**
 * Adds the target of the extension to a project of the package `xcode`, which Expo brings. A project that has it stays as it is.
 *
 * @param files the names of its Swift files
 */
function addExtensionTarget(project, { bundleId, version, buildNumber, files }) {
  if (project.pbxTargetByName(extensionName) || project.pbxTargetByName(`"${extensionName}"`)) return project;
  const { objects } = project.hash.project;
  // Without these sections xcode adds no dependency, and the extension is not built with the app.
  objects.PBXTargetDependency ??= {};
  objects.PBXContainerItemProxy ??= {};
  const target = project.addTarget(extensionName, 'app_extension', extensionName, `${bundleId}.${extensionName}`);
  const group = project.addPbxGroup(files, extensionName, extensionName);
  project.addToPbxGroup(group.uuid, project.getFirstProject().firstProject.mainGroup);
  project.addBuildPhase(files, 'PBXSourcesBuildPhase', 'Sources', target.uuid);
  project.addBuildPhase([], 'PBXFrameworksBuildPhase', 'Frameworks', target.uuid);
  project.addBuildPhase([], 'PBXResourcesBuildPhase', 'Resources', target.uuid);
  const settings = {
    APPLICATION_EXTENSION_API_ONLY: 'YES',
    CODE_SIGN_ENTITLEMENTS: `${extensionName}/${extensionName}.entitlements`,
    CODE_SIGN_STYLE: 'Automatic',
    CURRENT_PROJECT_VERSION: buildNumber,
    GENERATE_INFOPLIST_FILE: 'YES',
    IPHONEOS_DEPLOYMENT_TARGET: '15.1',
    MARKETING_VERSION: version,
    SWIFT_VERSION: '6.0',
    TARGETED_DEVICE_FAMILY: '"1,2"',
  };
  const lists = project.pbxXCConfigurationList();
  const configurations = project.pbxXCBuildConfigurationSection();
  for (const { value } of lists[target.pbxNativeTarget.buildConfigurationList].buildConfigurations)
    Object.assign(configurations[value].buildSettings, settings);
  return project;
}

/** What EAS needs to make a provisioning profile for the extension. */
function declareExtension(extra, { bundleId, appGroup }) {
  const eas = extra?.eas ?? {};
  const ios = eas.build?.experimental?.ios ?? {};
  const others = (ios.appExtensions ?? []).filter(({ targetName }) => targetName !== extensionName);
  const own = {
    targetName: extensionName,
    bundleIdentifier: `${bundleId}.${extensionName}`,
    entitlements: { 'com.apple.security.application-groups': [appGroup] },
  };
  const experimental = { ...eas.build?.experimental, ios: { ...ios, appExtensions: [...others, own] } };
  return { ...extra, eas: { ...eas, build: { ...eas.build, experimental } } };
}

/** The part of the config plugin for iOS. Without a bundle id the app has no iOS part. */
function withCarillonIos(config, options) {
  const bundleId = config.ios?.bundleIdentifier;
  if (bundleId === undefined) return config;
  const plugins = require('expo/config-plugins');
  const appGroup = appGroupOf(bundleId, options);
  const change = (name, work) => {
    config = plugins[name](config, (changed) => {
      changed.modResults = work(changed.modResults);
      return changed;
    });
  };
  change('withEntitlementsPlist', (entitlements) => setEntitlements(entitlements, appGroup));
  change('withInfoPlist', (plist) => setInfoPlist(plist, { ...options, appGroup }));
  change('withAppDelegate', (delegate) => ({ ...delegate, contents: setAppDelegate(delegate.contents) }));
  // The extension has to know the service.
  if (options.host === undefined) return config;
  config.extra = declareExtension(config.extra, { bundleId, appGroup });
  return plugins.withXcodeProject(config, (changed) => {
    const sdk = join(__dirname, 'ios', 'sdk');
    const files = writeExtension(changed.modRequest.platformProjectRoot, { ...options, appGroup, sdk });
    const { version = '1.0', ios } = changed;
    const target = { bundleId, version, buildNumber: ios?.buildNumber ?? '1', files };
    changed.modResults = addExtensionTarget(changed.modResults, target);
    return changed;
  });
}

module.exports = withCarillonIos;
Object.assign(module.exports, {
  ...{ setEntitlements, setInfoPlist, setAppDelegate, writeExtension, addExtensionTarget, declareExtension },
});
