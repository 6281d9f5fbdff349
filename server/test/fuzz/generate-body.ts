import fc from 'fast-check';
import { bodyOf } from '../http/body-arbitrary.ts';
import type { Shape } from '../http/body-arbitrary.ts';
import { shapeFamilies } from '../http/shape-families.ts';
import type { ShapeFamily } from '../http/shape-families.ts';
import type { Choices } from './choices.ts';
import type { Caller } from './prepare-caller.ts';
import type { Operation } from './read-operations.ts';

/** A few for each route: to make one takes a hundred times as long as to break it. */
const bodiesARoute = 12;
const arbitraries = new Map<string, fc.Arbitrary<unknown>>();
const made = new Map<string, unknown>();

/** A body of the shape that a route publishes, with words that its reader takes where the shape cannot say which. */
export function generateBody(operation: Operation, { workspaceId }: Caller, { seed, pick }: Choices): unknown {
  const bodySeed = seed * bodiesARoute + pick(Array.from({ length: bodiesARoute }, (_, index) => index));
  const name = `${operation.name} ${bodySeed}`;
  if (!made.has(name)) {
    const family = familyOf(operation.bodyName);
    const words = { app_id: [workspaceId], appId: [workspaceId], ...family?.words };
    const arbitrary =
      arbitraries.get(operation.name) ?? bodyOf((family?.shape as Shape | undefined) ?? operation.body ?? {}, words);
    arbitraries.set(operation.name, arbitrary);
    const [body] = fc.sample(arbitrary, { seed: bodySeed, numRuns: 1 });
    made.set(name, family?.agree && body !== null && typeof body === 'object' ? family.agree(body) : body);
  }
  return structuredClone(made.get(name));
}

/** The same shape bears the same name in the document and in the code. */
const families = new Map(
  Object.values(shapeFamilies).map((family) => [(family.shape as { title?: string }).title, family]),
);
const familyOf = (name: string | undefined): ShapeFamily | undefined =>
  name === undefined ? undefined : families.get(name);
