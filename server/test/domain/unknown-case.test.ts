import { describe, expect, test } from 'vitest';
import { nextOccurrences } from '../../src/domain/timing/occurrences.ts';
import { unknownCase } from '../../src/domain/unknown-case.ts';
import { readRepositoryFiles } from '../repository-files.ts';

describe('the end of a switch over a union', () => {
  test.each([
    ['TELEGRAM', 'unknown case: TELEGRAM'],
    [{ kind: 'lunar', secret: 'x' }, 'unknown case: kind lunar'],
    [{ type: 'y'.repeat(100) }, `unknown case: type ${'y'.repeat(60)}`],
    [{ token: 'secret' }, 'unknown case: an object'],
    [undefined, 'unknown case: undefined'],
  ])('throws the discriminant of %j, and nothing else of it', (value, message) => {
    expect(() => unknownCase(value as never)).toThrow(new Error(message));
  });

  test('fails for a timing of another version instead of returning no occurrences', () => {
    const timing = { kind: 'lunar' } as never;
    expect(() => nextOccurrences(timing, { after: new Date(0), count: 1 })).toThrow('unknown case: kind lunar');
  });

  test('is unknownCase everywhere in the server', () => {
    const others = readRepositoryFiles(['.ts'])
      .filter(({ path }) => path.startsWith('server/src/'))
      .filter(({ text }) => /\bsatisfies never\b|: never = /.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });
});
