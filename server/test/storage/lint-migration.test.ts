import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintMigration } from './lint-migration.ts';

const folder = join(import.meta.dirname, '..', '..', 'migrations');

test('a cluster takes every migration', () => {
  const faults = readdirSync(folder).flatMap((name) =>
    lintMigration(readFileSync(join(folder, name), 'utf8')).map((fault) => `${name}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

describe('on a table that a cluster distributes', () => {
  test.each([
    ['alter table users add column a integer, add column b integer', 'one change a statement'],
    ['alter table users add column a integer check (a > 0)', 'a column is added without its constraints'],
    ['alter table devices add column a text references workspaces (id)', 'a column is added without its constraints'],
    ['alter table devices add check (a > 0)', 'a constraint has a name'],
    ['alter table devices add constraint a foreign key (b) references c (d)', 'no foreign key'],
    ['alter table users add constraint a unique (workspace_id, customer_id)', 'holds the column'],
    ['create unique index a on users (workspace_id, customer_id)', 'holds the column'],
    ['create trigger a before update on users for each row execute function b()', 'no trigger'],
    ['create policy a on users using (b = (select current_setting(c)))', 'no subquery'],
    ['create table notes (workspace_id text, \n bucket smallint not null)', 'stands in distributedTables'],
    ['create table users (workspace_id text, bucket smallint, id text primary key)', 'holds the column'],
    ["do $$ begin execute 'drop index a; drop index b'; end $$", 'several commands in one text'],
    ["do $$ begin execute format('drop index %I; drop index b', c); end $$", 'several commands in one text'],
  ])('%s: refused', (text, fault) => {
    expect(lintMigration(`-- why; because\n${text};`)).toEqual([expect.stringContaining(fault)]);
  });

  test.each([
    ["alter table users add column a text default ', ' not null"],
    ['alter table users add constraint users_a_check check (a in (1, 2))'],
    ['alter table users drop constraint users_a_check'],
    ['create unique index a on users (workspace_id, bucket, customer_id)'],
    ['create index a on users (workspace_id, customer_id)'],
    ['create policy a on users using (b = current_setting(c))'],
    ['create table notes (id text primary key references workspaces (id))'],
    ['create table users (workspace_id text, bucket smallint, id text, primary key (bucket, id), unique (bucket, id))'],
    ['alter table campaigns add column a integer check (a > 0), add column b integer'],
    ["do $$ begin execute 'drop index a'; execute 'drop index b'; end $$"],
  ])('%s: taken', (text) => {
    expect(lintMigration(text)).toEqual([]);
  });
});
