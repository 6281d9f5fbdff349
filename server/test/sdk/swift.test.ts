import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { testCore, withPhone } from './core-program.ts';
import type { CoreProgram } from './core-program.ts';
import { findSwift } from './swift-compiler.ts';
import { makeAppOf } from './web-site.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const ios = join(root, 'sdk', 'ios');
const sample = join(root, 'samples', 'ios');
const swift = process.env.FULL === '1' ? findSwift() : 'FULL=1 compiles it';
const reason = typeof swift === 'string' ? ` (skipped: ${swift})` : '';

describe.skipIf(typeof swift === 'string')(`Carillon for iOS${reason}`, () => {
  if (typeof swift === 'string') return;
  let folder: string;
  let bundle: CarillonBundle;
  let app: Awaited<ReturnType<typeof makeAppOf>>;
  let start: [string, ...string[]];

  const compile = async (name: string, path: string) => swift.module(name, await filesIn(path), folder);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-swift-'));
    await compile('CarillonCore', join(ios, 'Sources/CarillonCore'));
    const program = await filesIn(join(ios, 'Tests/PlaySteps'));
    start = swift.program(program, { folder, modules: ['CarillonCore'] });
    bundle = await startCarillonBundle();
    app = await makeAppOf(bundle);
  }, 400_000);
  afterAll(async () => {
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const program = (): CoreProgram => ({
    ...{ platform: 'IOS', folder, bundle, app },
    command: (place) => [...start, place],
  });

  test('its layer for iOS, its extension and the sample compile against what they use of Apple', async () => {
    for (const name of ['UserNotifications', 'UIKit', 'ActivityKit', 'SwiftUI'])
      await compile(name, join(import.meta.dirname, 'ios-stubs', name));
    await compile('Carillon', join(ios, 'Sources/Carillon'));
    await compile('CarillonNotificationService', join(ios, 'Sources/CarillonNotificationService'));
    for (const name of ['Shop', 'NotificationService']) await compile(name, join(sample, name));
  }, 300_000);

  test('the bridges of React Native and Capacitor compile as one module with the sources that they are packed with', async () => {
    const place = join(folder, 'bridges');
    await mkdir(place);
    for (const name of ['UserNotifications', 'UIKit', 'ActivityKit', 'React', 'Capacitor'])
      swift.module(name, await filesIn(join(import.meta.dirname, 'ios-stubs', name)), place);
    const packed = [
      ...(await filesIn(join(ios, 'Sources/CarillonCore'))),
      ...(await filesIn(join(ios, 'Sources/Carillon'))),
    ];
    for (const path of ['react-native/ios/CarillonModule.swift', 'capacitor/ios/CarillonPlugin.swift']) {
      // Only Apple's compiler has an Objective-C to tell the names to.
      const text = (await readFile(join(root, 'sdk', path), 'utf8')).replace(/@objc(\([\w:]+\))?\s/g, '');
      const bridge = join(place, basename(path));
      await writeFile(bridge, text);
      swift.module(`Bridge${basename(path, '.swift')}`, [bridge, ...packed], place);
    }
  }, 300_000);

  test('the extension compiles as one module of the files that the config plugin for Expo writes', async () => {
    const place = await mkdtemp(join(folder, 'expo-'));
    const stubs = join(import.meta.dirname, 'ios-stubs', 'UserNotifications');
    swift.module('UserNotifications', await filesIn(stubs), place);
    const plugin = createRequire(import.meta.url)(join(root, 'sdk/react-native/expo-ios.js'));
    const options = { host: 'https://push.example.com', appGroup: 'group.shop', sdk: join(ios, 'Sources') };
    const files = plugin.writeExtension(place, options) as string[];
    const sources = files.map((name) => join(place, 'CarillonNotificationService', name));
    swift.module('CarillonNotificationService', sources, place);
  }, 300_000);

  testCore(program);

  test('keeps numbers, flags and lists that a bridge passes on, and tells a flag from a number', () =>
    withPhone(program(), 'values', async ({ take, perform, installations }) => {
      const access = { headers: bundle.basic(), body: { attributes: ['a', 'b', 'c'] } };
      expect((await bundle.call('PUT', '/v1/app-access', access)).status).toBe(200);
      await take({ do: 'start' });
      for (const [name, value] of Object.entries({ a: 1, b: true, c: ['x', 2.5] }))
        await perform({ do: 'set', name, value });
      const [id] = installations;
      const look = () => bundle.database`
        select users.attributes from installations
        join users on users.bucket = user_bucket and users.id = installations.user_id
        where installations.id = ${id!}`;
      await expect.poll(look).toMatchObject([{ attributes: { 'app:a': 1, 'app:b': true, 'app:c': ['x', 2.5] } }]);
    }));

  test('reports the number on the icon, from which the service counts on', () =>
    withPhone(program(), 'badge', async ({ take, perform, tokenOf, suffix, send, form }) => {
      await take({ do: 'start' });
      await take({ do: 'subscribe', token: 'first' });
      await take({ do: 'login', user: 'ada', identity: 'valid' });
      await take({ expect: 'devices', user: 'ada', tokens: ['first'] });
      const data = await send(`ada ${suffix}`, tokenOf('first'));
      await perform({ do: 'receipt', token: form.reportToken(data), type: 'clicked' });
      await perform({ do: 'badge', value: 3 });
      const count = () => bundle.database`select badge_count from devices where push_id = ${tokenOf('first')}`;
      await expect.poll(count).toMatchObject([{ badge_count: 3 }]);
    }));
});

