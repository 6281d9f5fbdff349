import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';
import { makePushBundle, start } from '../push/push-bundle.ts';
import type { PushBundle } from '../push/push-bundle.ts';

let bundle: PushBundle;
beforeAll(async () => {
  bundle = await makePushBundle();
});
afterAll(() => bundle.end());

// What a reader must not learn: of which statement, table, file, library or line.
const inside =
  /select|relation|campaign_names|node_modules|\.ts\b|\bat \w+ \(|\/(?:work|home|usr|root)\/|TypeError|SyntaxError|DatabaseError/i;

test('returns 500 for an unexpected fault, without its message, stack, statement or path (fault 3.12 check 55)', async () => {
  const log = makeLog({ level: 'silent', pretty: false });
  const server = await buildServer({ log, clock: makeManualClock(start), trustProxy: false }, [
    async (scope) => {
      scope.get('/broken', async () => {
        throw new Error(`select secret from accounts failed in ${import.meta.filename}`);
      });
      scope.get('/broken-data', async () => JSON.parse('{"half":'));
    },
  ]);
  // A table that is missing: the database's own words, through the route of a family.
  await bundle.database`alter table campaign_names rename to campaign_names_elsewhere`;
  const push = await bundle.send({
    campaignName: 'A push that fails',
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'T', message: 'M' } },
    campaignDelivery: { type: 'soon' },
  });
  const answers = [await server.inject('/broken'), await server.inject('/broken-data'), push];
  for (const answer of answers) {
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toMatch(inside);
    expect(JSON.stringify(answer.headers)).not.toMatch(inside);
  }
  await server.close();
});

test('asks the client to retry a request that the database ended because of a deadlock', async () => {
  const log = makeLog({ level: 'silent', pretty: false });
  const server = await buildServer({ log, clock: makeManualClock(start), trustProxy: false }, [
    async (scope) => {
      scope.get('/ended', async () => {
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      });
    },
  ]);
  const answer = await server.inject('/ended');
  expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'OVERLOADED', '1']);
  await server.close();
});
