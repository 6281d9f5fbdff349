import { showCall } from './history.ts';
import type { Anomaly, Call } from './history.ts';

/** An operation on one object: it took effect at one instant between its call and its answer, if at all. */
export type Operation<State> = {
  begin: number;
  end: number;
  /** False if the caller cannot tell whether it had an effect: it may have had one at any later time, or none. */
  isSure: boolean;
  /** Returns the states that the object may be in after it; none if its answer is impossible in this state. */
  apply(state: State): State[];
  show: string;
};

export type Verdict = { kind: 'yes' } | { kind: 'no'; stuckAt: string } | { kind: 'undecided' };

/** More than any object of the rigs needs. An object beyond it is reported as undecided, never as correct. */
const maxNodes = 50_000;

/**
 * Searches an order of the operations in which every answer is possible and which respects that an operation that had ended
 * comes before one that had not begun (Wing and Gong 1993). Pairs of finished set and state that were seen are not searched
 * again (Lowe 2017).
 */
export function linearize<State>(given: readonly Operation<State>[], initial: State): Verdict {
  const operations = [...given].sort((one, other) => one.begin - other.begin);
  const endOf = ({ isSure, end }: Operation<State>): number => (isSure ? end : Infinity);
  const seen = new Set<string>();
  let furthest = { done: -1, stuckAt: '' };
  type Node = { done: Uint8Array; state: State };
  const stack: Node[] = [{ done: new Uint8Array(operations.length), state: initial }];
  while (stack.length > 0) {
    const { done, state } = stack.pop()!;
    const open = operations.flatMap((operation, index) => (done[index] ? [] : [{ operation, index }]));
    const sure = open.filter(({ operation }) => operation.isSure);
    if (sure.length === 0) return { kind: 'yes' };
    const key = `${open.map(({ index }) => index).join()} ${JSON.stringify(state)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > maxNodes) return { kind: 'undecided' };
    const firstEnd = Math.min(...open.map(({ operation }) => endOf(operation)));
    const next = open
      .filter(({ operation }) => operation.begin <= firstEnd)
      .flatMap(({ operation, index }) => operation.apply(state).map((after) => ({ index, after })));
    const finished = operations.length - open.length;
    if (finished > furthest.done) {
      const [first] = [...sure].sort((one, other) => one.operation.end - other.operation.end);
      furthest = { done: finished, stuckAt: `${first!.operation.show} in state ${JSON.stringify(state)}` };
    }
    // The first candidate is tried first: the last one that is pushed.
    for (const { index, after } of next.reverse()) {
      const marked = done.slice();
      marked[index] = 1;
      stack.push({ done: marked, state: after });
    }
  }
  return { kind: 'no', stuckAt: furthest.stuckAt };
}

export type CheckedObject<State> = { rule: string; object: string; operations: Operation<State>[]; initial: State };

/** Requires that some order of an object's operations explains every answer. */
export function checkObject<State>({ rule, object, operations, initial }: CheckedObject<State>): Anomaly[] {
  const verdict = linearize(operations, initial);
  if (verdict.kind === 'yes') return [];
  const what =
    verdict.kind === 'no' ? `no order explains the answers; stuck at ${verdict.stuckAt}` : 'undecided: too many orders';
  return [{ rule, what: `${object}: ${what}` }];
}

/** An operation that leaves the object as it is, and is possible in some states only. */
export function reading<State>(call: Call, isPossible: (state: State) => boolean): Operation<State> {
  return { ...call, isSure: true, show: showCall(call), apply: (state) => (isPossible(state) ? [state] : []) };
}

export function changing<State>(call: Call, apply: (state: State) => State[]): Operation<State> {
  return { ...call, isSure: !call.isUnsure, show: showCall(call), apply };
}
