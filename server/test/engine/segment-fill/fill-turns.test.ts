import { describe, expect, test } from 'vitest';
import { makeFillTurns, NoTurnError } from '../../../src/engine/segment-fill/fill-segments.ts';

const limits = { total: 3, perWorkspace: 2, maxWaitMilliseconds: 60_000 };
const never = new AbortController().signal;

describe('turns of fills', () => {
  test('are free for a workspace up to its limit, and for another up to that of all', async () => {
    const turns = makeFillTurns(limits);
    await turns.take('a', never);
    expect(turns.isFree('a', [])).toBe(true);
    expect(turns.isFree('a', ['a'])).toBe(false);
    await turns.take('a', never);
    expect(turns.isFree('a', [])).toBe(false);
    expect(turns.isFree('b', [])).toBe(true);
    await turns.take('b', never);
    expect(turns.isFree('c', [])).toBe(false);
  });

  test('go to the first one that waits and whose workspace has not reached its limit', async () => {
    const turns = makeFillTurns(limits);
    const ends = [await turns.take('a', never), await turns.take('a', never), await turns.take('b', never)];
    const order: string[] = [];
    const third = turns.take('a', never).then((end) => (order.push('a'), end));
    const other = turns.take('b', never).then((end) => (order.push('b'), end));
    ends[2]!();
    const endOther = await other;
    expect(order).toEqual(['b']);
    expect(turns.isFree('c', [])).toBe(false);
    ends[0]!();
    await third;
    expect(order).toEqual(['b', 'a']);
    endOther();
    expect(turns.isFree('c', [])).toBe(true);
  });

  test('are not waited for longer than the limit, nor after a stop', async () => {
    const turns = makeFillTurns({ ...limits, total: 1, maxWaitMilliseconds: 1 });
    const end = await turns.take('a', never);
    await expect(turns.take('b', never)).rejects.toBeInstanceOf(NoTurnError);
    const stopping = new AbortController();
    const waiting = makeFillTurns({ ...limits, total: 0 }).take('a', stopping.signal);
    stopping.abort(new Error('stopping'));
    await expect(waiting).rejects.toThrow('stopping');
    end();
    expect(turns.isFree('b', [])).toBe(true);
  });
});
