import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jobNames } from '../../../console/src/system/job-names.ts';

test('the system page has words for every job of the server, and for no other', () => {
  const engine = join(import.meta.dirname, '..', '..', 'src', 'engine');
  const files = readdirSync(engine, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const jobs = files
    .map((name) => readFileSync(join(engine, name), 'utf8'))
    .filter((text) => /intervalMilliseconds|make(?:Leased|Receiver)Job\(/.test(text))
    .flatMap((text) => [...text.matchAll(/\bname: '([a-z]+(?:-[a-z]+)+)'/g)].map(([, name]) => name!));
  expect(jobs.length).toBeGreaterThan(20);
  expect([...new Set(jobs)].sort()).toEqual(Object.keys(jobNames).sort());
});
