import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'server', 'src');
const page = readFileSync(join(root, 'docs', 'tour.md'), 'utf8');

const steps = [...page.matchAll(/^\| \d+ \| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, file, name]) => ({ file, name }));

test('every step of the tour names a function that its file has', () => {
  expect(steps.length).toBeGreaterThan(20);
  const missing = steps.filter(({ file, name }) => {
    const path = join(source, file!);
    return !existsSync(path) || !new RegExp(`\\bfunction\\*? ${name}\\b`).test(readFileSync(path, 'utf8'));
  });
  expect(missing).toEqual([]);
});

test('every path that the tour and the architecture name exists', () => {
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const paths = [...`${page}\n${architecture}`.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9.-]+)+\/?)`/g)].map(
    ([, path]) => path!,
  );
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(join(source, path)) && !existsSync(join(root, path)))).toEqual([]);
});
