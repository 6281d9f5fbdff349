import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describePublicRoutes } from '../../../scripts/list-routes.ts';
import { declaredDifferences } from '../../src/domain/declared-differences.ts';

const root = join(import.meta.dirname, '..', '..', '..');

test('every difference that docs/switch.md tells of names operations that exist', async () => {
  const { document } = await describePublicRoutes();
  const known = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  for (const { what, operationIds } of declaredDifferences) {
    expect(operationIds.length, what).toBeGreaterThan(0);
    expect(known, what).toEqual(expect.arrayContaining([...operationIds]));
  }
});

test.each(declaredDifferences.map(({ what, test: shown }) => [what, shown] as const))(
  '%s: a test of that name shows it',
  (_what, { file, name }) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(`test('${name}'`);
  },
);
