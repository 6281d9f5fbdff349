import { expect, test } from 'vitest';
import { describeFault } from '../../src/domain/segments/file-operations.ts';

test('reports the rate at which a slow download was given up in the callback', () => {
  expect(describeFault({ kind: 'too-slow' }, 'CREATE')).toEqual({
    status: 400,
    errorMessage:
      'File download failed: it came slower than 4096 bytes a second. Created custom_segment contains 0 users.',
  });
});
