import { expect, test } from 'vitest';
import { judgeConnectionBudget } from '../../src/domain/operations/connection-budget.ts';

const limit = { maxConnections: 100, reserved: 3, ofRole: null, ofDatabase: null };
const nodes = (count: number) => Array.from({ length: count }, () => ({ connections: 24 }));

test('reports a finding for one node more than the database has connections for', () => {
  expect(judgeConnectionBudget({ nodes: nodes(4), limit })).toEqual({ nodes: 4, mayOpen: 96, available: 97 });
  expect(judgeConnectionBudget({ nodes: nodes(5), limit }).finding).toEqual({
    level: 'attention',
    what: 'The 5 nodes may open 120 connections to the database, which has 97 for them (max_connections 100, 3 of them reserved).',
    todo: 'Lower CARILLON_DATABASE_CONNECTIONS, raise max_connections to at least 123, or put a pooler in between.',
    place: { screen: 'system' },
  });
});

test.each([
  ['role', { ofRole: 40, ofDatabase: 50 }, 40],
  ['database', { ofRole: 40, ofDatabase: 30 }, 30],
])('applies the smallest limit, that of the %s, and names it as the one to raise', (what, given, available) => {
  const budget = judgeConnectionBudget({ nodes: nodes(2), limit: { ...limit, ...given } });
  expect(budget.available).toBe(available);
  expect(budget.finding?.what).toContain(`which has ${available} for them (the connection limit of the ${what})`);
  expect(budget.finding?.todo).toContain(`raise the connection limit of the ${what} to at least 48`);
});
