import type { Budget } from './budget.ts';
import type { Value } from './template-value.ts';
import { TemplateSyntaxError } from './tokenize.ts';

/**
 * A parsed template: a subset of Jinja 3.1 (docs/concepts.md lists it), checked as far as its text alone allows. Names
 * of filters, methods and tests are resolved to their rules, so rendering needs no look-ups.
 */
export type Template = {
  statements: readonly Statement[];
  references: References;
};

/** Where values come from, and what is read of each: names, or all when a name is known only at rendering. */
export type References = Partial<Record<SourceName, readonly string[] | 'all'>>;

export const sourceNames = ['UserAttribute', 'EventAttribute', 'BusinessEventAttribute'] as const;
export type SourceName = (typeof sourceNames)[number];

/** Sources of the documented interface (fact 3.8) that this service has no values for. */
export const absentSources: readonly string[] = ['CampaignAttribute', 'ProductSet', 'ContentApi', 'ContentBlock'];

export type Statement =
  | { kind: 'text'; text: string }
  | { kind: 'print'; value: Expression }
  | { kind: 'set'; targets: readonly string[]; value: Expression }
  | { kind: 'if'; branches: readonly Branch[]; otherwise: readonly Statement[] }
  | {
      kind: 'for';
      targets: readonly string[];
      items: Expression;
      condition: Expression | undefined;
      body: readonly Statement[];
      otherwise: readonly Statement[];
    };

export type Branch = { condition: Expression; body: readonly Statement[] };

export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'name'; name: string }
  | { kind: 'list'; items: readonly Expression[] }
  | { kind: 'record'; members: readonly { key: Expression; value: Expression }[] }
  | { kind: 'member'; of: Expression; key: Expression }
  | { kind: 'slice'; of: Expression; from: Expression | undefined; to: Expression | undefined }
  | { kind: 'range'; args: readonly Expression[] }
  | { kind: 'apply'; rule: Rule; of: Expression; args: readonly (Expression | undefined)[] }
  | { kind: 'not'; of: Expression }
  | { kind: 'sign'; of: Expression; factor: 1 | -1 }
  | { kind: 'math'; operator: MathOperator; left: Expression; right: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'compare'; first: Expression; rest: readonly { operator: Comparison; value: Expression }[] }
  | { kind: 'choice'; condition: Expression; value: Expression; otherwise: Expression | undefined };

export type MathOperator = '+' | '-' | '*' | '/' | '//' | '%' | '~';
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

/** What a filter, a method or a test does with a value. */
export type Rule = {
  name: string;
  /** Names of its arguments, in order. */
  parameters: readonly string[];
  required: number;
  /** Takes a value that is missing; every other rule fails on one. */
  takesMissing?: true;
  /** Accepts its arguments by name only, because the first positional one means something else in Jinja. */
  isNamedOnly?: true;
  apply(call: RuleCall): Value;
};

export type RuleCall = { of: Value; args: readonly (Value | undefined)[]; budget: Budget };

/** Notes the names a template uses while it is read: what it takes from each source, and what nobody gives a value. */
export class NameUses {
  readonly #used: { name: string; at: number }[] = [];
  readonly #given = new Set<string>();
  readonly #read = new Map<SourceName, Set<string> | 'all'>();
  /** How many loops the reading is inside of. */
  loops = 0;

  use(name: string, at: number): void {
    if (name === 'loop' && this.loops > 0) return;
    if (isSource(name)) this.#read.set(name, this.#read.get(name) ?? new Set());
    else this.#used.push({ name, at });
  }

  /** A name that `set` or `for` gives a value. */
  give(name: string, at: number): void {
    if (isSource(name) || name === 'loop') throw new TemplateSyntaxError(`${name} cannot be given a value`, at);
    this.#given.add(name);
  }

  readMember(of: Expression, key: Expression): void {
    if (of.kind !== 'name' || !isSource(of.name)) return;
    if (key.kind === 'literal' && typeof key.value === 'string') this.read(of.name, key.value);
    else this.readAll(of);
  }

  read(source: SourceName, name: string): void {
    const names = this.#read.get(source) ?? new Set();
    if (names !== 'all') this.#read.set(source, names.add(name));
  }

  /** The names are known only at rendering. */
  readAll(of: Expression): void {
    if (of.kind === 'name' && isSource(of.name)) this.#read.set(of.name, 'all');
  }

  /** @throws TemplateSyntaxError for a name that can never have a value: a typo would fail for every user */
  references(): References {
    for (const { name, at } of this.#used) {
      if (this.#given.has(name)) continue;
      const reason = absentSources.includes(name)
        ? `${name} is not available in this version`
        : `${name} is unknown; attributes of the user are written UserAttribute['${name}']`;
      throw new TemplateSyntaxError(reason, at);
    }
    return Object.fromEntries([...this.#read].map(([source, names]) => [source, names === 'all' ? 'all' : [...names]]));
  }
}

function isSource(name: string): name is SourceName {
  return sourceNames.some((one) => one === name);
}
