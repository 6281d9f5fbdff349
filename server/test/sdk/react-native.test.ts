import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyAndroid } from '../../../sdk/android/copy-sources.mts';
import { copyIos } from '../../../sdk/ios/copy-sources.mts';
import { CarillonUnavailableError, makeCarillon } from '../../../sdk/react-native/src/make-carillon.ts';
import type { NativeCarillon } from '../../../sdk/react-native/src/make-carillon.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'sdk', 'react-native');
const moduleFile = join(folder, 'android/src/main/kotlin/dev/carillon/reactnative/CarillonModule.kt');

/** A native module that records its calls. */
function recordCalls() {
  const calls: unknown[][] = [];
  const native = new Proxy({} as NativeCarillon, {
    get:
      (_, name) =>
      async (...values: unknown[]) =>
        void calls.push([name, ...values]),
  });
  return { calls, native };
}

describe('@carillon/react-native', () => {
  test('passes every call to the native module, with a value for each argument', async () => {
    const { calls, native } = recordCalls();
    const carillon = makeCarillon(native, undefined);
    await carillon.start('cak_1', 'https://push.example.com');
    await carillon.askPermission();
    await carillon.login('ada');
    await carillon.login('ada', 'token');
    await carillon.track('Opened');
    await carillon.track('Bought', { price: 3 });
    await carillon.setAttributes({ team: null });
    await carillon.optIn();
    await carillon.optOut();
    await carillon.logout();
    expect(calls).toEqual([
      ['start', 'cak_1', 'https://push.example.com'],
      ['askPermission'],
      ['login', 'ada', null],
      ['login', 'ada', 'token'],
      ['track', 'Opened', {}],
      ['track', 'Bought', { price: 3 }],
      ['setAttributes', { team: null }],
      ['optIn'],
      ['optOut'],
      ['logout'],
    ]);
    // The names and the numbers of arguments are those of the Kotlin module, which React Native calls by name.
    const kotlin = await readFile(moduleFile, 'utf8');
    for (const [name, ...values] of calls) {
      const [, parameters] = new RegExp(`@ReactMethod\\s+fun ${String(name)}\\(([^)]*)\\)`).exec(kotlin)!;
      expect(parameters!.split(',').length, String(name)).toBe(values.length + 1);
    }
    // For iOS each has a declaration in Objective-C, for which React Native looks, and one in Swift, under one selector.
    const selectors = selectorsOf(await readFile(join(folder, 'ios/CarillonModule.m'), 'utf8'));
    const swift = await readFile(join(folder, 'ios/CarillonModule.swift'), 'utf8');
    const inSwift = [...swift.matchAll(/@objc\((\w+:[\w:]*)\)/g)].map(([, selector]) => selector!);
    expect(selectors.sort()).toEqual(inSwift.sort());
    for (const [name, ...values] of calls) {
      const selector = selectors.find((one) => one.startsWith(`${String(name)}:`))!;
      // The two blocks of the promise come last.
      expect(selector.split(':').length - 1, selector).toBe(values.length + 2);
    }
  });

  test('rejects calls in an app without the native module, and accepts listeners there', async () => {
    const carillon = makeCarillon(undefined, undefined);
    await expect(carillon.start('cak_1', 'https://push.example.com')).rejects.toThrow(CarillonUnavailableError);
    await expect(carillon.logout()).rejects.toThrow('Expo Go');
    expect(carillon.onMessage(() => undefined)()).toBeUndefined();
  });

  test('listens to the events of the native module until the listener is ended', async () => {
    const listeners = new Map<string, (value: never) => void>();
    const carillon = makeCarillon(recordCalls().native, {
      addListener(name, listener) {
        listeners.set(name, listener);
        return { remove: () => void listeners.delete(name) };
      },
    });
    const seen: unknown[] = [];
    const end = carillon.onMessage(({ title }) => seen.push(title));
    carillon.onNotice((notice) => seen.push(notice));
    listeners.get('carillonMessage')!({ title: 'Only today' } as never);
    listeners.get('carillonNotice')!('identity-needed' as never);
    end();
    expect(seen).toEqual(['Only today', 'identity-needed']);
    expect([...listeners.keys()]).toEqual(['carillonNotice']);
    const kotlin = await readFile(moduleFile, 'utf8');
    const swift = await readFile(join(folder, 'ios/CarillonModule.swift'), 'utf8');
    for (const name of ['carillonMessage', 'carillonNotice']) {
      expect(kotlin).toContain(`emit("${name}"`);
      expect(swift).toContain(`sendEvent(withName: "${name}"`);
    }
    for (const member of ['id', 'title', 'message', 'isSilent', 'pairs'])
      expect(swift).toContain(`"${member}": message.`);
  });

  test('is packed with the sources of the Swift package', async () => {
    await withFolder(async (target) => {
      await copyIos(join(target, 'sdk'));
      const pod = await readFile(join(folder, 'CarillonReactNative.podspec'), 'utf8');
      for (const part of ['CarillonCore', 'Carillon']) {
        expect(existsSync(join(target, 'sdk', part, `${part}.swift`)), part).toBe(true);
        expect(pod).toContain(`'ios/sdk/${part}/*.swift'`);
      }
      const { files } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { files: string[] };
      expect(files).toEqual(
        expect.arrayContaining(['ios', 'CarillonReactNative.podspec', 'app.plugin.js', 'expo-ios.js']),
      );
    });
  });

  test('is packed with the sources of carillon-android', async () => {
    await withFolder(async (target) => {
      await copyAndroid(join(target, 'sdk'));
      for (const file of [
        'AndroidManifest.xml',
        'kotlin/dev/carillon/Carillon.kt',
        'kotlin/dev/carillon/core/Queue.kt',
      ])
        expect(existsSync(join(target, 'sdk', file)), file).toBe(true);
      expect(await readFile(join(folder, 'android', 'build.gradle'), 'utf8')).toContain("'sdk/AndroidManifest.xml'");
    });
  });
});

