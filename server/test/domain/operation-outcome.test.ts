import { expect, test } from 'vitest';
import { describeFault } from '../../src/domain/segments/file-operations.ts';

test('the callback of a download that trickled says at which rate it was given up', () => {
  expect(describeFault({ kind: 'too-slow' }, 'CREATE')).toEqual({
    status: 400,
    errorMessage:
      'File download failed: it came slower than 4096 bytes a second. Created custom_segment contains 0 users.',
  });
});