describe('the Xcode project of the sample for iOS', () => {
  test('declares every object that it refers to, and refers to files and folders that exist', async () => {
    const project = await readFile(join(sample, 'Shop.xcodeproj', 'project.pbxproj'), 'utf8');
    const declared = new Set([...project.matchAll(/^\t\t([0-9A-F]{24}) \/\* .+ \*\/ = \{$/gm)].map(([, id]) => id));
    const used = new Set([...project.matchAll(/\b[0-9A-F]{24}\b/g)].map(([id]) => id));
    expect([...used].filter((id) => !declared.has(id))).toEqual([]);
    // Everything but the root is referred to: its id stands there twice.
    for (const id of declared) expect(project.split(id!).length, id).toBeGreaterThan(2);
    const paths = [
      ...project.matchAll(/\t(?:INFOPLIST_FILE|CODE_SIGN_ENTITLEMENTS|relativePath) = "?([^";]+)"?;/g),
      ...project.matchAll(/path = "?([^";]+)"?;\n\t\t\tsourceTree = "<group>"/g),
    ].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) expect(existsSync(join(sample, path)), path).toBe(true);
  });

  test('passes every setting of Config.xcconfig on, under the names that the app and the extension read', async () => {
    const settings = await readFile(join(sample, 'Config.xcconfig'), 'utf8');
    const names = [...settings.matchAll(/^(\w+) =/gm)].map(([, name]) => name!);
    const read = (path: string) => readFile(join(sample, path), 'utf8');
    const app = await read('Support/Shop-Info.plist');
    const extension = await read('Support/NotificationService-Info.plist');
    const users = [
      app,
      extension,
      await read('Shop.xcodeproj/project.pbxproj'),
      await read('Support/Shop.entitlements'),
    ];
    // Xcode itself reads the team.
    for (const name of names.filter((one) => one !== 'DEVELOPMENT_TEAM'))
      expect(users.join(), name).toContain(`$(${name})`);
    const keysOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!).sort();
    const ownKeys = (plist: string) => keysOf(plist, /<key>(Carillon\w+)<\/key>/g);
    // The SDK reads the App Group itself.
    expect(ownKeys(app)).toEqual(['CarillonAppGroup', ...keysOf(await read('Shop/Service.swift'), /text\("(\w+)"\)/g)]);
    const service = await readFile(
      join(ios, 'Sources/CarillonNotificationService/CarillonNotificationService.swift'),
      'utf8',
    );
    const known = keysOf(service, /text\("(\w+)"\)/g);
    // The sample's workspace has no data prefix.
    expect(ownKeys(extension)).toEqual(known.filter((name) => name !== 'CarillonPrefix'));
  });
});

async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.swift')).map((name) => join(folder, name));
}
