import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeSegmentBundle } from './segment-bundle.ts';
import type { SegmentBundle } from './segment-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: SegmentBundle;
beforeEach(async () => {
  bundle = await makeSegmentBundle();
});
afterEach(() => bundle.end());

const users = ['ada@example.com', 'grace@example.com', 'tim@example.com'];

describe('the creation of a file segment', () => {
  test('is accepted immediately with the documented body; the segment exists without users (interface 4.3, 3.1)', async () => {
    const answer = await bundle.create({ file_url: bundle.serve('ada@example.com') });
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({
      message: 'File-segment creation request accepted',
      success: true,
      cs_name: 'Buyers',
      cs_id: expect.stringMatching(/^[0-9a-f]{24}$/),
    });
    expect(await bundle.segment()).toMatchObject({ state: 'FILLING', kind: 'FILE', user_count: 0, source: 'API' });
    expect(bundle.asked).toEqual([]);
  });

  test('adds the users that the file names, without counting unknown values or creating users (fact 2.2)', async () => {
    await bundle.addUsers(users);
    await bundle.create({ file_url: bundle.serve('ada@example.com\nnobody@example.com\ntim@example.com\n') });
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.members()).toEqual(['ada@example.com', 'tim@example.com']);
    expect(await bundle.segment()).toMatchObject({ state: 'READY', version: 1, user_count: 2 });
    expect(await bundle.operation()).toMatchObject({
      state: 'SUCCEEDED',
      status: 201,
      values_found: 3,
      values_processed: 3,
      user_count: 2,
    });
    expect((await bundle.database`select count(*) as users from users`)[0]!.users).toBe(3);
  });

  test('ignores a value that matches two users (decision D23)', async () => {
    await bundle.addUsers(['same@example.com', 'same@example.com', 'ada@example.com']);
    await bundle.create({ file_url: bundle.serve('same@example.com\nada@example.com') });
    await bundle.fill();
    expect(await bundle.members()).toEqual(['ada@example.com']);
    expect(await bundle.operation()).toMatchObject({ values_found: 2, values_processed: 2, user_count: 1 });
  });

  test('makes a user a member once whom two lines name by two devices, and replaces such a user once', async () => {
    await bundle.addUsers(['ada@example.com']);
    await bundle.database`
      insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
      select workspace_id, bucket, id, 'device:push_id', 'string', address
      from users, unnest('{phone,tablet}'::text[]) as address`;
    const attribute_name = 'PUSH_ID';
    await bundle.create({ attribute_name, file_url: bundle.serve('phone\ntablet') });
    await bundle.fill();
    expect(await bundle.members()).toEqual(['ada@example.com']);
    for (const operation of ['replace', 'remove-users', 'replace'] as const) {
      await bundle.change(operation, { attribute_name, file_url: bundle.serve('tablet\nphone') });
      await bundle.fill();
    }
    expect(await bundle.members()).toEqual(['ada@example.com']);
    expect(await bundle.operation(4)).toMatchObject({ state: 'SUCCEEDED', user_count: 1, counted_users: 1 });
  });

  test('compares numbers as numbers, and texts byte for byte (decision D24)', async () => {
    await bundle.addUsers([7, 8.5, -0], 'points');
    await bundle.create({
      attribute_name: 'points',
      attribute_type: 'double',
      file_url: bundle.serve('7.0\n85e-1\n0'),
    });
    await bundle.create({ name: 'As texts', attribute_name: 'points', file_url: bundle.serve('7\n8.5\n0') });
    await bundle.fill();
    expect((await bundle.operation()).user_count).toBe(3);
    expect((await bundle.operation(1, 'As texts')).user_count).toBe(0);
  });

  test.each(['uid', 'customer_id', 'USER_ATTRIBUTE_UNIQUE_ID'])(
    'treats the attribute %s as the customer id',
    async (attribute) => {
      await bundle.addUsers(['a']);
      await bundle.create({ attribute_name: attribute, file_url: bundle.serve('user-u_em-0-a\nother') });
      await bundle.fill();
      expect((await bundle.operation()).user_count).toBe(1);
    },
  );

  test('rejects a name that is in use, even by an archived segment, and stores and counts nothing', async () => {
    await bundle.create();
    await bundle.call('PATCH', '/v2/custom-segments/archive', { body: { name: 'Buyers' } });
    const answer = await bundle.create();
    expect([answer.statusCode, answer.json()]).toEqual([
      409,
      { title: 'Resource not created', description: 'Name already exists : Buyers' },
    ]);
    const [rows] = await bundle.database`select count(*) as operations from segment_operations`;
    expect(rows!.operations).toBe(1);
  });

  test('accepts one of 100 concurrent requests with one name', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => bundle.create()));
    const statuses = answers.map((answer) => answer.statusCode).sort();
    expect(statuses).toEqual([202, ...Array.from({ length: 99 }, () => 409)]);
  });

  test('repeats the first response for the same Idempotency-Key (decision D4)', async () => {
    const sending = { headers: { 'idempotency-key': 'k1' } };
    const first = await bundle.create({}, sending);
    expect((await bundle.create({}, sending)).json()).toEqual(first.json());
    expect((await bundle.create({ expiry_time: 31 }, sending)).statusCode).toBe(409);
  });
});

