import { expect, test } from 'vitest';
import { errorRegistry, ServiceError } from '../../src/domain/errors.ts';
import type { ErrorName } from '../../src/domain/errors.ts';
import { declareErrors } from '../../src/http/route/dialect-errors.ts';
import { describeDefaultError } from '../../src/http/route/errors.ts';

test('returns an error of any family with its status in the registry, on a route outside the contract', () => {
  for (const name of Object.keys(errorRegistry) as ErrorName[]) {
    const { status } = describeDefaultError(new ServiceError(name));
    expect(status, name).toBe(errorRegistry[name].status);
    expect(status === 500, name).toBe(name === 'INTERNAL');
  }
});

test('takes the status of a dialect’s error from the registry and the code from the status, unless a row differs', () => {
  const errors = declareErrors<{ code: string }>(
    { NOT_FOUND: {}, OVERLOADED: { code: 'BUSY' }, PUSH_NAME_MISSING: { status: 200 } },
    { shared: ['BODY_EMPTY', 'OVERLOADED'], wireOf: (status) => ({ code: `C${status}` }) },
  );
  expect(errors).toEqual({
    NOT_FOUND: { status: 404, code: 'C404' },
    OVERLOADED: { status: 503, code: 'BUSY' },
    PUSH_NAME_MISSING: { status: 200, code: 'C200' },
    BODY_EMPTY: { status: 400, code: 'C400' },
  });
});
