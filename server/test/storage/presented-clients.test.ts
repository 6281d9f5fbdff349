import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { hashSecret, limitSubject } from '../../src/domain/access/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { Database } from '../../src/storage/database.ts';
import { countClients } from '../../src/storage/keys/presented-clients.ts';
import type { SearchedClient } from '../../src/storage/keys/presented-clients.ts';
import { countEvent, findLimitWindows } from '../../src/storage/limits/sliding-windows.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-03-01T12:00:00Z');
const windows = [{ events: 5, seconds: 60 }];

describe('clients that are counted and looked up in one message', () => {
  let bundle: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    // As a node counts: across all workspaces.
    database = bundle.application.acrossWorkspaces();
  });
  afterAll(() => bundle.drop());

  let made = 0;
  const nextSubject = () => limitSubject([`subject ${(made += 1)}`]);

  async function makeClient(caller = 0): Promise<SearchedClient & { keyId: string }> {
    const workspaceId = await insertTestWorkspace(bundle.database, at);
    const encryption = makeEncryption(Buffer.alloc(32, 7));
    const command = { workspaceId, kind: 'oauth', name: 'Key', at } as const;
    const { key, secret } = await createKey({ encryption }, bundle.database, command);
    return { keyId: key.id, pair: nextSubject(), workspaceId, secretHash: hashSecret(secret), caller };
  }

  /** Makes the counters of a caller that has guessed once. */
  async function makeGuesser() {
    const counters = ['guess-client-address', 'guess-address', 'guess-client'].map((operation) => ({
      operation,
      subject: nextSubject(),
    }));
    await countEvent(bundle.database, { ...counters[1]!, at, windows });
    return counters;
  }

  const count = (clients: SearchedClient[], callers: Awaited<ReturnType<typeof makeGuesser>>[] = [[]]) =>
    countClients(database, { operation: 'token', at, windows, clients, callers });
  const eventsOf = ({ pair }: SearchedClient) => findLimitWindows(database, [{ operation: 'token', subject: pair }]);

  test('are counted in their order, whether their keys are known or not', async () => {
    const [known, other] = [await makeClient(), await makeClient()];
    const wrong = { ...(await makeClient()), secretHash: hashSecret('wrong') };
    const elsewhere = { ...(await makeClient()), workspaceId: other.workspaceId };
    const asked = [other, wrong, known, elsewhere];
    const found = await count(asked);
    expect(found.map(({ key }) => key?.id)).toEqual([other.keyId, undefined, known.keyId, undefined]);
    expect(found.map(({ count }) => count)).toEqual(asked.map(() => ({ counted: true, isFirst: true })));
    expect(found[0]!.key).toMatchObject({ kind: 'oauth', dataCenter: '01', secretHash: other.secretHash });
    for (const client of asked) expect(await eventsOf(client)).toEqual([[at]]);
  });

  test('are counted exactly up to the limit by concurrent batches in other orders', async () => {
    const asked = await Promise.all(Array.from({ length: 4 }, () => makeClient()));
    const batches = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const isTurned = number % 2 === 1;
        const found = await count(isTurned ? asked.toReversed() : asked);
        return isTurned ? found.toReversed() : found;
      }),
    );
    for (const place of asked.keys()) {
      const counts = batches.map((batch) => batch[place]!.count).filter((one) => one !== 'undecided');
      expect(counts.filter(({ counted }) => counted)).toHaveLength(5);
      expect(counts.filter(({ isFirst }) => isFirst)).toHaveLength(1);
    }
  });

  test('are not counted if their caller has guesses, unless they have waited for them', async () => {
    const [guessing, innocent, waited] = [await makeClient(1), await makeClient(), await makeClient(1)];
    const innocentCounters = [{ operation: 'guess-address', subject: nextSubject() }];
    const found = await count(
      [guessing, innocent, { ...waited, caller: undefined }],
      [innocentCounters, await makeGuesser()],
    );
    expect(found.map(({ key }) => key?.id)).toEqual([guessing.keyId, innocent.keyId, waited.keyId]);
    const counted = { counted: true, isFirst: true };
    expect(found.map(({ count }) => count)).toEqual(['undecided', counted, counted]);
    expect(await eventsOf(guessing)).toEqual([[]]);
    expect(await eventsOf(waited)).toEqual([[at]]);
  });
});