describe('changes of a file segment', () => {
  const fillWith = async (...values: string[]) => {
    await bundle.addUsers(users);
    await bundle.create({ file_url: bundle.serve(values.join('\n')) });
    await bundle.fill();
  };

  test('add users, without counting existing members again', async () => {
    await fillWith(users[0]!);
    const answer = await bundle.change('add-users', { file_url: bundle.serve(`${users[0]}\n${users[1]}`) });
    expect([answer.statusCode, answer.json().message]).toEqual([202, 'File-segment user-add request accepted']);
    expect((await bundle.segment()).state).toBe('FILLING');
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[0], users[1]]);
    expect(await bundle.operation(2)).toMatchObject({ user_count: 1, counted_users: 1 });
    expect(await bundle.segment()).toMatchObject({ state: 'READY', version: 2, user_count: 2 });
  });

  test('remove users, and count those who were members', async () => {
    await fillWith(users[0]!, users[1]!);
    const answer = await bundle.change('remove-users', { file_url: bundle.serve(`${users[1]}\n${users[2]}`) });
    expect(answer.json().message).toBe('File-segment user-remove request accepted');
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[0]]);
    expect(await bundle.operation(2)).toMatchObject({ user_count: 1, counted_users: 0 });
  });

  test('replace users, and count only new ones against the day', async () => {
    await fillWith(users[0]!, users[1]!);
    const answer = await bundle.change('replace', { file_url: bundle.serve(`${users[1]}\n${users[2]}`) });
    expect(answer.json().message).toBe('File-segment user-replace request accepted');
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[1], users[2]]);
    expect(await bundle.operation(2)).toMatchObject({ user_count: 2, counted_users: 1 });
  });

  test('make a user who was removed and added again a member once', async () => {
    await fillWith(users[0]!);
    for (const operation of ['remove-users', 'add-users', 'add-users'] as const)
      await bundle.change(operation, { file_url: bundle.serve(users[0]!) });
    expect(await bundle.fill()).toBe(3);
    expect(await bundle.members()).toEqual([users[0]]);
    expect((await bundle.segment()).user_count).toBe(1);
  });

  test('happen one after another on one segment, whatever the workers', async () => {
    await bundle.addUsers(users);
    await bundle.create({ file_url: bundle.serve(users.join('\n')) });
    await bundle.change('remove-users', { file_url: bundle.serve(users[0]!) });
    await bundle.change('add-users', { file_url: bundle.serve(users[0]!) });
    await Promise.all(['a', 'b', 'c'].map((owner) => bundle.fill(bundle.makeFills(owner))));
    while ((await bundle.fill()) > 0);
    expect(await bundle.members()).toEqual(users);
    expect(await bundle.segment()).toMatchObject({ state: 'READY', version: 3, user_count: 3 });
  });

  test('find the segment by cs_id before the name', async () => {
    await fillWith(users[0]!);
    const { id } = await bundle.segment();
    const answer = await bundle.change('add-users', { name: 'Nobody', cs_id: id, file_url: bundle.serve(users[1]!) });
    expect(answer.json()).toMatchObject({ cs_name: 'Buyers', cs_id: id });
  });

  test('leave the members unchanged and the segment ready if they fail', async () => {
    await fillWith(users[0]!);
    await bundle.change('replace', { file_url: bundle.serve('<html>', { 'content-type': 'text/html' }) });
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[0]]);
    expect(await bundle.segment()).toMatchObject({ state: 'READY', version: 1 });
    expect(await bundle.operation(2)).toMatchObject({
      status: 400,
      error_message: 'File content type is not supported. The members of the custom_segment are unchanged.',
    });
  });

  test.each(['add-users', 'remove-users', 'replace'] as const)(
    'return 404 for %s of an unknown segment',
    async (operation) => {
      const answer = await bundle.change(operation);
      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        { title: 'Entity Not Found', description: 'Segment not found with the given name: Buyers' },
      ]);
    },
  );

  test('are rejected for another attribute than that of the segment', async () => {
    await fillWith(users[0]!);
    const answer = await bundle.change('add-users', { attribute_name: 'u_mb' });
    expect([answer.statusCode, answer.json().title]).toEqual([400, 'Invalid Request']);
    expect(answer.json().description).toContain('attribute_name');
    expect((await bundle.segment()).state).toBe('READY');
  });
});

