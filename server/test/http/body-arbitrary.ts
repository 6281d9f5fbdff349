import fc from 'fast-check';
import { Check } from 'typebox/value';

/** The JSON Schema of a published shape; TypeBox objects are of this form. */
export type Shape = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  patternProperties?: Record<string, Shape>;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  description?: string;
};

/**
 * What a text or another member may be, by its name or its path (`a.b`, without the numbers of lists): words of a
 * list, or an arbitrary. `absent` is never sent.
 */
export type Words = Record<string, readonly unknown[] | fc.Arbitrary<unknown> | 'absent'>;

/** Bodies of a shape. Members that it says are refused are not sent; texts are words, because none may be empty. */
export function bodyOf(shape: Shape, words: Words, path = ''): fc.Arbitrary<unknown> {
  const given = words[path] ?? words[path.slice(path.lastIndexOf('.') + 1)];
  if (Array.isArray(given)) return fc.constantFrom(...(given as unknown[]));
  if (given !== undefined) return given as fc.Arbitrary<unknown>;
  if ('const' in shape) return fc.constant(shape.const);
  if (shape.enum) return fc.constantFrom(...shape.enum);
  const alternatives = shape.anyOf ?? shape.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((one) => bodyOf(one, words, path)));
  switch (shape.type) {
    case 'object':
      return objectOf(shape, words, path);
    case 'array':
      return fc.array(bodyOf(shape.items ?? {}, words, path), {
        minLength: Math.max(1, shape.minItems ?? 0),
        maxLength: Math.min(3, shape.maxItems ?? 3),
      });
    case 'boolean':
      return ['true', 'false'].includes(shape.description ?? '')
        ? fc.constant(shape.description === 'true')
        : fc.boolean();
    case 'integer':
      return fc.integer({ min: shape.minimum ?? -1_000_000, max: shape.maximum ?? 1_000_000 });
    case 'number':
      return fc.oneof(fc.integer({ min: -1_000, max: 1_000 }), fc.double({ min: -1_000, max: 1_000, noNaN: true }));
    case 'string':
      return sentence;
    default:
      return fc.oneof(fc.boolean(), fc.integer(), word);
  }
}

// Made once: what matches a pattern is found by going through every character of each of its ranges.
const sentence = fc.stringMatching(/^[a-z][a-z0-9 ]{3,10}[a-z]$/);
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const memberName = fc.stringMatching(/^[a-z]{3,8}$/);

function objectOf(shape: Shape, words: Words, path: string): fc.Arbitrary<unknown> {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const isSent = ([name, member]: [string, Shape]): boolean =>
    (words[at(name)] ?? words[name]) !== 'absent' && !/^Refused/.test(member.description ?? '');
  const members = Object.entries(shape.properties ?? {}).filter(isSent);
  const values = Object.values(shape.patternProperties ?? {})[0];
  if (members.length === 0 && values)
    // Of three letters at least: `id` is a reserved name.
    return fc.dictionary(memberName, bodyOf(values, words, at('*')), { maxKeys: 3 });
  return fc.record(Object.fromEntries(members.map(([name, member]) => [name, bodyOf(member, words, at(name))])), {
    requiredKeys: (shape.required ?? []).filter((name) => members.some(([own]) => own === name)),
    noNullPrototype: true,
  });
}

export type Mutant = { path: string; body: unknown };

const wrongKinds: unknown[] = ['no word', 7.5, true, ['no word'], { x: 1 }];

/** The same body with one member of a kind that its shape does not take: every member with every such kind. */
export function mutantsOf(shape: Shape, body: unknown): Mutant[] {
  const mutants: Mutant[] = [];
  visit(shape, body, {
    path: '',
    replace(member, { path, put }) {
      for (const wrong of wrongKinds) if (!Check(member as never, wrong)) mutants.push({ path, body: put(wrong) });
    },
  });
  return mutants;
}

type Put = (value: unknown) => unknown;
type Visit = { path: string; put?: Put; replace: (member: Shape, at: { path: string; put: Put }) => void };

function visit(shape: Shape, value: unknown, { path, put = (same) => same, replace }: Visit): void {
  if (path !== '') replace(shape, { path, put });
  const alternatives = shape.anyOf ?? shape.oneOf;
  const own = alternatives ? (alternatives.find((one) => Check(one as never, value)) ?? {}) : shape;
  if (Array.isArray(value)) {
    value.forEach((item, index) =>
      visit(own.items ?? {}, item, {
        path: `${path}[${index}]`,
        put: (other) => put(value.with(index, other)),
        replace,
      }),
    );
  } else if (value !== null && typeof value === 'object') {
    const values = Object.values(own.patternProperties ?? {})[0];
    for (const [name, member] of Object.entries(value))
      visit(own.properties?.[name] ?? values ?? {}, member, {
        path: path === '' ? name : `${path}.${name}`,
        put: (other) => put({ ...value, [name]: other }),
        replace,
      });
  }
}
