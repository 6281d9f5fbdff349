import { expect, test } from 'vitest';
import { mutateErrorPaths } from './error-paths.ts';

const changesOf = (source: string) =>
  mutateErrorPaths(source).map(({ line, kind, text }) => `${line} ${kind}: ${text.split('\n')[line - 1]}`);

test('swallows the error of a catch clause, and throws it after the clause did its work', () => {
  expect(changesOf('try { a(); }\ncatch (error) { log(error); return 1; }')).toEqual([
    '2 swallowed: catch {}',
    '2 thrown later: catch (laterError) { const error = laterError; try { log(error); return 1; } finally { throw laterError; } }',
  ]);
});

test('does the same to a handler that is given to catch', () => {
  expect(changesOf('await a().catch(note);')).toEqual([
    '1 swallowed: await a().catch(() => {});',
    '1 thrown later: await a().catch(async (laterError) => { await (note)(laterError); throw laterError; });',
  ]);
});

test('does not swallow what is swallowed already', () => {
  for (const source of [
    'try { a(); } catch { /* none */ }',
    'await a().catch(() => {});',
    'a().catch(() => undefined);',
  ])
    expect(changesOf(source).map((change) => change.slice(0, 14))).toEqual(['1 thrown later']);
});
