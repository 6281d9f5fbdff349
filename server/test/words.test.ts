import { describe, expect, test } from 'vitest';
import { joinLines, readRepositoryFiles } from './repository-files.ts';
import type { RepositoryFile } from './repository-files.ts';

type Place = 'identifiers' | 'prose';

/** A row of the word list in CONTRIBUTING.md. */
type Word = {
  pattern: RegExp;
  instead: string;
  where: readonly Place[];
  /** Where the word stays: the beginning of a path, and why. */
  allowed?: Record<string, string>;
  /** Uses from before the word was chosen. The number only ever goes down; a rename lowers it, the last one removes it. */
  left?: number;
};

const words: Word[] = [
  { pattern: /\b(?:most|longest|shortest)[A-Z]\w*/g, instead: 'max…, min…', where: ['identifiers'] },
  {
    pattern: /\b\w*(?:[pP]erson(?!al)|[pP]eople)\w*/g,
    instead: 'user',
    where: ['identifiers'],
    // The console's prose, which says people.
    left: 15,
  },
  {
    pattern: /\b\w*(?:\bm|M)oment(?!um|ar)\w*/g,
    instead: 'occurrence',
    where: ['identifiers'],
    allowed: {
      'server/src/storage/runs/runs.ts': 'a column of runs',
      'server/test/campaigns/': 'a column of runs',
      'server/test/engine/scheduler.test.ts': 'a column of runs',
      'server/test/push/scheduled-push.test.ts': 'a column of runs',
      'server/test/data/data-endpoints.test.ts': 'an attribute whose name is made up',
    },
    // Prose in the console and in an expression of a test.
    left: 2,
  },
  { pattern: /\broom\b|\broom[A-Z]\w*|\b\w+Room\b/g, instead: 'quota', where: ['identifiers'] },
  {
    pattern: /\b(?:gate|gate[A-Z]\w*|\w*Gate(?!way)\w*|\w*Gated\w*)\b/g,
    instead: 'eligibility',
    where: ['identifiers'],
    allowed: {
      'console/src/router.tsx': 'the component that asks for a session',
      'console/src/session/': 'the component that asks for a session',
      'server/test/storage/lost-connections.test.ts': 'a port that is shut',
      'server/test/tokens/': 'a port that is shut',
      'server/test/rig/': 'a port that is shut',
      'server/test/torture/': 'a port that is shut',
    },
  },
  { pattern: /\b(?:\w*Admission\w*|admissions?)\b/g, instead: 'eligibility', where: ['identifiers'] },
  { pattern: /\b(?:seal\w*|\w*Seal\w*)\b/g, instead: 'encrypt, decrypt', where: ['identifiers'] },
  {
    pattern: /\b(?:mail(?!to\b)\w*|\w*Mail\w*)\b/g,
    instead: 'email',
    where: ['identifiers'],
    allowed: {
      'server/src/engine/outbox/emails.ts': 'the SMTP library sends with sendMail',
      'server/src/storage/installation/queues.ts': 'the table mails',
      'server/test/engine/emails.test.ts': 'the SMTP library of the test names the sender mailFrom',
    },
    // Prose in the console, and the name of an icon.
    left: 2,
  },
  {
    pattern: /\b(?:fates?|\w*Fates?|standing|\w*Standing)\b/g,
    instead: 'outcome, status',
    where: ['identifiers'],
  },
  {
    pattern: /\b(?:dut(?:y|ies)|\w*Dut(?:y|ies)\w*)\b/g,
    instead: 'job',
    where: ['identifiers'],
  },
  { pattern: /\b(?:gather\w*|\w*Gather\w*)\b/g, instead: 'batch', where: ['identifiers'] },
  {
    pattern: /\b(?:bulk\w*|\w*Bulk\w*)\b/g,
    instead: 'batch',
    where: ['identifiers'],
    allowed: {
      'client/src/generated/': 'the data API names its route bulk',
      'client/src/carillon-users.ts': 'the data API names its route bulk',
      'client/test/families.test.ts': 'the data API names its route bulk',
      'server/src/app/data.ts': 'the data API names its route bulk',
      'server/src/http/data/': 'the data API names its route bulk',
      'server/test/data/': 'the data API names its route bulk',
    },
  },
  { pattern: /\bas good as\b/gi, instead: 'is treated as', where: ['prose'] },
  { pattern: /\bof its own kind\b/gi, instead: 'exactly one kind', where: ['prose'] },
  { pattern: /\b(?:that|it|he|she) is none\b/gi, instead: 'is rejected, is not one', where: ['prose'], left: 14 },
  {
    pattern: /\b(?:moments? (?:to come|that has come)|waits for its moment)\b/gi,
    instead: 'occurrence',
    where: ['prose'],
    left: 4,
  },
  { pattern: /\b(?:are|is|stands?) nowhere\b|\brecorded nowhere\b/gi, instead: 'not recorded', where: ['prose'] },
  { pattern: /\bthe duty that\b/gi, instead: 'job', where: ['prose'], left: 4 },
  { pattern: /\b(?:datacent(?:er|re)|data centre)\b/gi, instead: 'data center', where: ['prose'] },
  { pattern: /\b(?:simply|obviously|easily|of course)\b/gi, instead: 'nothing: say what happens', where: ['prose'] },
];