describe('the sample for Expo', () => {
  const sample = join(root, 'samples', 'expo');

  test('calls the package by names that it has, and its config plugin with options that it knows', async () => {
    const source = await readFile(join(sample, 'App.js'), 'utf8');
    const called = [...source.matchAll(/Carillon\.(\w+)\(/g)].map(([, name]) => name!);
    expect(called.length).toBeGreaterThan(5);
    expect(Object.keys(makeCarillon(undefined, undefined))).toEqual(expect.arrayContaining(called));
    const require = createRequire(import.meta.url);
    const { plugins } = require(join(sample, 'app.config.js')) as { plugins: [string, Record<string, string>][] };
    const [, options] = plugins.find(([name]) => name === '@carillon/react-native')!;
    expect(() => require(join(folder, 'app.plugin.js')).checkOptions(options)).not.toThrow();
    expect(existsSync(join(sample, options.icon!))).toBe(true);
  });

  test('installs the package under the name that npm gives its tarball', async () => {
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
    const { dependencies } = JSON.parse(await readFile(join(sample, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(dependencies['@carillon/react-native']).toBe(`file:carillon-react-native-${version}.tgz`);
  });
});

describe('its Expo config plugin', () => {
  const plugin = createRequire(import.meta.url)(join(folder, 'app.plugin.js'));
  const manifest = () => ({
    manifest: {
      application: [{ 'meta-data': [{ $: { 'android:name': 'com.example.other', 'android:value': 'kept' } }] }],
    },
  });
  const entriesOf = (changed: any) => changed.manifest.application[0]['meta-data'].map(({ $ }: any) => $);

  test('writes the entries of the manifest that its options name', () => {
    const options = {
      icon: './icon.png',
      defaultChannel: 'offers',
      pushFrom: 'shop',
      dataPrefix: 'sh',
      appId: 'couriers',
    };
    expect(entriesOf(plugin.setManifest(manifest(), options))).toMatchInlineSnapshot(`
      [
        {
          "android:name": "com.example.other",
          "android:value": "kept",
        },
        {
          "android:name": "dev.carillon.default_channel",
          "android:value": "offers",
        },
        {
          "android:name": "dev.carillon.push_from",
          "android:value": "shop",
        },
        {
          "android:name": "dev.carillon.data_prefix",
          "android:value": "sh",
        },
        {
          "android:name": "dev.carillon.app_id",
          "android:value": "couriers",
        },
        {
          "android:name": "dev.carillon.small_icon",
          "android:resource": "@drawable/carillon_notification",
        },
      ]
    `);
  });

  test('changes nothing when it runs twice, and removes the entries of options that are gone', () => {
    const once = plugin.setManifest(manifest(), { defaultChannel: 'offers' });
    const twice = plugin.setManifest(structuredClone(once), { defaultChannel: 'offers' });
    expect(twice).toEqual(once);
    expect(plugin.setManifest(twice, {})).toEqual(manifest());
  });

  test('rejects an option that it does not know, with those it knows', () => {
    expect(() => plugin.checkOptions({ chanel: 'offers' })).toThrow(
      'unknown option chanel; use icon, defaultChannel, pushFrom, dataPrefix, appId, host, appGroup',
    );
  });

  test('accepts a manifest without entries', () => {
    expect(entriesOf(plugin.setManifest({ manifest: { application: [{}] } }, {}))).toEqual([]);
  });

  test('copies the icon to where the entry of the manifest finds it', async () => {
    await withFolder(async (projectRoot) => {
      await writeFile(join(projectRoot, 'icon.png'), 'picture');
      const platformProjectRoot = join(projectRoot, 'android');
      plugin.copyIcon('./icon.png', { projectRoot, platformProjectRoot });
      const [, entry] = entriesOf(plugin.setManifest(manifest(), { icon: './icon.png' }));
      const name = entry['android:resource'].replace('@drawable/', '');
      const copied = join(platformProjectRoot, 'app/src/main/res/drawable', `${name}.png`);
      expect(await readFile(copied, 'utf8')).toBe('picture');
    });
  });

  test('names the entries that carillon-android reads', async () => {
    const source = await readFile(
      join(root, 'sdk/android/carillon/src/main/kotlin/dev/carillon/CarillonOptions.kt'),
      'utf8',
    );
    const read = [...source.matchAll(/"(dev\.carillon\.\w+)"/g)].map(([, name]) => name!).sort();
    const options = { icon: 'i', defaultChannel: 'c', pushFrom: 'p', dataPrefix: 'd', appId: 'a' };
    const written = entriesOf(plugin.setManifest({ manifest: { application: [{}] } }, options));
    expect(written.map((entry: any) => entry['android:name']).sort()).toEqual(read);
  });
});

/** Returns the selectors that a file of Objective-C declares to React Native. */
function selectorsOf(source: string): string[] {
  return [...source.matchAll(/RCT_EXTERN_METHOD\(([\s\S]*?)\)\n\n/g)].map(([, declared]) =>
    [...declared!.matchAll(/(\w+):\(/g)].map(([, part]) => `${part}:`).join(''),
  );
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-react-native-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
