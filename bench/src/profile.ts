/**
 * Prints the CPU profiles of a measurement with `--profile FOLDER` as text: the files and functions with the most self time, in
 * shares of the busy time. If the folder has several profiles, it uses the longest: the others are of short-lived commands.
 *
 * Usage: npm run bench -- profile FOLDER [--lines 30]
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'profile'),
  options: { lines: { type: 'string', default: '30' } },
  allowPositionals: true,
});

/** V8's profile format. */
type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

const folder = positionals[0];
if (folder === undefined) {
  process.stderr.write('bench profile: name the folder that --profile was given\n');
  process.exit(2);
}
const names = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
const profiles = await Promise.all(
  names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Profile),
);
const longest = profiles.toSorted((one, other) => other.samples.length - one.samples.length)[0];
if (!longest) {
  process.stderr.write(`bench profile: no .cpuprofile in ${folder}\n`);
  process.exit(2);
}
present(longest, Number(values.lines));

function present({ nodes, samples, timeDeltas }: Profile, lines: number): void {
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
    process.stdout.write(`\n${title}, share of what was busy\n`);
    const sorted = [...times].toSorted(([, one], [, other]) => other - one).slice(0, lines);
    for (const [name, time] of sorted)
      process.stdout.write(`${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}\n`);
  };
  const seconds = (microseconds: number): string => (microseconds / 1e6).toFixed(1);
  process.stdout.write(`main thread: busy ${seconds(busy)} s, idle ${seconds(idle)} s, ${samples.length} samples\n`);
  write('files', byFile);
  write('functions', byFunction);
}

/** Returns the path relative to the project or its packages, without this machine's folders. */
function placeOf(url: string): string {
  if (url === '') return '(native)';
  const path = url.replace(/^file:\/\//, '');
  const inPackage = path.lastIndexOf('/node_modules/');
  if (inPackage !== -1) return path.slice(inPackage + '/node_modules/'.length);
  const root = join(import.meta.dirname, '..', '..');
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
