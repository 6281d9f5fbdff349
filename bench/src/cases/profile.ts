import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Case } from '../kit/bench.ts';

/** Uses the busiest profile of the folder: the others are of short-lived commands, or of threads that wait. */
export const profileCase: Case<'profile', Profile> = {
  async prepare(bench) {
    const { folder } = bench.options;
    const names = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
    if (names.length === 0) throw new Error(`no .cpuprofile in ${folder}`);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    const profiles = texts.map((text) => JSON.parse(text) as Profile);
    return profiles.reduce((one, other) => (busyOf(one) >= busyOf(other) ? one : other));
  },

  run: present,
};

/** V8's profile format. */
type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

function busyOf({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  return samples.reduce((busy, id, index) => busy + (idle.has(id) ? 0 : timeDeltas[index]!), 0);
}

function present(bench: Bench<'profile'>, { nodes, samples, timeDeltas }: Profile): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [byFunction, byFile] = [new Map<string, number>(), new Map<string, number>()];
  let [busy, idle] = [0, 0];
  for (const [index, id] of samples.entries()) {
    const microseconds = timeDeltas[index]!;
    const frame = frames.get(id)!;
    if (frame.functionName === '(idle)') {
      idle += microseconds;
      continue;
    }
    busy += microseconds;
    const file = placeOf(frame.url);
    const name = `${frame.functionName || '(unnamed)'}  ${file}${frame.url === '' ? '' : `:${frame.lineNumber + 1}`}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + microseconds);
    const group = frame.url === '' ? frame.functionName || 'native' : file;
    byFile.set(group, (byFile.get(group) ?? 0) + microseconds);
  }
  const write = (title: string, times: ReadonlyMap<string, number>): void => {
    bench.say(`\n${title}, share of the busy time`);
    const sorted = [...times].toSorted(([, one], [, other]) => other - one).slice(0, bench.options.lines);
    for (const [name, time] of sorted) bench.say(`${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}`);
  };
  const seconds = (microseconds: number): string => (microseconds / 1e6).toFixed(1);
  bench.say(`main thread: busy ${seconds(busy)} s, idle ${seconds(idle)} s, ${samples.length} samples`);
  write('files', byFile);
  write('functions', byFunction);
}

/** Returns the path relative to the project or its packages, without this machine's folders. */
function placeOf(url: string): string {
  if (url === '') return '(native)';
  const path = url.replace(/^file:\/\//, '');
  const inPackage = path.lastIndexOf('/node_modules/');
  if (inPackage !== -1) return path.slice(inPackage + '/node_modules/'.length);
  const root = join(import.meta.dirname, '..', '..', '..');
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
