import { expect, test } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';

test('names the field and the reason in the public text, and nothing private', () => {
  const error = new ServiceError('PUSH_PARAMETER_INVALID', { field: 'a', reason: 'must be a text', detail: 'secret' });
  expect([error.name, error.code, error.message]).toEqual([
    ...['ServiceError', 'PUSH_PARAMETER_INVALID', 'Error parsing parameters: a: must be a text'],
  ]);
  expect(error.context.detail).toBe('secret');
  expect(new ServiceError('PUSH_PARAMETER_INVALID').message).toBe('Error parsing parameters: : ');
  // What a caller sent is no pattern.
  expect(new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field: '$&' }).message).toBe(
    'Key not of Type List or Value not allowed: $&',
  );
});

test('keeps the cause for the log, if there is one', () => {
  const cause = new Error('x');
  expect(new ServiceError('INTERNAL', { cause }).cause).toBe(cause);
  expect(Object.hasOwn(new ServiceError('INTERNAL', {}), 'cause')).toBe(false);
});