const code = readRepositoryFiles(['.ts', '.tsx', '.js']).filter(({ path }) => !path.endsWith('words.test.ts'));
const pages = readRepositoryFiles(['.md']).filter(
  // The contract and the word list quote words; the changelog tells of the past.
  ({ path }) => !['CHANGELOG.md', 'CONTRIBUTING.md'].includes(path) && !path.startsWith('docs/spec/'),
);

/** A file without comments and strings; what stands in `${…}` goes as well. */
function identifiersOf({ path, text }: RepositoryFile): RepositoryFile {
  const pattern = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g;
  return { path, text: text.replace(pattern, (part) => (part.startsWith('/') ? ' ' : "''")) };
}

/** Comments, names of tests, help of commands, and in the console every text. */
function proseOf({ path, text }: RepositoryFile): RepositoryFile {
  if (path.endsWith('.md')) return { path, text: joinLines(text) };
  const comments = [...text.matchAll(/\/\*[^]*?\*\/|(?:^|\s)\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*/g)].map(
    ([comment]) => comment,
  );
  const named = path.startsWith('console/src/')
    ? /'(?:\\.|[^'\\\n]){3,}'|>[^<>{}]{3,}</g
    : /\b(?:test|describe|it|description|option|addOption|argument|Option)(?:\.each\([^]*?\]\))?\((?:'(?:\\.|[^'\\\n])*'(?:,\s*)?)+/g;
  return { path, text: joinLines([...comments, ...[...text.matchAll(named)].map(([name]) => name)].join('\n')) };
}

const texts: Record<Place, RepositoryFile[]> = {
  identifiers: code.map(identifiersOf),
  prose: [...code, ...pages].map(proseOf),
};

function findUses({ pattern, where, allowed = {} }: Word): string[] {
  const isAllowed = (path: string): boolean => Object.keys(allowed).some((place) => path.startsWith(place));
  return where
    .flatMap((place) => texts[place])
    .filter(({ path }) => !isAllowed(path))
    .flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([found]) => `${path}: ${found}`));
}

/** Functions that return a function or a job, and neither make nor start it by name. */
function findFactories(files: RepositoryFile[]): string[] {
  const functionTypes = files.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?type (\w+)(?:<[^=]*>)? =\s*\(.*=>/gm)].map(([, name]) => name!),
  );
  const returned = [...functionTypes, '\\w*Job\\b', '\\([^()]*\\) =>'].join('|');
  const factory = new RegExp(
    `^(?:export )?function (?!make[A-Z]|start[A-Z])(\\w+)(?:<[^(]*>)?\\((?:[^()]|\\([^()]*\\))*\\): (?:${returned})(?=[ {<])`,
    'gm',
  );
  return files.flatMap(({ path, text }) => [...text.matchAll(factory)].map(([, name]) => `${path}: ${name}`));
}

describe('the word list of CONTRIBUTING.md', () => {
  test.each(words.map((word) => [word.instead, word.pattern.source, word] as const))(
    '"%s" is written instead of %s',
    (_instead, _pattern, word) => {
      const uses = findUses(word);
      if (uses.length > (word.left ?? 0)) expect(uses).toEqual([]);
    },
  );

  test('a function that returns a function or a job is named make…, or start… if it starts it', () => {
    expect(findFactories(code.filter(({ path }) => path.startsWith('server/src/')))).toEqual([]);
    const text = [
      'type Send = (to: string) => void;',
      'function sender(deps: { now: () => Date }): Send {',
      'export function endRuns({ database }: Deps): Job {',
      'function wait(): () => void {',
      'function makeSender(): Send {',
      'function startJob(): RunningJob {',
      'function read(at: Date): Sent {',
    ].join('\n');
    expect(findFactories([{ path: 'a.ts', text }])).toEqual(['a.ts: sender', 'a.ts: endRuns', 'a.ts: wait']);
  });

  test('allows places that exist and need it', () => {
    for (const word of words) {
      for (const place of Object.keys(word.allowed ?? {})) {
        const without = { ...word, allowed: {} };
        expect(
          findUses(without).some((use) => use.startsWith(place)),
          `${word.pattern.source} in ${place}`,
        ).toBe(true);
      }
    }
  });

  test('reads identifiers, comments and names of tests apart', () => {
    const file = {
      path: 'a.test.ts',
      text: "/** As good as it gets. */\ntest('no moment', () => mostRows('fate'));\n",
    };
    expect(identifiersOf(file).text).not.toMatch(/good|moment|fate/);
    expect(identifiersOf(file).text).toMatch(/mostRows/);
    expect(proseOf(file).text).toMatch(/As good as it gets[^]*no moment/);
    expect(proseOf(file).text).not.toMatch(/mostRows/);
  });
});
