import { expect, test } from 'vitest';
import { isDatabaseFault, isDeadlock, isOutage, refusesWrites } from '../../src/domain/database-faults.ts';

type Known = { isOutage?: true; isDatabaseFault?: true; isDeadlock?: true; refusesWrites?: true };

test.each<[string, unknown, Known]>([
  ['a connection that is refused', { code: 'ECONNREFUSED' }, { isOutage: true, isDatabaseFault: true }],
  ['a server that ends', { code: '57P01' }, { isOutage: true, isDatabaseFault: true }],
  ['a commit of which nothing is known', { code: 'COMMIT_OUTCOME_UNKNOWN' }, { isOutage: true, isDatabaseFault: true }],
  ['a full disk', { code: '53100' }, { isDatabaseFault: true, refusesWrites: true }],
  ['too little memory', { code: '53200' }, { isDatabaseFault: true, refusesWrites: true }],
  ['a copy that takes no writes', { code: '25006' }, { isDatabaseFault: true, refusesWrites: true }],
  ['a circle of locks', { code: '40P01' }, { isDatabaseFault: true, isDeadlock: true }],
  ['a lock that is held', { code: '55P03' }, { isDatabaseFault: true }],
  ['a statement that was ended', { code: '57014' }, { isDatabaseFault: true }],
  ['a row that is there already', { code: '23505' }, {}],
  ['a code of another kind that begins so', { code: '53' }, {}],
  ['a longer one', { code: '531001' }, {}],
  ['a number', { code: 53_100 }, {}],
  ['an error without a code', new Error('x'), {}],
  ['nothing', undefined, {}],
])('classifies %s', (_what, error, known) => {
  expect({
    ...(isOutage(error) && { isOutage: true }),
    ...(isDatabaseFault(error) && { isDatabaseFault: true }),
    ...(isDeadlock(error) && { isDeadlock: true }),
    ...(refusesWrites(error) && { refusesWrites: true }),
  }).toEqual(known);
});
