import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionNames, kindNames } from '../../../console/src/audit/action-names.ts';

/** Made of a kind and the word of a request: `campaign.${action}`. */
const madeOf: [kind: string, words: string[]][] = [
  ['campaign', ['pause', 'resume', 'stop']],
  ['credential', ['connect', 'replace']],
  ['person', ['attributes', 'test', 'device-add', 'device-block', 'device-unblock']],
  ['person', ['device-opt-out', 'device-opt-in', 'device-keep', 'device-remove']],
  ['segment', ['archive', 'unarchive', 'fetch', 'upload']],
];

test('the audit log has words for every action of the server, and for no other', () => {
  const source = join(import.meta.dirname, '..', '..', 'src');
  const written = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(source, name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\baction(?::| =) '([a-z-]+\.[a-z-]+)'/g)].map(([, action]) => action!));
  expect(new Set(written).size).toBeGreaterThan(40);
  const made = madeOf.flatMap(([kind, words]) => words.map((word) => `${kind}.${word}`));
  expect([...new Set([...written, ...made])].sort()).toEqual(Object.keys(actionNames).sort());
  expect([...new Set(Object.keys(actionNames).map((action) => action.split('.')[0]!))].sort()).toEqual(
    [...kindNames.keys()].sort(),
  );
});
