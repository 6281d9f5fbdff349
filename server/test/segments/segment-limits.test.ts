import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestFileOperation } from '../../src/app/segments/file-segments.ts';
import { documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { propertyRuns } from '../property-runs.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const hour = 3_600_000;

/** The rule in its plainest form: an event counts for the length of the window after it, and no longer. */
function makeModel(perHour: number, perDay: number) {
  const accepted: number[] = [];
  return (at: number): boolean => {
    const within = (length: number) => accepted.filter((event) => event > at - length).length;
    const passes = within(hour) < perHour && within(24 * hour) < perDay;
    if (passes) accepted.push(at);
    return passes;
  };
}

test('operations pass exactly as the model of two sliding windows says, on two nodes, whatever the pauses (reliability R12)', async () => {
  const { database, drop } = await createTestDatabase();
  const clock = makeManualClock(new Date(start));
  const limits = { ...documentedSegmentLimits, operationsPerHour: 3, operationsPerDay: 7, activeSegments: 1_000_000 };
  const makeNode = () => ({ database, clock, encryption: makeEncryption(Buffer.alloc(32)), limits });
  const nodes = [makeNode(), makeNode()];
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(0, 1, 60_000, hour - 1, hour, 5 * hour, 23 * hour, 24 * hour), fc.nat(1)), {
          minLength: 1,
          maxLength: 40,
        }),
        async (steps) => {
          const workspaceId = await insertTestWorkspace(database, new Date(start + (run += 1)));
          const model = makeModel(limits.operationsPerHour, limits.operationsPerDay);
          for (const [index, [pause, node]] of steps.entries()) {
            clock.advance(pause);
            const isAccepted = await requestFileOperation(nodes[node]!, {
              workspaceId,
              actor: { kind: 'program', name: 'test' },
              idempotencyKey: undefined,
              rawBody: '',
              command: {
                kind: 'CREATE',
                name: `S${index}`,
                attributeName: 'a',
                attributeType: 'string',
                expiryDays: 1,
                source: 'API',
                fileUrl: 'http://files.example/a.csv',
                callbackUrl: null,
                emails: [],
              },
            }).then(
              () => true,
              (error: { code?: string }) => {
                expect(error.code).toBe('SEGMENT_OPERATIONS_LIMITED');
                return false;
              },
            );
            expect(isAccepted).toBe(model(clock.now().getTime()));
          }
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  } finally {
    await drop();
  }
});

test('200 concurrent requests on two nodes: exactly 10 pass (fault F37)', async () => {
  const { database, drop } = await createTestDatabase();
  const clock = makeManualClock(new Date(start));
  const limits = documentedSegmentLimits;
  const nodes = [0, 1].map(() => ({ database, clock, encryption: makeEncryption(Buffer.alloc(32)), limits }));
  const workspaceId = await insertTestWorkspace(database, new Date(start));
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) =>
      requestFileOperation(nodes[index % 2]!, {
        workspaceId,
        actor: { kind: 'program', name: 'test' },
        idempotencyKey: undefined,
        rawBody: '',
        command: {
          kind: 'CREATE',
          name: `S${index}`,
          attributeName: 'a',
          attributeType: 'string',
          expiryDays: 1,
          source: 'API',
          fileUrl: 'http://files.example/a.csv',
          callbackUrl: null,
          emails: [],
        },
      }),
    ),
  );
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(10);
  const [row] = await database`select count(*) as segments from segments`;
  expect(row!.segments).toBe(10);
  await drop();
});
