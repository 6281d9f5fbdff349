import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const plugin = createRequire(import.meta.url)(join(root, 'sdk/react-native/expo-ios.js'));
const groups = 'com.apple.security.application-groups';
const options = { host: 'https://push.example.com', appGroup: 'group.com.example.shop', dataPrefix: 'sh' };

describe("the Expo config plugin's part for iOS", () => {
  test('adds the capabilities to the entitlements, and keeps those that are there', () => {
    const once = plugin.setEntitlements({ [groups]: ['group.other'] }, 'group.com.example.shop');
    expect(once).toEqual({ 'aps-environment': 'development', [groups]: ['group.other', 'group.com.example.shop'] });
    expect(plugin.setEntitlements(once, 'group.com.example.shop')).toEqual(once);
    expect(plugin.setEntitlements({ 'aps-environment': 'production' }, 'g')['aps-environment']).toBe('production');
  });

  test('sets the entries of the Info.plist that the Swift package reads, and removes those whose options are gone', async () => {
    const before = { UIBackgroundModes: ['audio'], CFBundleName: 'Shop' };
    const once = plugin.setInfoPlist(before, { ...options, appId: 'couriers' });
    expect(once).toMatchInlineSnapshot(`
      {
        "CFBundleName": "Shop",
        "CarillonAppGroup": "group.com.example.shop",
        "CarillonAppId": "couriers",
        "CarillonPrefix": "sh",
        "UIBackgroundModes": [
          "audio",
          "remote-notification",
        ],
      }
    `);
    const source = await readFile(join(root, 'sdk/ios/Sources/Carillon/Carillon.swift'), 'utf8');
    const names = [...source.matchAll(/text\("(\w+)"\)/g)].map(([, name]) => name!);
    expect(
      Object.keys(once)
        .filter((name) => name.startsWith('Carillon'))
        .sort(),
    ).toEqual(names.sort());
    expect(plugin.setInfoPlist(once, { appGroup: 'g' })).toEqual({
      ...{ CFBundleName: 'Shop', UIBackgroundModes: ['audio', 'remote-notification'], CarillonAppGroup: 'g' },
    });
  });

  const delegate = `internal import Expo
import React

@main
class AppDelegate: ExpoAppDelegate {
  var window: UIWindow?

  public override func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
  ) -> Bool {
    return super.application(application, didFinishLaunchingWithOptions: launchOptions)
  }
}
`;

  test('adds its lines to the application delegate, once', () => {
    const once = plugin.setAppDelegate(delegate);
    expect(once).toMatchInlineSnapshot(`
      "internal import Expo
      // @carillon/react-native begin
      import CarillonReactNative
      // @carillon/react-native end
      import React

      @main
      class AppDelegate: ExpoAppDelegate {
        // @carillon/react-native begin
        public override func application(
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
        }
        // @carillon/react-native end
        var window: UIWindow?

        public override func application(
          _ application: UIApplication,
          didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
          // @carillon/react-native begin
          Carillon.prepare()
          // @carillon/react-native end
          return super.application(application, didFinishLaunchingWithOptions: launchOptions)
        }
      }
      "
    `);
    expect(plugin.setAppDelegate(once)).toBe(once);
  });

  test('rejects a delegate that has these methods, and one that is not of Expo in Swift', () => {
    const own = delegate.replace('  var window', '  // didReceiveRemoteNotification\n  var window');
    expect(() => plugin.setAppDelegate(own)).toThrow('has a didReceiveRemoteNotification already');
    expect(() => plugin.setAppDelegate('@interface AppDelegate ()')).toThrow('not the one of Expo in Swift');
  });

  test('writes the folder of the extension, with all sources that it is compiled from', () =>
    withFolder(async (folder) => {
      const files = plugin.writeExtension(folder, { ...options, host: 'https://a.example/?a&b', sdk });
      expect(files).toMatchInlineSnapshot(`
        [
          "CarillonMessage.swift",
          "Receipt.swift",
          "CarillonNotificationService.swift",
          "ImpressionReports.swift",
          "NotificationService.swift",
        ]
      `);
      const path = (name: string) => join(folder, 'CarillonNotificationService', name);
      for (const name of files) expect(existsSync(path(name)), name).toBe(true);
      expect(await readFile(path('CarillonNotificationService-Info.plist'), 'utf8')).toMatchInlineSnapshot(`
        "<?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <key>CarillonHost</key>
            <string>https://a.example/?a&amp;b</string>
            <key>CarillonAppGroup</key>
            <string>group.com.example.shop</string>
            <key>CarillonPrefix</key>
            <string>sh</string>
            <key>NSExtension</key>
            <dict>
                <key>NSExtensionPointIdentifier</key>
                <string>com.apple.usernotifications.service</string>
                <key>NSExtensionPrincipalClass</key>
                <string>$(PRODUCT_MODULE_NAME).NotificationService</string>
            </dict>
        </dict>
        </plist>
        "
      `);
      expect(await readFile(path('CarillonNotificationService.entitlements'), 'utf8')).toContain(
        '<string>group.com.example.shop</string>',
      );
      // The class that the Info.plist names.
      expect(await readFile(path('NotificationService.swift'), 'utf8')).toContain('class NotificationService:');
    }));

  test('lets the extension use plain http for a service that has no https only', () =>
    withFolder(async (folder) => {
      const plist = async (host: string) => {
        plugin.writeExtension(folder, { ...options, host, sdk });
        return readFile(join(folder, 'CarillonNotificationService/CarillonNotificationService-Info.plist'), 'utf8');
      };
      expect(await plist('http://192.168.1.7:8080')).toContain('NSAllowsArbitraryLoads');
      expect(await plist('https://push.example.com')).not.toContain('NSAllowsArbitraryLoads');
    }));

  test('declares the extension to EAS next to others, once', () => {
    const other = { targetName: 'Widget' };
    const extra = { eas: { projectId: '1', build: { experimental: { ios: { appExtensions: [other] } } } }, own: 1 };
    const target = { bundleId: 'com.example.shop', appGroup: 'group.com.example.shop' };
    const once = plugin.declareExtension(extra, target);
    expect(once.own).toBe(1);
    expect(once.eas.projectId).toBe('1');
    expect(once.eas.build.experimental.ios.appExtensions).toEqual([
      other,
      {
        targetName: 'CarillonNotificationService',
        bundleIdentifier: 'com.example.shop.CarillonNotificationService',
        entitlements: { [groups]: ['group.com.example.shop'] },
      },
    ]);
    expect(plugin.declareExtension(once, target)).toEqual(once);
  });

  test.skipIf(process.env.FULL !== '1')(
    'adds a target to an Xcode project, embedded in the app and built before it (FULL=1)',
    async () => {
      const modules = await installTools(join(import.meta.dirname, 'expo-tools'));
      const { project } = createRequire(join(modules, 'x.js'))('xcode');
      await withFolder(async (folder) => {
        const open = (path: string) => project(path).parseSync();
        const opened = open(join(root, 'samples/ios/Shop.xcodeproj/project.pbxproj'));
        const files = plugin.writeExtension(folder, { ...options, sdk });
        const target = { bundleId: 'com.example.shop', version: '2.1', buildNumber: '7', files };
        plugin.addExtensionTarget(opened, target);
        const { objects } = opened.hash.project;
        const find = (section: string, matches: (one: any) => boolean): any =>
          Object.values(objects[section]).find((one: any) => typeof one === 'object' && matches(one));
        const added = find('PBXNativeTarget', ({ name }) => name === '"CarillonNotificationService"');
        expect(added.productType).toBe('"com.apple.product-type.app-extension"');
        const [sources] = added.buildPhases.filter(({ comment }: any) => comment === 'Sources');
        expect(objects.PBXSourcesBuildPhase[sources.value].files).toHaveLength(files.length);
        const app = find('PBXNativeTarget', ({ name }) => name === 'Shop');
        const copies = app.buildPhases.filter(({ comment }: any) => comment === 'Copy Files');
        expect(copies).toHaveLength(1);
        expect(objects.PBXCopyFilesBuildPhase[copies[0].value].files).toHaveLength(1);
        expect(app.dependencies).toHaveLength(2);
        const list = objects.XCConfigurationList[added.buildConfigurationList];
        for (const { value } of list.buildConfigurations)
          expect(objects.XCBuildConfiguration[value].buildSettings).toMatchObject({
            INFOPLIST_FILE: '"CarillonNotificationService/CarillonNotificationService-Info.plist"',
            PRODUCT_BUNDLE_IDENTIFIER: '"com.example.shop.CarillonNotificationService"',
            MARKETING_VERSION: '2.1',
          });
        const before = opened.writeSync();
        expect(plugin.addExtensionTarget(opened, target).writeSync()).toBe(before);
      });
    },
    300_000,
  );
});

/** The Swift package, as `npm pack` copies it. */
const sdk = join(root, 'sdk', 'ios', 'Sources');

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-expo-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