describe('archiving a file segment', () => {
  const patch = (path: string, body: object) => bundle.call('PATCH', `/v2/custom-segments/${path}`, { body });

  test('can be undone: both return 200 with the documented texts, and the members are restored', async () => {
    await bundle.addUsers(users);
    await bundle.create({ file_url: bundle.serve(users[0]!) });
    await bundle.fill();
    const archived = await patch('archive', { name: 'Buyers' });
    expect([archived.statusCode, archived.json().message]).toEqual([200, 'Successfully archived the custom segment']);
    expect((await bundle.segment()).state).toBe('ARCHIVED');
    const change = await bundle.change('add-users');
    expect([change.statusCode, change.json().description]).toEqual([400, 'Segment is archived: Buyers']);
    const back = await patch('unarchive', { cs_id: archived.json().cs_id });
    expect([back.statusCode, back.json().message]).toEqual([200, 'Successfully unarchived the custom segment']);
    expect(await bundle.segment()).toMatchObject({ state: 'READY', user_count: 1 });
  });

  test('returns 404 for an unknown segment', async () => {
    expect((await patch('archive', { name: 'None' })).statusCode).toBe(404);
    expect((await patch('unarchive', { cs_id: 'a'.repeat(24) })).statusCode).toBe(404);
  });

  test('happens automatically after expiry_time days, not a second earlier (interface 3.1)', async () => {
    await bundle.create({ expiry_time: 2 });
    bundle.clock.advance(2 * 86_400_000 - 1000);
    expect(await bundle.expire()).toBe(0);
    bundle.clock.advance(1000);
    expect(await bundle.expire()).toBe(1);
    expect((await bundle.segment()).state).toBe('ARCHIVED');
    const again = await bundle.create({ expiry_time: 2 });
    expect([again.statusCode, again.json().description]).toEqual([409, 'Name already exists : Buyers']);
  });

  test('deletes the members permanently after 30 days', async () => {
    await bundle.addUsers(users);
    await bundle.create({ file_url: bundle.serve(users.join('\n')) });
    await bundle.fill();
    await patch('archive', { name: 'Buyers' });
    bundle.clock.advance(30 * 86_400_000 - 1000);
    await bundle.tidy();
    expect(await bundle.members()).toHaveLength(3);
    bundle.clock.advance(2000);
    await bundle.tidy();
    expect(await bundle.members()).toEqual([]);
    await patch('unarchive', { name: 'Buyers' });
    expect(await bundle.segment()).toMatchObject({ state: 'READY', user_count: 0 });
  });
});

