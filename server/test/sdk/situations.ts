import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CarillonBundle } from '../carillon-bundle.ts';

/** Situations that every SDK must handle. Each SDK has a runner that plays the steps of the app. */
export type AppStep =
  | { do: 'offline' | 'online' | 'start' | 'logout' | 'reinstall' | 'replace server' }
  | { do: 'subscribe'; token: string }
  | { do: 'receive challenge'; token: string; of?: 'another installation' }
  | { do: 'login'; user: string; identity: 'valid' | 'expired' }
  | { do: 'track'; event: string }
  | { do: 'clock'; aheadSeconds: number }
  | { do: 'lose next answer'; of: string };

export type Check =
  | { expect: 'events'; user: string | null; events: string[]; ageSeconds?: number }
  | { expect: 'devices'; user: string; tokens: string[] }
  | { expect: 'signed in'; user: string | null }
  | { expect: 'notice'; notice: string }
  | { expect: 'sign-ins'; count: number }
  | { expect: 'requests'; of: string; atLeast: number };

export type Situation = { name: string; steps: (AppStep | Check)[] };

const file = join(import.meta.dirname, '..', '..', '..', 'sdk', 'conformance.json');
export const situations = JSON.parse(readFileSync(file, 'utf8')) as Situation[];

/** What a runner knows of its app. */
export type Observed = {
  /** Ends the ids of its users, which no other situation has. */
  suffix: string;
  /** Paths of all requests that carried something, without preflights. */
  requests: readonly string[];
  /** Ids of installations, in the order in which they registered. */
  installations: ReadonlySet<string>;
  notices: () => Promise<readonly string[]>;
  /** The name that the situation has for a stored push token. */
  nameToken: (pushId: string) => string | undefined;
};

/** Makes the checks of a situation, which look at the database of the node and at the requests of the app. */
export function makeChecks({ database }: Pick<CarillonBundle, 'database'>, observed: Observed) {
  const { suffix, requests, installations, notices, nameToken } = observed;
  const eventually = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 60_000, interval: 50 });

  // The anonymous user has only this installation's events.
  const findEvents = (user: string | null) => database<{ name: string; age: number }[]>`
    select events.name, extract(epoch from events.received_at - events.occurred_at)::float8 as age
    from events join users on users.bucket = events.bucket and users.id = events.user_id
    where ${
      user === null
        ? database`users.id in (select user_id from installations where id = any(${[...installations]}))
          and users.customer_id like 'anonymous-%'`
        : database`users.customer_id = ${`${user} ${suffix}`}`
    }
    order by events.id`;

  const findTokens = async (user: string) => {
    const rows = await database<{ pushId: string }[]>`
      select devices.push_id as "pushId" from devices
      join users on users.bucket = devices.bucket and users.id = devices.user_id
      where users.customer_id = ${`${user} ${suffix}`}`;
    return rows.map(({ pushId }) => nameToken(pushId)).sort();
  };

  const findSignedIn = async () => {
    const rows = await database<{ user: string | null }[]>`
      select case when is_identified then users.customer_id end as user from installations
      left join users on users.bucket = user_bucket and users.id = user_id
      where installations.id = ${[...installations].at(-1)!}`;
    return rows.map(({ user }) => user);
  };

  return async (check: Check): Promise<void> => {
    switch (check.expect) {
      case 'events': {
        const { user, ageSeconds } = check;
        await eventually(async () => (await findEvents(user)).map(({ name }) => name)).toEqual(check.events);
        if (ageSeconds !== undefined)
          for (const { age } of await findEvents(user)) expect(Math.abs(age)).toBeLessThan(ageSeconds);
        return;
      }
      case 'devices':
        return eventually(() => findTokens(check.user)).toEqual(check.tokens);
      case 'signed in':
        return eventually(findSignedIn).toEqual([check.user === null ? null : `${check.user} ${suffix}`]);
      case 'notice':
        return eventually(notices).toContain(check.notice);
      case 'sign-ins':
        expect(requests.filter((path) => path.endsWith('/identify'))).toHaveLength(check.count);
        return;
      case 'requests':
        return eventually(async () => requests.filter((path) => path === check.of).length).toBeGreaterThanOrEqual(
          check.atLeast,
        );
    }
  };
}

/** Deletes what the node knows of a situation's installations, as a node that was replaced by an older backup. */
export async function replaceServer(
  { database }: Pick<CarillonBundle, 'database'>,
  { installations, suffix }: Pick<Observed, 'installations' | 'suffix'>,
): Promise<void> {
  await database`delete from installations where id = any(${[...installations]})`;
  await database`
    delete from devices using users where users.bucket = devices.bucket and users.id = devices.user_id
      and users.customer_id like ${`%${suffix}`}`;
}
