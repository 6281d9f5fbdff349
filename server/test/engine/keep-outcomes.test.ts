import { expect, test } from 'vitest';
import { LostWorkError, makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../src/log.ts';

/** A try to store throws this, as often as is said; then it succeeds. */
function makeStore(times: number, fault: () => Error) {
  let tries = 0;
  return {
    tries: () => tries,
    async store(): Promise<string> {
      tries += 1;
      if (tries <= times) throw fault();
      return 'stored';
    },
  };
}

/** As PostgreSQL says it. */
const refused = (code: string) => () => Object.assign(new Error('refused'), { code, severity: 'ERROR' });

function makeKept() {
  const lines: Record<string, unknown>[] = [];
  const log = makeLog(
    { level: 'info', pretty: false },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  let pauses = 0;
  const outcomes = makeOutcomeBuffer({ log, pause: async () => void (pauses += 1) });
  return { outcomes, lines, pauses: () => pauses };
}

test.each([
  ['a value that its type has not', refused('22003')],
  ['a constraint', refused('23514')],
  ['a statement that cannot be written', () => new RangeError('Invalid time value')],
])(
  'outcomes that are refused for %s are given up after twenty tries more, and keep nothing else back',
  async (_what, fault) => {
    const { outcomes, lines, pauses } = makeKept();
    const { store, tries } = makeStore(Infinity, fault);
    await expect(outcomes.store(store)).rejects.toThrow(fault().message);
    expect([tries(), pauses()]).toEqual([21, 20]);
    expect([outcomes.waiting(), outcomes.fault()]).toEqual([0, undefined]);
    await outcomes.settled();
    expect(lines.map(({ msg }) => msg)).toEqual([
      'outcomes cannot be stored; they are kept and stored again',
      'outcomes are given up: the database refuses what is in them',
    ]);
  },
);

test.each([
  ['a disk that is full', refused('53100')],
  ['a lock', refused('55P03')],
  ['a node that is away', () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ['a certificate that has expired', () => Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' })],
])('outcomes that are refused for %s are kept for as long as that lasts', async (_what, fault) => {
  const { outcomes } = makeKept();
  const { store, tries } = makeStore(1_000, fault);
  expect(await outcomes.store(store)).toBe('stored');
  expect(tries()).toBe(1_001);
});

test('outcomes that another worker has by now are not stored again', async () => {
  const { outcomes } = makeKept();
  const { store, tries } = makeStore(Infinity, () => new LostWorkError('lost'));
  await expect(outcomes.store(store)).rejects.toThrow(LostWorkError);
  expect(tries()).toBe(1);
});