describe('the download', () => {
  test('is retried after 5, 30 and 120 s, then reported with the documented text (decision D25)', async () => {
    await bundle.create({ file_url: `${bundle.origin}/missing.csv`, callback_url: `${bundle.origin}/callback` });
    const waits: number[] = [];
    for (let second = 0; second <= 200; second += 1) {
      if ((await bundle.fill()) > 0) waits.push(second);
      bundle.clock.advance(1000);
    }
    expect(waits).toEqual([0, 5, 35, 155]);
    expect(bundle.asked).toHaveLength(4);
    expect(await bundle.operation()).toMatchObject({
      state: 'FAILED',
      status: 400,
      error_message: 'File download failed. Created custom_segment contains 0 users.',
    });
    expect(await bundle.segment()).toMatchObject({ state: 'FAILED', user_count: 0 });
  });

  test('fills the segment with the file of the second attempt if that succeeds', async () => {
    await bundle.addUsers(users);
    let calls = 0;
    bundle.files.set('/flaky.csv', (_request, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(503).end();
      else response.writeHead(200, { 'content-type': 'text/csv' }).end(users[1]);
    });
    await bundle.create({ file_url: `${bundle.origin}/flaky.csv` });
    await bundle.fill();
    bundle.clock.advance(5_000);
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[1]]);
  });

  test('counts nothing of a file that was cut off', async () => {
    await bundle.addUsers(users);
    let calls = 0;
    bundle.files.set('/cut.csv', (_request, response) => {
      calls += 1;
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '1000' });
      if (calls === 1) response.write(`${users[0]}\n`, () => response.destroy());
      else response.end(`${users[1]}\n`.padEnd(1000, '\n'));
    });
    await bundle.create({ file_url: `${bundle.origin}/cut.csv` });
    await bundle.fill();
    expect((await bundle.segment()).state).toBe('FILLING');
    bundle.clock.advance(5_000);
    await bundle.fill();
    expect(await bundle.members()).toEqual([users[1]]);
  });

  test('fails immediately with the documented text for a file over 150 MB', async () => {
    bundle.files.set('/large.csv', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(151 * 1024 * 1024, 'x'), { level: 1 }));
    });
    await bundle.create({ file_url: `${bundle.origin}/large.csv` });
    await bundle.fill();
    expect(await bundle.operation()).toMatchObject({
      status: 400,
      error_message: 'File size cannot be greater than 150MB. Created custom_segment contains 0 users.',
    });
  });

  test('fails with the name of an unknown encoding, and is not retried', async () => {
    bundle.files.set('/packed.csv', (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'compress' }).end('user-1'),
    );
    await bundle.create({ file_url: `${bundle.origin}/packed.csv`, callback_url: `${bundle.origin}/callback` });
    await bundle.fill();
    expect(await bundle.operation()).toMatchObject({
      state: 'FAILED',
      status: 400,
      error_message:
        'File download failed: the content encoding compress is not supported. Created custom_segment contains 0 users.',
    });
  });

  test('accepts an object that keeps the token of its upload', async () => {
    await bundle.addUsers(users);
    bundle.files.set('/stored.csv', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'aws-chunked,gzip' });
      response.end(gzipSync(users.join('\n')));
    });
    await bundle.create({ file_url: `${bundle.origin}/stored.csv` });
    await bundle.fill();
    expect(await bundle.members()).toHaveLength(users.length);
  });

  test('fails for a private address without a request to it (decision D29)', async () => {
    await bundle.create({ file_url: 'http://10.1.2.3/secret.csv' });
    await bundle.fill();
    expect(await bundle.operation()).toMatchObject({
      status: 400,
      error_message: 'File download failed. Created custom_segment contains 0 users.',
    });
  });
});

