import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { testCore } from './core-program.ts';
import { findKotlin, jsonJar } from './kotlin-compiler.ts';
import { makeAppOf } from './web-site.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const android = join(root, 'sdk', 'android');
const kotlin = process.env.FULL === '1' ? await findKotlin() : 'FULL=1 compiles it';
const reason = typeof kotlin === 'string' ? ` (skipped: ${kotlin})` : '';

describe.skipIf(typeof kotlin === 'string')(`carillon-android${reason}`, () => {
  if (typeof kotlin === 'string') return;
  let folder: string;
  let bundle: CarillonBundle;
  let app: Awaited<ReturnType<typeof makeAppOf>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-kotlin-'));
    kotlin.compile([join(android, 'core', 'src')], { classes: join(folder, 'core'), classPath: [] });
    bundle = await startCarillonBundle();
    app = await makeAppOf(bundle);
  }, 400_000);
  afterAll(async () => {
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  test('its layers for Android, Huawei, React Native and Capacitor and the sample compile against what they use of Android', () => {
    const core = join(folder, 'core');
    const stubs = join(folder, 'stubs');
    kotlin.compile([join(import.meta.dirname, 'android-stubs')], { classes: stubs, classPath: [] });
    const layers = ['carillon', 'huawei'].map((name) => join(android, name, 'src', 'main'));
    const bridges = ['react-native', 'capacitor'].map((name) => join(root, 'sdk', name, 'android/src/main/kotlin'));
    const sample = join(root, 'samples', 'android', 'app', 'src', 'main', 'kotlin');
    kotlin.compile([...layers, ...bridges, sample], { classes: join(folder, 'layers'), classPath: [core, stubs] });
  }, 300_000);

  testCore(() => {
    const classPath = [join(folder, 'core'), kotlin.library, jsonJar].join(':');
    const words = ['-Xmx64m', '-cp', classPath, 'dev.carillon.core.PlayStepsKt'];
    return { platform: 'ANDROID', folder, bundle, app, command: (place) => ['java', ...words, place] };
  });
});
