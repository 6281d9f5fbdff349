import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());
beforeEach(async () => {
  await bundle.database`delete from erasures`;
});

const run = (...parameters: string[]) => runCommand(bundle, parameters);
const listStates = async () => (await bundle.database`select state from erasures`).map(({ state }) => state as string);
const cancelled = async () => {
  const select = bundle.database`
    select actor_id, actor_name, object_id, object_name, detail from audit_log where action = 'person.erase-cancel'
    order by at, id`;
  return [...(await select)];
};
async function askToDelete(customerId: string): Promise<string> {
  const body = { identity_type: 'customer_id', identity_value: customerId };
  const asked = await bundle.call('POST', `/v1/customer/delete?app_id=${bundle.workspaceId}`, {
    headers: bundle.basic(),
    body,
  });
  expect(asked.status).toBe(200);
  const [erasure] = await bundle.database`select id from erasures where state = 'PENDING'`;
  return erasure!.id as string;
}
const refusalOf = (customerId: string) =>
  `carillon: No deletion of ${customerId} is waiting; see: carillon erasures list --customer ${customerId}.\n`;

test('a deletion that waits is cancelled by the customer id, and the audit log names the command line and not the user', async () => {
  const id = await askToDelete('ada');
  const ended = await run('erasures', 'cancel', 'ada');
  expect(ended).toEqual({ code: 0, stderr: '', stdout: `Erasure    ${id}\nCancelled: ada is kept.\n` });
  expect(await listStates()).toEqual([]);
  expect((await run('erasures', 'list', '--customer', 'ada', '--json')).stdout).toBe('');
  expect(await cancelled()).toEqual([
    { actor_id: null, actor_name: 'the command line', object_id: id, object_name: null, detail: {} },
  ]);

  const next = await askToDelete('ada');
  expect(next).not.toBe(id);
  const json = JSON.parse((await run('erasures', 'cancel', 'ada', '--json')).stdout);
  expect(json).toEqual({ workspaceId: bundle.workspaceId, customerId: 'ada', id: next });
});

test('where none waits, it has begun, or nobody is known by the id, nothing is changed and nothing is logged', async () => {
  const before = await cancelled();
  expect(await run('erasures', 'cancel', 'ada')).toEqual({ code: 2, stdout: '', stderr: refusalOf('ada') });
  expect(await run('erasures', 'cancel', 'nobody')).toEqual({ code: 2, stdout: '', stderr: refusalOf('nobody') });
  await askToDelete('ada');
  await bundle.database`update erasures set state = 'REMOVED', removed_at = requested_at`;
  expect(await run('erasures', 'cancel', 'ada')).toEqual({ code: 2, stdout: '', stderr: refusalOf('ada') });
  expect(await listStates()).toEqual(['REMOVED']);
  expect(await cancelled()).toEqual(before);
});

test('the deletion of another user stays', async () => {
  const id = await askToDelete('ada');
  expect((await run('erasures', 'cancel', 'grace')).code).toBe(2);
  const [waiting] = await bundle.database`select id, state from erasures`;
  expect({ ...waiting }).toEqual({ id, state: 'PENDING' });
});
