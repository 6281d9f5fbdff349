import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postFile, requestFileOperation } from '../../src/app/segments/file-segments.ts';
import { documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import type { SegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { maxFileBytes } from '../../src/domain/limits/segments.ts';
import { readPostedFile } from '../../src/engine/segment-fill/download-file.ts';
import type { UploadCommand } from '../../src/http/console/segment-uploads.ts';
import { propertyRuns } from '../property-runs.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeSegmentBundle } from './segment-bundle.ts';
import type { SegmentBundle } from './segment-bundle.ts';

type Posting = { command?: UploadCommand; limits?: Partial<SegmentLimits> };

describe('uploaded segment files', () => {
  let bundle: SegmentBundle;
  beforeEach(async () => {
    bundle = await makeSegmentBundle();
  });
  afterEach(() => bundle.end());

  const users = ['ada@example.com', 'grace@example.com', 'tim@example.com'];
  const file = {
    attributeName: 'u_em',
    attributeType: 'string',
    fileUrl: null,
    callbackUrl: null,
    emails: [],
  } as const;
  const creation = (name = 'Posted'): UploadCommand => ({
    ...file,
    emails: [],
    kind: 'CREATE',
    name,
    expiryDays: 30,
    source: 'CONSOLE',
  });
  const change = (kind: 'ADD' | 'REMOVE' | 'REPLACE', name = 'Posted'): UploadCommand => ({
    ...file,
    emails: [],
    kind,
    name,
    segmentId: undefined,
  });

  const post = (bytes: AsyncIterable<Uint8Array>, { command = creation(), limits = {} }: Posting = {}) =>
    postFile(
      { database: bundle.database, clock: bundle.clock, limits: { ...documentedSegmentLimits, ...limits } },
      { workspaceId: bundle.workspaceId, actor: { kind: 'program', name: 'Console' }, command, bytes },
    );

  describe('an uploaded file', () => {
    const content = `${users[0]}\r\nnobody@example.com\n\n"quoted"\n${users[2]}\n${users[0]}\n\xe9a,b`;

    test('has the same counts, members and rejected lines as when it is downloaded', async () => {
      await bundle.addUsers(users);
      await bundle.create({ name: 'Downloaded', file_url: bundle.serve(content) });
      await bundle.fill();
      const rejects = await bundle.rejects();
      await bundle.database`delete from segment_rejects`;
      const accepted = await post(chunksOf(content));
      expect(await bundle.segment('Posted')).toMatchObject({
        id: accepted.segmentId,
        state: 'FILLING',
        source: 'CONSOLE',
      });
      await bundle.fill();

      expect(await bundle.members('Posted')).toEqual([users[0], users[2]]);
      expect(await bundle.members('Posted')).toEqual(await bundle.members('Downloaded'));
      expect(rejects.length).toBeGreaterThan(2);
      expect(await bundle.rejects()).toEqual(rejects);
      const [posted, downloaded] = [await bundle.operation(1, 'Posted'), await bundle.operation(1, 'Downloaded')];
      for (const field of ['state', 'status', 'bytes_read', 'values_found', 'values_processed', 'user_count'])
        expect([field, posted[field]]).toEqual([field, downloaded[field]]);
      expect([posted.id, posted.file_url]).toEqual([accepted.operationId, null]);
    });

    test('adds, removes and replaces users', async () => {
      await bundle.addUsers(users);
      await post(chunksOf(users[0]!));
      await post(chunksOf(users[1]!), { command: change('ADD') });
      await bundle.fill();
      expect(await bundle.members('Posted')).toEqual([users[0], users[1]]);
      await post(chunksOf(users[0]!), { command: change('REMOVE') });
      await bundle.fill();
      expect(await bundle.members('Posted')).toEqual([users[1]]);
      await post(chunksOf(users[2]!), { command: change('REPLACE') });
      await bundle.fill();
      expect(await bundle.members('Posted')).toEqual([users[2]]);
    });

    test('is stored in pieces of 1 MiB with the same bytes, however they arrive', async () => {
      const total = 3 * 1024 * 1024 + 17;
      const bytes = Buffer.alloc(total, '0123456789\n');
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 0, max: total }), { maxLength: 8 }), async (cuts) => {
          await bundle.database`truncate segment_file_pieces`;
          const ends = [...cuts.toSorted((a, b) => a - b), total];
          const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
          const { operationId } = await post(chunksOf(...chunks), { command: creation(`Cut ${(cutNumber += 1)}`) });
          const pieces: Buffer[] = [];
          for await (const piece of readPostedFile(bundle.database, operationId)) pieces.push(piece);
          expect(pieces.map((piece) => piece.length)).toEqual([1048576, 1048576, 1048576, 17]);
          expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
        }),
        { numRuns: propertyRuns(8) },
      );
    });
    let cutNumber = 0;

    test('is deleted after its operation succeeded or failed', async () => {
      await post(chunksOf(users[0]!));
      await post(chunksOf(Buffer.from('\ufeffada', 'utf16le')), { command: creation('Unreadable') });
      expect((await readTraces()).pieces).toBe(2);
      await bundle.fill();
      expect((await bundle.operation(1, 'Posted')).state).toBe('SUCCEEDED');
      expect((await bundle.operation(1, 'Unreadable')).state).toBe('FAILED');
      expect((await readTraces()).pieces).toBe(0);
    });

    test('may be empty', async () => {
      await post(chunksOf());
      await bundle.fill();
      expect(await bundle.operation(1, 'Posted')).toMatchObject({ status: 201, values_found: 0, user_count: 0 });
    });
  });

  describe('a rejected file', () => {
    test('is cut off at the first byte over 150 MB, and one of exactly 150 MB is accepted', async () => {
      const block = Buffer.alloc(1024 * 1024, 'a@example.com\n');
      let read = 0;
      async function* fileOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
        yield block;
        for (const chunk of chunks) {
          read += 1;
          yield chunk;
        }
      }
      const before = await readTraces();
      // In one chunk, which nobody reads: memory that is never touched.
      const refusal = post(fileOf(Buffer.alloc(maxFileBytes - block.length + 1), Buffer.alloc(1)));
      await expect(refusal).rejects.toMatchObject({
        code: 'SEGMENT_FIELD_INVALID',
        context: { field: 'file', reason: expect.stringContaining('150MB') },
      });
      expect(read).toBe(1);
      expect(await readTraces()).toEqual(before);

      const { operationId } = await post(fileOf(...Array<Buffer>(maxFileBytes / block.length - 1).fill(block)));
      const [kept] = await bundle.database`
        select sum(octet_length(bytes))::bigint as bytes from segment_file_pieces where operation_id = ${operationId}`;
      expect(kept!.bytes).toBe(maxFileBytes);
    });

    test('leaves nothing if it breaks off', async () => {
      const before = await readTraces();
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(2_500_000, 'a\n');
        throw new Error('aborted');
      }
      await expect(post(broken())).rejects.toThrow('aborted');
      expect(await readTraces()).toEqual(before);
      // The connection is as it was: the same file in full is taken.
      await post(chunksOf('a\n'));
    });

    test.each([
      ['whose name is in use', { command: creation('Taken') }, 'SEGMENT_NAME_TAKEN'],
      ['whose segment does not exist', { command: change('ADD', 'Unknown') }, 'SEGMENT_NOT_FOUND'],
      [
        'of another attribute',
        { command: { ...change('ADD', 'Taken'), attributeName: 'u_mb' } as UploadCommand },
        'SEGMENT_FIELD_INVALID',
      ],
      ['beyond the operations of an hour', { limits: { operationsPerHour: 1 } }, 'SEGMENT_OPERATIONS_LIMITED'],
      ['beyond the active segments', { limits: { activeSegments: 1 } }, 'SEGMENT_ACTIVE_LIMITED'],
    ] as const)('is not read if it is one %s', async (_what, posting: Posting, code) => {
      await post(chunksOf('a'), { command: creation('Taken') });
      const before = await readTraces();
      let isRead = false;
      async function* watched(): AsyncGenerator<Uint8Array> {
        isRead = true;
        yield Buffer.from('a');
      }
      await expect(post(watched(), posting)).rejects.toMatchObject({ code });
      expect(isRead).toBe(false);
      expect(await readTraces()).toEqual(before);
    });

    test('leaves nothing if its name was taken during the upload', async () => {
      async function* slow(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('a\n');
        await post(chunksOf('b'));
      }
      await expect(post(slow())).rejects.toMatchObject({ code: 'SEGMENT_NAME_TAKEN' });
      expect(await readTraces()).toMatchObject({ segments: 1, operations: 1, pieces: 1 });
    });
  });

  test('holds no transaction open during an upload: other operations of the workspace are accepted and processed', async () => {
    await bundle.addUsers(users);
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${users[0]}\n`);
      expect((await bundle.create({ name: 'Meanwhile', file_url: bundle.serve(users[1]!) })).statusCode).toBe(202);
      await bundle.fill();
      expect(await bundle.members('Meanwhile')).toEqual([users[1]]);
      const [open] = await bundle.database`
        select count(*) as transactions from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`;
      expect(open!.transactions).toBe(0);
      yield Buffer.from(`${users[2]}\n`);
    }
    await post(slow());
    await bundle.fill();
    expect(await bundle.members('Posted')).toEqual([users[0], users[2]]);
  });

  /** Everything that a file operation leaves: rows and limits. */
  async function readTraces(): Promise<Record<string, number>> {
    const [row] = await bundle.database`
      select (select count(*) from segments) as segments, (select count(*) from segment_operations) as operations,
        (select count(*) from segment_file_pieces) as pieces, (select count(*) from limit_windows) as limits`;
    return row as Record<string, number>;
  }
});

describe('the limits of segment operations', () => {
  const start = Date.parse('2026-03-01T12:00:00Z');
  const hour = 3_600_000;

  test('match the model of two sliding windows exactly, on two nodes, at any pauses (reliability R12)', async () => {
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

  test('pass exactly 10 of 200 concurrent requests on two nodes (fault F37)', async () => {
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
});

async function* chunksOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
