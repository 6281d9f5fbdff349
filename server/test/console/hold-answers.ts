import { Errors } from 'typebox/schema';
import type { TSchema } from 'typebox';
import { listConsoleRoutes } from '../../../scripts/list-console-routes.ts';

type JsonShape = { type?: string; anyOf?: JsonShape[]; items?: JsonShape; additionalProperties?: unknown } & {
  properties?: Record<string, JsonShape>;
  patternProperties?: Record<string, JsonShape>;
};

/**
 * Holds real answers to the shapes of their routes: a member that the shape does not know is a fault, and so is one that
 * it requires and the answer lacks. It keeps which routes answered, and which lists never held anything.
 */
export async function holdAnswers() {
  const routes = new Map((await listConsoleRoutes()).map((route) => [`${route.method} ${route.path}`, route.answer]));
  const held = new Set<string>();
  const lists = new Map<string, { at: string; hasItems: boolean }>();

  return {
    /** What is wrong with an answer; empty: nothing. */
    hold(route: string, { status, body }: { status: number; body: unknown }): string[] {
      if (!routes.has(route)) return [`${route} is no route`];
      held.add(route);
      const answer = routes.get(route);
      if (answer === undefined) return body === undefined ? [] : [`${route} answers without a shape`];
      if (status !== answer.status) return [`${route} answered ${status}`];
      const shape = JSON.parse(JSON.stringify(answer.shape)) as JsonShape;
      markLists(shape, { value: body, at: route });
      const [, faults] = Errors(closed(shape) as TSchema, body);
      return faults.map(({ instancePath, message }) => `${route} ${instancePath} ${message}`);
    },
    /** Routes with a shape that did not answer yet. */
    notHeld: () => [...routes].flatMap(([route, answer]) => (answer && !held.has(route) ? [route] : [])).sort(),
    /** Lists whose items no answer showed. */
    emptyLists: () => [...lists.values()].flatMap(({ at, hasItems }) => (hasItems ? [] : [at])).sort(),
  };

  function markLists(shape: JsonShape, { value, at }: { value: unknown; at: string }): void {
    for (const branch of shape.anyOf ?? []) markLists(branch, { value, at });
    if (Array.isArray(value) && shape.items) {
      // A list of words has little that could be wrong, and a shape that was seen at one route was seen.
      if (shape.items.type !== 'string') {
        const seen = lists.get(JSON.stringify(shape.items)) ?? { at, hasItems: false };
        lists.set(JSON.stringify(shape.items), { at: seen.at, hasItems: seen.hasItems || value.length > 0 });
      }
      for (const item of value) markLists(shape.items, { value: item, at: `${at}[]` });
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(shape.properties ?? {}))
      if (name in value) markLists(member, { value: (value as Record<string, unknown>)[name], at: `${at} ${name}` });
  }
}

/** The same shape, whose objects hold what they name and nothing else. */
function closed(shape: JsonShape): JsonShape {
  const each = (members: Record<string, JsonShape>) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, closed(member)]));
  return {
    ...shape,
    ...(shape.anyOf ? { anyOf: shape.anyOf.map(closed) } : {}),
    ...(shape.items ? { items: closed(shape.items) } : {}),
    ...(shape.patternProperties ? { patternProperties: each(shape.patternProperties) } : {}),
    ...(shape.properties
      ? { properties: each(shape.properties), additionalProperties: shape.additionalProperties ?? false }
      : {}),
  };
}
