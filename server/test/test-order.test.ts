import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification } from 'vitest/node';
import { LongestFirst, longFiles } from '../../scripts/test-order.ts';

const root = join(import.meta.dirname, '..', '..');

it('lists long files that exist, each once', () => {
  expect(longFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(longFiles).size).toBe(longFiles.length);
});

it('starts the long files first, in their order, and the others as the runner would', async () => {
  const others = ['server/test/clock.test.ts', 'server/test/tour.test.ts'];
  const fileOf = (file: string): TestSpecification =>
    ({
      moduleId: join(root, file),
      project: { name: '', config: { isolate: false, sequence: { groupOrder: 0 } } },
    }) as unknown as TestSpecification;
  const durations = new Map(others.map((file, index) => [join(root, file), 1_000 - index]));
  const resultOf = ({ moduleId }: TestSpecification) => ({ failed: false, duration: durations.get(moduleId) ?? 1 });
  const context = { config: { root }, cache: { getTestSpecificationResult: resultOf } };
  const sorted = await new LongestFirst(context as never).sort(
    [others[1]!, longFiles[5]!, others[0]!, longFiles[0]!].map(fileOf),
  );
  expect(sorted.map(({ moduleId }) => moduleId.slice(root.length + 1))).toEqual([
    longFiles[0],
    longFiles[5],
    ...others,
  ]);
});
