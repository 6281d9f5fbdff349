import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const engine = 'server/src/engine';
const root = resolve(import.meta.dirname, '..', '..', '..');

/**
 * Tests that need a database take a hundred times as long as others, so those are chosen by hand: the ones that hold the rules of a
 * folder, or of a folder in it.
 */
const chosenWithDatabase: Record<string, string[]> = {
  'server/src/engine': ['server/test/engine/*.test.ts', 'server/test/backup/scheduled-backups.test.ts'],
  'server/src/engine/monitoring': [
    'server/test/engine/{alerts,monitoring}.test.ts',
    'server/test/metrics/metrics.test.ts',
  ],
  'server/src/engine/outbox': ['server/test/engine/{callbacks/*,emails,event-streams}.test.ts'],
  // Those with the rules on given outcomes; whole campaigns take a hundred times as long, and find little more.
  'server/src/engine/fan-out': [
    'server/test/engine/fan-out/{audience,chunks,devices,messages,runs,seats,windows}.test.ts',
  ],
  'server/src/engine/segment-fill': ['server/test/engine/segment-fill/*.test.ts'],
  'server/src/engine/governor': ['server/test/engine/governor/account-limits.test.ts'],
  'server/src/engine/housekeeping': ['server/test/engine/housekeeping.test.ts'],
};

/** They try every zone, thousands of days or of draws, or what takes all the steps there are: last, when others have found most. */
const long = [
  ...[/schedule-zones/, /domain\/timing\/schedules\.test/, /deploy\/prometheus/],
  ...[/learned-shares/, /domain\/experiments\.test/, /interaction-token/, /shapes-and-readers/, /template-bounds/],
  // By way of sockets.
  ...[/engine\/delivery\/[^/]+\.test/, /http2\/(?:sessions|streams)/],
];

/** Tests that read pages and other files, look for programs of the machine, or send thousands of requests through sockets. */
const left = [/\/http2\/(?:fuzz|hostile|sessions|streams)/, /foreign-implementations/, /docs-routes/, /close-server/];

/** Of the engine: they send each of hundreds of messages to simulators of the providers, minutes for what others find in seconds. */
const simulated = [
  /delivery\/(?:batches|deliver|fcm|field-places|hms|outcomes|payload-forms)\.test/,
  /delivery\/(?:proxied-campaign|web-push-encryption)\.test/,
];

/** They run into rules of `domain` by the way, thousands of them, and seldom hold one that no other test does. */
const wide = /test\/(?:engine\/(?!delivery\/(?:payload-forms|field-places|requests))|receivers\/|http\/)/;

/** The test files that are tried on mutants of `sources`, each with the sources that it reaches. */
export function findTests(sources: string[]): { tests: Record<string, string[]>; needsDatabase: boolean } {
  const mutated = new Set(sources);
  const chosen = new Set(
    Object.entries(chosenWithDatabase)
      .filter(([folder]) =>
        sources.some((source) => (folder === engine ? dirname(source) === folder : source.startsWith(`${folder}/`))),
      )
      .flatMap(([, patterns]) => globSync(patterns, { cwd: root })),
  );
  const isEngine = sources.some((source) => /^server\/src\/(?:engine|outgoing|providers)\//.test(source));
  const tests: Record<string, string[]> = {};
  for (const file of globSync('server/test/**/*.test.ts', { cwd: root }).sort(byDuration)) {
    if (
      left.some((pattern) => pattern.test(file)) ||
      (isEngine ? simulated.some((pattern) => pattern.test(file)) : wide.test(file))
    )
      continue;
    const reached = reach(join(root, file));
    const isOfDatabase = [...reached].some((path) => /src\/(?:storage\/postgres|start|testing)\//.test(path));
    const own = [...reached].map((path) => relative(root, path)).filter((path) => mutated.has(path));
    if (own.length > 0 && (!isOfDatabase || chosen.has(file))) tests[file] = own;
  }
  return { tests, needsDatabase: chosen.size > 0 };
}

function byDuration(one: string, other: string): number {
  const rank = (file: string): number => (long.some((pattern) => pattern.test(file)) ? 1 : 0);
  return rank(one) - rank(other) || (one < other ? -1 : 1);
}

const known = new Map<string, string[]>();

function reach(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const next of importsOf(file)) reach(next, seen);
  return seen;
}

/** What is there when the file has been loaded: types leave nothing. */
function importsOf(file: string): string[] {
  let found = known.get(file);
  if (found === undefined) {
    const text = /\.[jt]s$/.test(file) ? readFileSync(file, 'utf8') : '';
    found = [
      ...text.matchAll(
        /^(?:import|export)\b(?!\s+type\b)[^;]*?from\s+'(\.[^']+)'|^import '(\.[^']+)'|import\('(\.[^']+)'\)/gm,
      ),
    ]
      .map((match) => resolve(dirname(file), (match[1] ?? match[2] ?? match[3])!))
      .filter((path) => existsSync(path));
    known.set(file, found);
  }
  return found;
}
