import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClockAdvance } from '../../src/app/sandbox/clock-advance.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const start = new Date('2026-03-01T12:00:00Z');
const hour = 3_600_000;

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

test('a stop of an advance wakes the jobs with work once, however long they take; the others are woken at its end', async () => {
  const { database } = bundle;
  const workspaceId = await insertTestWorkspace(database, start);
  for (const [number, hours] of [1, 2, 5].entries()) {
    await database`
      insert into mails (id, workspace_id, recipients, subject, body, state, next_at, created_at)
      values (${String(number).repeat(24)}, ${workspaceId}, '{a@b.c}', 'Subject', 'Body', 'PENDING',
        ${new Date(start.getTime() + hours * hour)}, ${start})`;
  }
  const clock = makeManualClock(start);
  const wakes: string[] = [];
  let looks = 0;
  const advance = makeClockAdvance({
    database,
    clock,
    log: makeLog({ level: 'silent', pretty: false }),
    onClockStopped() {
      wakes.push(clock.now().toISOString().slice(11, 19));
    },
    onClockMoved: () => void wakes.push('all'),
    // What was woken takes a hundred looks; the answer to the caller is not waited for.
    async pause(milliseconds) {
      if (milliseconds > 1_000) return new Promise(() => {});
      looks += 1;
      if (looks % 100 !== 0) return;
      await database`
        update mails set state = 'SENT', next_at = null, ended_at = ${start}
        where next_at <= ${clock.now()} and state = 'PENDING'`;
    },
  });
  await advance.move({ actor: { kind: 'system', name: 'the test' }, move: { advanceSeconds: 6 * 3_600 } });
  expect(wakes).toEqual(['12:00:00', '13:00:00', '14:00:00', '17:00:00', 'all']);
  expect(clock.now()).toEqual(new Date(start.getTime() + 6 * hour));
});