describe('a crash during a segment fill', () => {
  test('makes another worker start again from the file after the lease, with one result and one callback', async () => {
    await bundle.addUsers(users);
    const url = bundle.serve(users.join('\n'));
    await bundle.create({ file_url: url, callback_url: `${bundle.origin}/cb` });
    await bundle.database`
      update segment_operations set state = 'FILLING', owner = 'dead', lease_until = ${new Date(bundle.clock.now().getTime() + 60_000)}, attempts = 1`;
    expect(await bundle.fill()).toBe(0);
    bundle.clock.advance(60_001);
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.members()).toEqual(users);
    expect(await bundle.operation()).toMatchObject({ state: 'SUCCEEDED', crashes: 1 });
    expect((await bundle.database`select count(*) as callbacks from callbacks`)[0]!.callbacks).toBe(1);
  });

  test('is not counted if a clock is moved four times during the download', async () => {
    await bundle.addUsers(['a@x.io', 'b@x.io']);
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    bundle.files.set('/slow.csv', (_request, response) => {
      asked.resolve();
      void goOn.promise.then(() => response.writeHead(200, { 'content-type': 'text/csv' }).end('a@x.io\nb@x.io\n'));
    });
    await bundle.create({ file_url: `${bundle.origin}/slow.csv` });
    const filled = bundle.fill();
    await asked.promise;
    for (let move = 1; move <= 4; move += 1) {
      bundle.clock.setOffset(move * 3_600_000);
      expect(await bundle.fill(bundle.makeFills(`thief ${move}`))).toBe(0);
    }
    goOn.resolve();
    expect(await filled).toBe(1);
    const [operation] = await bundle.database`select state, user_count, crashes from segment_operations`;
    expect(operation).toEqual({ state: 'SUCCEEDED', user_count: 2, crashes: 0 });
  });

  test('lets a worker that lost its lease change nothing', async () => {
    await bundle.addUsers(users);
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let calls = 0;
    bundle.files.set('/slow.csv', async (_request, response) => {
      calls += 1;
      response.writeHead(200, { 'content-type': 'text/csv' });
      if (calls === 1) {
        reached.resolve();
        await held.promise;
        response.end(users[0]);
      } else response.end(users[1]);
    });
    await bundle.create({ file_url: `${bundle.origin}/slow.csv` });
    const slow = bundle.fill(bundle.makeFills('slow'));
    await reached.promise;
    await bundle.database`update segment_operations set lease_until = ${bundle.clock.now()}`;
    expect(await bundle.fill(bundle.makeFills('quick'))).toBe(1);
    held.resolve();
    await slow;
    expect(await bundle.members()).toEqual([users[1]]);
    expect((await bundle.operation()).crashes).toBe(1);
  });

  test('is not counted for a graceful stop, which returns the operation', async () => {
    const reached = Promise.withResolvers<void>();
    bundle.files.set('/endless.csv', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write('a\n');
      reached.resolve();
    });
    await bundle.create({ file_url: `${bundle.origin}/endless.csv` });
    const fills = bundle.makeFills('stopping');
    await fills.runOnce(bundle.clock.now());
    await reached.promise;
    fills.abort();
    await fills.settled();
    expect(await bundle.operation()).toMatchObject({ state: 'QUEUED', attempts: 0, crashes: 0, owner: null });
  });

  const endSessions = (): Promise<unknown> => bundle.database`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

  /** Answers with the head and the first line, and waits until the fill copies it into the database: it has a session then. */
  const beginFile = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write(`${users[0]}\n`);
    const copies = () => bundle.database`
      select 1 from pg_stat_activity where datname = current_database() and query ilike 'copy %' and state = 'active'`;
    await expect.poll(async () => (await copies()).length, { timeout: 10_000 }).toBe(1);
  };

  test('is not counted if the database ends the session of the fill four times', async () => {
    await bundle.addUsers(users);
    let cuts = 0;
    bundle.files.set('/cut.csv', async (_request, response) => {
      await beginFile(response);
      if (cuts++ < 4) await endSessions();
      response.end(users.slice(1).join('\n'));
    });
    await bundle.create({ file_url: `${bundle.origin}/cut.csv`, callback_url: `${bundle.origin}/cb` });
    for (let round = 1; round <= 4; round += 1) {
      expect(await bundle.fill()).toBe(1);
      expect(await bundle.operation()).toMatchObject({ state: 'WAITING', attempts: 0, crashes: 0, owner: null });
      expect(await bundle.fill()).toBe(0);
      bundle.clock.advance(5_000);
    }
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.operation()).toMatchObject({ state: 'SUCCEEDED', crashes: 0 });
    expect(await bundle.members()).toEqual(users);
    expect((await bundle.database`select count(*) as callbacks from callbacks`)[0]!.callbacks).toBe(1);
  });

  /** Disk full, for so many changes of the operation to a state. */
  const refuse = (state: string, times: number): Promise<unknown> =>
    bundle.database.unsafe(`
      create sequence refusals;
      create function refuse_state() returns trigger language plpgsql as $$
      begin
        if new.state = '${state}' and nextval('refusals') <= ${times} then
          raise exception 'no space left on device' using errcode = 'disk_full';
        end if;
        return new;
      end $$;
      create trigger refuse_state before update on segment_operations for each row execute function refuse_state()`);

  test('is not counted if the database rejects the return of the operation, which is retried until it succeeds', async () => {
    await bundle.addUsers(users);
    await refuse('WAITING', 3);
    let asked = 0;
    bundle.files.set('/refused.csv', async (_request, response) => {
      await beginFile(response);
      if (asked++ === 0) await endSessions();
      response.end(users.slice(1).join('\n'));
    });
    await bundle.create({ file_url: `${bundle.origin}/refused.csv` });
    expect(await bundle.fill()).toBe(1);
    expect((await bundle.database`select last_value as tries from refusals`)[0]!.tries).toBe(4);
    expect(await bundle.operation()).toMatchObject({ state: 'WAITING', attempts: 0, crashes: 0, owner: null });
    bundle.clock.advance(5_000);
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.operation()).toMatchObject({ state: 'SUCCEEDED', crashes: 0 });
  });

  test('is not counted if the database rejects the stored failure, which is repeated with the same result', async () => {
    await refuse('FAILED', 1);
    await bundle.create({ file_url: bundle.serve('a\n', { 'content-type': 'text/html' }) });
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.operation()).toMatchObject({ state: 'WAITING', attempts: 0, crashes: 0, owner: null });
    bundle.clock.advance(5_000);
    expect(await bundle.fill()).toBe(1);
    expect(await bundle.operation()).toMatchObject({ state: 'FAILED', status: 400, crashes: 0 });
  });

  test('ends the operation at the third time, with status 500 and the documented text', async () => {
    await bundle.create({ callback_url: `${bundle.origin}/cb` });
    for (let crash = 0; crash < 3; crash += 1) {
      await bundle.database`
        update segment_operations set state = 'FILLING', owner = 'dead', lease_until = ${bundle.clock.now()}, crashes = ${crash}`;
      bundle.clock.advance(1);
      if (crash < 2) continue;
      await bundle.fill();
    }
    expect(await bundle.operation()).toMatchObject({
      state: 'FAILED',
      status: 500,
      error_message: 'Internal Server Error. Contact Carillon Team.',
    });
  });

  test('leaves staging tables that are dropped, unlike those in use', async () => {
    await bundle.create();
    const { id } = await bundle.operation();
    await bundle.database`
      update segment_operations set state = 'FILLING', owner = 'w', lease_until = ${bundle.clock.now()}, attempts = 2`;
    for (const key of [`${id}_1`, `${id}_2`, `${'f'.repeat(24)}_1`])
      await bundle.database`create unlogged table ${bundle.database(`segment_lines_${key}`)} (line int)`;
    await bundle.tidy();
    const left = await bundle.database`select relname from pg_class where relname like 'segment_lines_%'`;
    expect(left.map((row) => row.relname)).toEqual([`segment_lines_${id}_2`]);
  });
});

describe('the callback and the report of an operation', () => {
  const bodyOf = async () => JSON.parse((await bundle.database`select body from callbacks`)[0]!.body);

  test('have exactly the documented members for a success (interface 2.7)', async () => {
    await bundle.addUsers(users);
    const received: { body: string; id: unknown }[] = [];
    bundle.files.set('/cb', (request, response) => {
      let body = '';
      request
        .on('data', (piece) => (body += piece))
        .on('end', () => {
          received.push({ body, id: request.headers['webhook-id'] });
          response.writeHead(200).end();
        });
    });
    await bundle.create({ file_url: bundle.serve(`${users[0]}\n\nx,y\n`), callback_url: `${bundle.origin}/cb` });
    await bundle.fill();
    expect(await bundle.callbacks()).toBe(1);
    expect(received).toHaveLength(1);
    expect(JSON.parse(received[0]!.body)).toEqual({
      db_name: bundle.dbName,
      segment_name: 'Buyers',
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 201,
      values_found: 3,
      values_processed: 1,
      user_count: 1,
    });
    expect(await bundle.rejects()).toEqual([
      [2, 'the line is empty'],
      [3, 'the value contains a comma'],
    ]);
  });

  test('have the cause and no counts for a failure', async () => {
    await bundle.create({
      file_url: bundle.serve('<html>', { 'content-type': 'text/html' }),
      callback_url: `${bundle.origin}/cb`,
    });
    await bundle.fill();
    expect(await bodyOf()).toEqual({
      db_name: bundle.dbName,
      segment_name: 'Buyers',
      request_id: expect.any(String),
      status: 400,
      error_message: 'File content type is not supported. Created custom_segment contains 0 users.',
    });
  });

  test('are sent and stored for the addresses, with counts and rejected lines', async () => {
    await bundle.create({ file_url: bundle.serve('a,b\n'), emails: ['ops@example.com', 'ops@example.com'] });
    await bundle.fill();
    const [email] = await bundle.database`select recipients, subject, body, state from mails`;
    expect(email).toMatchObject({ recipients: ['ops@example.com'], state: 'KEPT' });
    expect(email!.subject).toContain('Buyers');
    expect(email!.body).toContain('the value contains a comma');
  });
});

describe('the limits of segments (interface 8, decision D22)', () => {
  test('allow exactly 10 operations an hour and 100 a day of any kind, without counting rejected ones', async () => {
    const limited = await makeSegmentBundle({ limits: { operationsPerHour: 3, operationsPerDay: 5 } });
    try {
      const statuses: number[] = [];
      const ask = async () => statuses.push((await limited.create({ name: `S${statuses.length}` })).statusCode);
      for (let index = 0; index < 4; index += 1) await ask();
      expect(statuses).toEqual([202, 202, 202, 429]);
      const refused = await limited.change('add-users', { name: 'S0' });
      expect([refused.statusCode, refused.json()]).toEqual([
        429,
        {
          title: 'Too Many Requests',
          description: 'File segment operations limit breached. Please retry after some time.',
        },
      ]);
      expect(refused.headers['retry-after']).toBe('3600');
      expect(await limited.segment('S3')).toBeUndefined();
      limited.clock.advance(3_600_000);
      for (let index = 0; index < 3; index += 1) await ask();
      expect(statuses.slice(4)).toEqual([202, 202, 429]);
      limited.clock.advance(23 * 3_600_000);
      await ask();
      expect(statuses.at(-1)).toBe(202);
    } finally {
      await limited.end();
    }
  });

  test('allow 1,000 active segments of any kind; archiving frees one, unarchiving needs one', async () => {
    const limited = await makeSegmentBundle({ limits: { activeSegments: 2 } });
    try {
      await limited.create({ name: 'One' });
      await limited.create({ name: 'Two' });
      const refused = await limited.create({ name: 'Three' });
      expect([refused.statusCode, refused.json().title]).toEqual([429, 'Too Many Requests']);
      await limited.call('PATCH', '/v2/custom-segments/archive', { body: { name: 'One' } });
      expect((await limited.create({ name: 'Three' })).statusCode).toBe(202);
      const back = await limited.call('PATCH', '/v2/custom-segments/unarchive', { body: { name: 'One' } });
      expect(back.statusCode).toBe(429);
      expect((await limited.segment('One')).state).toBe('ARCHIVED');
    } finally {
      await limited.end();
    }
  });

  test('fail a file that exceeds the users of a day, and reject requests once these are used up', async () => {
    const limited = await makeSegmentBundle({ limits: { usersPerDay: 2 } });
    try {
      await limited.addUsers(users);
      await limited.create({ name: 'All', file_url: limited.serve(users.join('\n')) });
      await limited.fill();
      expect(await limited.members('All')).toEqual([]);
      expect(await limited.operation(1, 'All')).toMatchObject({
        status: 400,
        error_message: 'Users uploaded per day limit breached. Created custom_segment contains 0 users.',
      });
      await limited.create({ name: 'Two', file_url: limited.serve(users.slice(1).join('\n')) });
      await limited.fill();
      expect(await limited.members('Two')).toHaveLength(2);
      expect(limited.ended).toEqual(['failed', 'applied']);
      expect((await limited.create({ name: 'More' })).statusCode).toBe(429);
      limited.clock.advance(24 * 3_600_000);
      expect((await limited.create({ name: 'More' })).statusCode).toBe(202);
    } finally {
      await limited.end();
    }
  });
});

test('reports a file as applied even if the statistics for the planner could not be updated', async () => {
  const other = await makeSegmentBundle();
  try {
    await other.addUsers(users);
    await other.database`
      create or replace function analyze_table(analyzed text) returns void language plpgsql as $$
      begin
        if analyzed = 'segment_members' then raise 'none of your business'; end if;
      end $$`;
    await other.create({ file_url: other.serve(users.join('\n')) });
    await other.fill();
    expect([await other.operation(), other.ended]).toMatchObject([{ status: 201 }, ['applied']]);
  } finally {
    await other.end();
  }
});

test('counts every file of test/fixtures/csv as its expected.json says (torture)', async () => {
  const folder = join(import.meta.dirname, '..', 'fixtures', 'csv');
  const expected = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8')) as Record<string, object>;
  const files = (await readdir(folder)).filter((name) => name.endsWith('.csv'));
  expect(Object.keys(expected).sort()).toEqual(files.sort());
  await bundle.addUsers(['ada', 'grace', 'tim', 'Zürich', '東京', 'back\\slash', 'x'.repeat(1024)]);
  await bundle.addUsers([7, 8.5], 'points');
  for (const file of files) {
    const url = bundle.serve(await readFile(join(folder, file)));
    const isNumber = file.startsWith('number-');
    const attribute = isNumber ? { attribute_name: 'points', attribute_type: 'double' } : {};
    await bundle.create({ name: file, file_url: url, ...attribute });
    await bundle.fill();
    const { status, values_found, values_processed, user_count, error_message } = await bundle.operation(1, file);
    const counts = status === 201 ? { values_found, values_processed, user_count } : { error_message };
    expect({ file, status, ...counts }).toEqual({ file, ...expected[file] });
  }
});

test('counts any file as the simplest model does (decision D23)', async () => {
  const known = ['a', 'b', 'c', 'é', '1'];
  await bundle.addUsers([...known, 'c']);
  const cell = fc.constantFrom(
    'a',
    'b',
    'c',
    'é',
    'e\u0301',
    '1',
    '01',
    'z',
    '',
    'a,',
    '"a"',
    '#',
    'a b',
    'x'.repeat(1025),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(cell, { maxLength: 30 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      async (cells, end, isEnded) => {
        const name = `Model ${(run += 1)}`;
        const content = cells.join(end) + (isEnded && cells.length > 0 ? end : '');
        await bundle.create({ name, file_url: bundle.serve(content) });
        await bundle.fill();
        // A last empty cell without an end is no line.
        const lines = isEnded || cells.at(-1) !== '' ? cells : cells.slice(0, -1);
        const valid = lines
          .filter((line) => line !== '' && line.length <= 1024 && !/[,"#]/.test(line))
          .map((line) => line.normalize('NFC'));
        const distinct = [...new Set(valid)];
        expect(await bundle.operation(1, name)).toMatchObject({
          status: 201,
          values_found: lines.length,
          values_processed: distinct.length,
          user_count: distinct.filter((value) => known.includes(value) && value !== 'c').length,
        });
      },
    ),
    { numRuns: propertyRuns(60) },
  );
}, 120_000);
