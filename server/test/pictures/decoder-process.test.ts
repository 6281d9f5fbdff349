import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePreparePicture } from '../../src/engine/pictures/prepare-picture.ts';
import { startProcess } from '../../src/engine/pictures/start-process.ts';
import { readProcessSeconds } from '../rig/processor-time.ts';
import { makePicture } from './make-picture.ts';
import { makeNoisyPng } from './make-png.ts';

describe('the process that decodes a picture', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-decoder-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const makeScript = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const file = makePicture({ width: 60, height: 60, format: 'png' });

  test('is ended at the time limit, whatever it does, before the next one is started', async () => {
    const endless = makeScript('endless.mjs', "process.on('SIGTERM', () => {}); for (;;);");
    const livingAtStart: number[] = [];
    const prepare = makePreparePicture({
      seconds: 1,
      start: (bytes) => {
        livingAtStart.push(findChildren(endless).length);
        return startProcess(bytes, pathToFileURL(endless));
      },
    });
    const begunAt = performance.now();
    const outcomes = await Promise.allSettled([prepare(file), prepare(file)]);
    expect(performance.now() - begunAt).toBeLessThan(10_000);
    const late = { reason: { context: { reason: 'Decoding it takes longer than 1 s' } } };
    expect(outcomes).toMatchObject([late, late]);
    expect(livingAtStart).toEqual([0, 0]);
    await expect.poll(() => findChildren(endless)).toEqual([]);
  });

  test('is ended in the middle of a slow picture', async () => {
    const decoder = startProcess(makeNoisyPng({ width: 1_800, height: 1_800, isInterlaced: true }));
    const [pid] = findChildren('picture-process') as [number];
    await expect.poll(() => readProcessSeconds(pid)).toBeGreaterThan(1);
    const begunAt = performance.now();
    await decoder.end();
    expect(performance.now() - begunAt).toBeLessThan(2_000);
    expect(await decoder.answer).toEqual({ fault: 'The file is damaged' });
    expect(findChildren('picture-process')).toEqual([]);
  });

  test('ends if the node stops in the middle of a slow picture', async () => {
    // A channel is closed when one of its two processes ends.
    const script = new URL('../../src/engine/pictures/picture-process.ts', import.meta.url);
    const child = fork(script, [], { serialization: 'advanced', execArgv: [] });
    child.send(makeNoisyPng({ width: 1_800, height: 1_800, isInterlaced: true }));
    await expect.poll(() => readProcessSeconds(child.pid!)).toBeGreaterThan(1);
    // Those of a terminal and of a service manager do not end it before.
    child.kill('SIGTERM');
    child.kill('SIGINT');
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });

  test('has nothing of the environment of the node', async () => {
    const script = makeScript('environment.mjs', 'process.send({ fault: Object.keys(process.env).join() });');
    expect(process.env.PATH).toBeTruthy();
    const decoder = startProcess(file, pathToFileURL(script));
    expect(await decoder.answer).toEqual({ fault: '' });
    await decoder.end();
  });

  test('answers that the file is damaged if it ends by itself', async () => {
    const decoder = startProcess(file, pathToFileURL(makeScript('end.mjs', 'process.exit(3);')));
    expect(await decoder.answer).toEqual({ fault: 'The file is damaged' });
    await decoder.end();
  });
});

/** Processes that this one started and whose command line contains the text. */
function findChildren(text: string): number[] {
  return readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((pid) => pid !== '' && readCommand(pid).includes(text))
    .map(Number);
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
