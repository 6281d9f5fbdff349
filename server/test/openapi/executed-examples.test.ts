import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { walkExamples } from './walk-examples.ts';

const file = join(import.meta.dirname, '../../src/http/openapi/examples.json');

let bundle: CarillonBundle;
beforeAll(async () => {
  // Its receiver stands on this machine.
  bundle = await startCarillonBundle({ CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8' });
  await keepEveryCall(bundle.database);
});
afterAll(() => bundle?.stop());

test('every example of the document is what a node says to that request; npm run openapi:examples writes them', async () => {
  const examples = await walkExamples(bundle);
  await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(file);
});

// Every documented operation has been called by now, so an answer of a route to come is looked at too.
test('the API log keeps no credential that an answer of a documented operation carries', async () => {
  const { database, call } = bundle;
  await call('GET', '/v5/campaigns/the-last-call');
  // Calls are stored in their order.
  await until(
    async () => (await database`select 1 from api_log where path = '/v5/campaigns/the-last-call'`).length > 0,
  );
  const credential = '"(access_token|refresh_token|client_secret|secret|signature)" *: *"[^"]';
  const kept = await database<{ route: string }[]>`
    select distinct method || ' ' || route as route from every_call where response_body ~ ${credential} order by 1`;
  expect(kept.map(({ route }) => route)).toEqual([]);
  const [answers] = await database<{ routes: number }[]>`
    select count(distinct method || ' ' || route)::int as routes from every_call where response_body is not null`;
  expect(answers!.routes).toBeGreaterThan(60);
});

/** A copy of each call, because the walk resets the sandbox, which empties the log. */
async function keepEveryCall(database: CarillonBundle['database']): Promise<void> {
  await database`create table every_call as select method, route, response_body from api_log with no data`;
  await database`
    create function keep_call() returns trigger language plpgsql security definer as $$
    begin
      insert into every_call values (new.method, new.route, new.response_body);
      return null;
    end $$`;
  await database`create trigger keep_call after insert on api_log for each row execute function keep_call()`;
}
