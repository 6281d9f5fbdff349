import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCarillon } from '../../../sdk/capacitor/src/make-carillon.ts';
import type { NativeCarillon } from '../../../sdk/capacitor/src/make-carillon.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'sdk', 'capacitor', 'android', 'src', 'main', 'kotlin');
const kotlin = readFileSync(join(folder, 'dev', 'carillon', 'capacitor', 'CarillonPlugin.kt'), 'utf8');
const swift = readFileSync(join(folder, '../../../../ios/CarillonPlugin.swift'), 'utf8');

/** A plugin that records its calls and keeps its listeners. */
function recordPlugin() {
  const calls: unknown[][] = [];
  const listeners = new Map<string, (event: never) => void>();
  const addListener = async (name: string, listener: (event: never) => void) => {
    listeners.set(name, listener);
    return { remove: async () => void listeners.delete(name) };
  };
  const native = new Proxy({} as NativeCarillon, {
    get: (_, name) =>
      name === 'addListener'
        ? addListener
        : async (...values: unknown[]) => {
            calls.push([name, ...values]);
          },
  });
  return { calls, listeners, native };
}

describe('@carillon/capacitor', () => {
  test('passes every call to the plugin under the names that the plugin reads', async () => {
    const { calls, native } = recordPlugin();
    const carillon = makeCarillon(native);
    await carillon.start('cak_1', 'https://push.example.com');
    await carillon.askPermission();
    await carillon.login('ada');
    await carillon.login('ada', 'token');
    await carillon.track('Opened');
    await carillon.setAttributes({ team: null });
    await carillon.optIn();
    await carillon.optOut();
    await carillon.logout();
    expect(calls).toEqual([
      ['start', { appKey: 'cak_1', host: 'https://push.example.com' }],
      ['askPermission'],
      ['login', { userId: 'ada' }],
      ['login', { userId: 'ada', identityToken: 'token' }],
      ['track', { name: 'Opened', attributes: {} }],
      ['setAttributes', { attributes: { team: null } }],
      ['optIn'],
      ['optOut'],
      ['logout'],
    ]);
    for (const [name, options = {}] of calls) {
      expect(kotlin).toMatch(new RegExp(`@PluginMethod\\s+fun ${String(name)}\\(call: PluginCall\\)`));
      for (const member of Object.keys(options as object)) {
        expect(kotlin).toContain(`"${member}"`);
        expect(swift).toContain(`"${member}"`);
      }
      expect(swift).toContain(`@objc func ${String(name)}(_ call: CAPPluginCall)`);
    }
    // Capacitor finds those only that the plugin lists.
    const [, listed] = /pluginMethods: \[CAPPluginMethod\] = \[([^\]]+)\]/.exec(swift)!;
    const names = [...listed!.matchAll(/"(\w+)"/g)].map(([, name]) => name);
    expect(names.sort()).toEqual([...new Set(calls.map(([name]) => name))].sort());
  });

  test('listens to messages and notices of the plugin until the listener is ended', async () => {
    const { native, listeners } = recordPlugin();
    const carillon = makeCarillon(native);
    const seen: unknown[] = [];
    const end = carillon.onMessage(({ title }) => seen.push(title));
    carillon.onNotice((notice) => seen.push(notice));
    listeners.get('message')!({ title: 'Only today' } as never);
    listeners.get('notice')!({ notice: 'identity-needed' } as never);
    await end();
    expect(seen).toEqual(['Only today', 'identity-needed']);
    expect([...listeners.keys()]).toEqual(['notice']);
    for (const name of ['message', 'notice'])
      for (const source of [kotlin, swift]) expect(source).toContain(`notifyListeners("${name}"`);
    for (const member of ['id', 'title', 'message', 'isSilent', 'pairs']) {
      expect(kotlin).toContain(`put("${member}"`);
      expect(swift).toContain(`"${member}": message.`);
    }
  });
});
