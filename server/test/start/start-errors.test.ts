import { expect, test } from 'vitest';
import { toStartError } from '../../src/start/start-errors.ts';

test.each([
  ['a pooler that cannot sign in at the database', '08P01'],
  ['a database that begins', '57P03'],
  ['a database of another name', '3D000'],
])('%s is one that cannot be reached, which a service manager tries again', (_what, code) => {
  const error = Object.assign(new Error('server login has been failing, try again later'), { code });
  const { code: name, message } = toStartError(error);
  expect(name).toBe('DATABASE_UNREACHABLE');
  expect(message).toBe('The database cannot be reached: server login has been failing, try again later.');
});
