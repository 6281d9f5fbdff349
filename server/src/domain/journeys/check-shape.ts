import type { RequestFault } from '../../fields/reading-rules.ts';
import type { JourneyStep, Target } from './graph.ts';

type Edges = { member: string; target: Target }[];

/** Returns the edges that leave a step, each with the member that names its target. */
export function edgesOf(step: JourneyStep): Edges {
  switch (step.kind) {
    case 'split':
      return step.ways.map(({ next }, index) => ({ member: `ways[${index}].next`, target: next }));
    case 'wait_for_event':
      return [
        { member: 'next', target: step.next },
        { member: 'timeout_next', target: step.timeoutNext },
      ];
    case 'branch':
      return [
        { member: 'next', target: step.next },
        { member: 'else_next', target: step.elseNext },
      ];
    case 'exit':
      return [];
    default:
      return [{ member: 'next', target: step.next }];
  }
}

type Shape = { steps: ReadonlyMap<string, JourneyStep>; firstStep: string };

/** Returns what is wrong with a graph of valid steps: targets that do not exist, unreachable steps, circles, later messages. */
export function shapeFaults({ steps, firstStep }: Shape): RequestFault[] {
  const unknown = [...steps.values()].flatMap((step) =>
    edgesOf(step)
      .filter(({ target }) => target !== null && !steps.has(target))
      .map(({ member, target }) => fault(step.id, { member, reason: `names "${target}", which is not a step` })),
  );
  if (!steps.has(firstStep)) unknown.unshift({ field: 'first_step', reason: 'must be the id of a step' });
  if (unknown.length > 0) return unknown;
  const order = inOrder({ steps, firstStep });
  if ('circle' in order) {
    const [first] = order.circle;
    const way = [...order.circle, first].join(' → ');
    return [fault(first!, { member: 'next', reason: `must not lead back: ${way}` })];
  }
  const unreachable = [...steps.keys()]
    .filter((id) => !order.sorted.includes(id))
    .map((id) => ({ field: `steps.${id}`, reason: 'cannot be reached from first_step' }));
  return [...unreachable, ...messageStepFaults({ steps, firstStep }, order.sorted)];
}

/** Returns the steps of a published graph so that each comes before those after it. */
export function stepsInOrder(shape: Shape): string[] {
  const order = inOrder(shape);
  if ('circle' in order) throw new Error('a published graph has a circle');
  return order.sorted;
}

/** Sorts the steps that can be reached so that each comes before those after it, or returns the steps of a circle. */
function inOrder({ steps, firstStep }: Shape): { sorted: string[] } | { circle: string[] } {
  const done = new Set<string>();
  const path: string[] = [];
  const sorted: string[] = [];
  const visit = (id: string): string[] | undefined => {
    if (done.has(id)) return undefined;
    const start = path.indexOf(id);
    if (start >= 0) return path.slice(start);
    path.push(id);
    for (const { target } of edgesOf(steps.get(id)!)) {
      const circle = target === null ? undefined : visit(target);
      if (circle) return circle;
    }
    path.pop();
    done.add(id);
    sorted.unshift(id);
    return undefined;
  };
  const circle = visit(firstStep);
  if (circle) return { circle };
  // Steps that cannot be reached may form a circle too; they are reported as unreachable.
  return { sorted };
}

/** A branch on a message needs a send step from which it can be reached. */
function messageStepFaults({ steps }: Shape, sorted: readonly string[]): RequestFault[] {
  const before = new Map<string, Set<string>>(sorted.map((id) => [id, new Set()]));
  const faults: RequestFault[] = [];
  for (const id of sorted) {
    const step = steps.get(id)!;
    const earlier = before.get(id)!;
    if (step.kind === 'branch' && step.condition.kind === 'message') {
      const named = step.condition.step;
      if (!earlier.has(named) || steps.get(named)?.kind !== 'send')
        faults.push(fault(id, { member: 'condition.step', reason: 'must be the id of a send step before this one' }));
    }
    for (const { target } of edgesOf(step)) {
      if (target === null) continue;
      const reached = before.get(target)!;
      for (const passed of [...earlier, id]) reached.add(passed);
    }
  }
  return faults;
}

function fault(id: string, { member, reason }: { member: string; reason: string }): RequestFault {
  return { field: `steps.${id}.${member}`, reason };
}
