import { spawnSync } from 'node:child_process';

/** What a record was measured at. */
export function readCommit(): string {
  const git = (...words: string[]): string =>
    spawnSync('git', words, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout?.trim() ?? '';
  const commit = git('rev-parse', '--short=10', 'HEAD') || 'unknown';
  return git('status', '--porcelain') === '' ? commit : `${commit}, changed`;
}
