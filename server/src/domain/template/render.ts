import { maxRenderedCharacters } from '../limits/push.ts';
import { unknownCase } from '../unknown-case.ts';
import type { SourceName, Statement, Template, Comparison, Expression, MathOperator } from './syntax.ts';
import {
  RenderError,
  isList,
  isTrue,
  itemsOf,
  Missing,
  mistake,
  toText,
  areEqual,
  asNumber,
  charactersOf,
  compareValues,
  isIn,
  kindOf,
  memberOf,
} from './values.ts';
import type { Budget, RenderCause, AttributeSource, Value, RecordValue } from './values.ts';

/** Each source with its attributes for one user. */
export type Sources = Record<SourceName, AttributeSource>;

export type RenderFault = { cause: RenderCause; reason: string };
export type Rendered = { text: string } | { fault: RenderFault };

/**
 * Renders a template for one user. Never throws. The budget limits time, memory and output, whatever the template
 * contains. The texts of one message share a budget.
 */
export function renderTemplate(
  { statements }: Template,
  { sources, budget }: { sources: Sources; budget: Budget },
): Rendered {
  const scope = new Scope();
  for (const [name, source] of Object.entries(sources)) scope.set(name, source);
  const output = { text: '' };
  try {
    renderAll(statements, { scope, budget, output });
    return output;
  } catch (error) {
    if (error instanceof RenderError) return { fault: { cause: error.renderCause, reason: error.message } };
    // No error may fail the other users of the window.
    return { fault: { cause: 'UNKNOWN', reason: 'could not be rendered' } };
  }
}

type Rendering = Evaluation & { output: { text: string } };

function renderAll(statements: readonly Statement[], within: Rendering): void {
  for (const statement of statements) render(statement, within);
}

function render(statement: Statement, within: Rendering): void {
  switch (statement.kind) {
    case 'text':
      return write(statement.text, within);
    case 'print':
      return write(toText(evaluate(statement.value, within), within.budget), within);
    case 'set':
      return assign(statement.targets, { value: evaluate(statement.value, within), scope: within.scope });
    case 'if': {
      for (const { condition, body } of statement.branches)
        if (isTrue(evaluate(condition, within))) return renderAll(body, within);
      return renderAll(statement.otherwise, within);
    }
    case 'for':
      return renderLoop(statement, within);
    default:
      return unknownCase(statement);
  }
}

function write(text: string, { budget, output }: Rendering): void {
  budget.read(text.length);
  if (output.text.length + text.length > maxRenderedCharacters)
    throw new RenderError('LIMIT', `makes more than ${maxRenderedCharacters} characters`);
  output.text += text;
}

function renderLoop(loop: Extract<Statement, { kind: 'for' }>, within: Rendering): void {
  const { targets, condition } = loop;
  const enter = (item: Value): Scope => {
    const scope = new Scope(within.scope);
    assign(targets, { value: item, scope });
    return scope;
  };
  const all = itemsOf(evaluate(loop.items, within), within.budget);
  const items = condition ? all.filter((item) => isTrue(evaluate(condition, { ...within, scope: enter(item) }))) : all;
  if (items.length === 0) return renderAll(loop.otherwise, within);
  for (const [place, item] of items.entries()) {
    within.budget.spend(1);
    const scope = enter(item);
    scope.set('loop', jobRunOf(place, items));
    renderAll(loop.body, { ...within, scope });
  }
}

/** Jinja's `loop`. */
function jobRunOf(place: number, items: readonly Value[]): Value {
  const { length } = items;
  return {
    index: place + 1,
    index0: place,
    revindex: length - place,
    revindex0: length - place - 1,
    first: place === 0,
    last: place === length - 1,
    length,
    ...(place === 0 ? {} : { previtem: items[place - 1]! }),
    ...(place === length - 1 ? {} : { nextitem: items[place + 1]! }),
  };
}

function assign(targets: readonly string[], { value, scope }: { value: Value; scope: Scope }): void {
  const [only] = targets;
  if (targets.length === 1) return scope.set(only!, value);
  if (value instanceof Missing) throw value.error();
  if (!isList(value) || value.length !== targets.length) throw mistake(`${targets.length} values are expected`);
  for (const [place, target] of targets.entries()) scope.set(target, value[place]!);
}

/** Names and their values; those of a loop iteration hide those around it. */
class Scope {
  readonly #values = new Map<string, Value>();
  readonly #around: Scope | undefined;

  constructor(around?: Scope) {
    this.#around = around;
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  get(name: string): Value {
    const found = this.#values.get(name);
    if (found !== undefined) return found;
    return this.#around ? this.#around.get(name) : new Missing('UNDEFINED', name);
  }
}

type Evaluation = { scope: Scope; budget: Budget };

/** Evaluates an expression. Each step costs budget. @throws RenderError */
function evaluate(expression: Expression, within: Evaluation): Value {
  const { budget } = within;
  budget.spend(1);
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'name':
      return within.scope.get(expression.name);
    case 'member':
      return memberOf(evaluate(expression.of, within), { key: evaluate(expression.key, within), budget });
    case 'slice':
      return slice(expression, within);
    case 'list':
      return expression.items.map((item) => evaluate(item, within));
    case 'record':
      return makeRecord(expression, within);
    case 'range':
      return makeRange(expression, within);
    case 'apply': {
      const of = evaluate(expression.of, within);
      if (of instanceof Missing && !expression.rule.takesMissing) throw of.error();
      const args = expression.args.map((arg) => (arg === undefined ? undefined : evaluate(arg, within)));
      for (const arg of args) if (arg instanceof Missing) throw arg.error();
      return expression.rule.apply({ of, args, budget });
    }
    case 'not':
      return !isTrue(evaluate(expression.of, within));
    case 'sign':
      return expression.factor * toNumber(evaluate(expression.of, within));
    case 'math':
      return calculateAll(expression, within);
    case 'and': {
      const left = evaluate(expression.left, within);
      return isTrue(left) ? evaluate(expression.right, within) : left;
    }
    case 'or': {
      const left = evaluate(expression.left, within);
      return isTrue(left) ? left : evaluate(expression.right, within);
    }
    case 'compare':
      return compareAll(expression, within);
    case 'choice':
      if (isTrue(evaluate(expression.condition, within))) return evaluate(expression.value, within);
      // Without `else`, the result is empty even if missing values raise an error, as in Jinja.
      return expression.otherwise ? evaluate(expression.otherwise, within) : '';
    default:
      return unknownCase(expression);
  }
}

function slice({ of, from, to }: Extract<Expression, { kind: 'slice' }>, within: Evaluation): Value {
  const value = evaluate(of, within);
  if (value instanceof Missing) throw value.error();
  const bound = (part: Expression | undefined): number | undefined => {
    const number = part === undefined ? null : evaluate(part, within);
    if (number === null) return undefined;
    if (!Number.isInteger(number)) throw mistake('a slice needs whole numbers');
    return number as number;
  };
  const [start, end] = [bound(from), bound(to)];
  if (typeof value === 'string') return charactersOf(value, within.budget).slice(start, end).join('');
  if (!isList(value)) throw mistake(`${kindOf(value)} cannot be sliced`);
  within.budget.list(value.length);
  return value.slice(start, end);
}

function makeRecord({ members }: Extract<Expression, { kind: 'record' }>, within: Evaluation): RecordValue {
  return Object.fromEntries(
    members.map(({ key, value }) => {
      const name = evaluate(key, within);
      if (typeof name !== 'string') throw mistake('the names of an object must be texts');
      return [name, evaluate(value, within)];
    }),
  );
}

function makeRange({ args }: Extract<Expression, { kind: 'range' }>, within: Evaluation): readonly number[] {
  const numbers = args.map((arg) => toNumber(evaluate(arg, within)));
  if (!numbers.every(Number.isSafeInteger)) throw mistake('range needs whole numbers');
  const [from, to, step] = numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  if (step === 0) throw mistake('range needs a step');
  const count = Math.max(0, Math.ceil((to - from) / step));
  within.budget.spend(1 + count);
  return Array.from({ length: count }, (_, place) => from + place * step);
}

type Calculation = Extract<Expression, { kind: 'math' }>;

/**
 * Evaluates a chain of calculations iteratively. A sum of two thousand numbers nests as many calculations, each to the
 * left of the next, and recursion would be too deep.
 */
function calculateAll(last: Calculation, within: Evaluation): Value {
  const calculations = [last];
  let first = last.left;
  for (; first.kind === 'math'; first = first.left) {
    within.budget.spend(1);
    calculations.push(first);
  }
  return calculations.reduceRight(
    (left, { operator, right }) => calculate({ operator, left, right: evaluate(right, within) }, within.budget),
    evaluate(first, within),
  );
}

function calculate(
  { operator, left, right }: { operator: MathOperator; left: Value; right: Value },
  budget: Budget,
): Value {
  if (left instanceof Missing) throw left.error();
  if (right instanceof Missing) throw right.error();
  if (operator === '~' || (operator === '+' && typeof left === 'string' && typeof right === 'string')) {
    const [one, other] = [toText(left, budget), toText(right, budget)];
    budget.make(one.length + other.length);
    return one + other;
  }
  if (operator === '+' && isList(left) && isList(right)) {
    budget.list(left.length + right.length);
    return [...left, ...right];
  }
  const numbers = { left: asNumber(left), right: asNumber(right) };
  if (typeof numbers.left === 'number' && typeof numbers.right === 'number')
    return calculateNumbers(operator, { left: numbers.left, right: numbers.right });
  if (operator === '*' && [left, right].some((side) => typeof side === 'string' || isList(side)))
    throw mistake('a text or a list cannot be repeated');
  throw mistake(`"${operator}" does not take ${kindOf(left)} and ${kindOf(right)}`);
}

function calculateNumbers(
  operator: Exclude<MathOperator, '~'>,
  { left, right }: { left: number; right: number },
): number {
  if (right === 0 && operator !== '+' && operator !== '-' && operator !== '*') throw mistake('a division by zero');
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '//':
      return Math.floor(left / right);
    case '%':
      // The result has the divisor's sign, as in Python.
      return ((left % right) + right) % right;
    default:
      return unknownCase(operator);
  }
}

function compareAll({ first, rest }: Extract<Expression, { kind: 'compare' }>, within: Evaluation): boolean {
  let left = evaluate(first, within);
  for (const { operator, value } of rest) {
    const right = evaluate(value, within);
    if (!compare(left, { operator, right, budget: within.budget })) return false;
    left = right;
  }
  return true;
}

function compare(
  left: Value,
  { operator, right, budget }: { operator: Comparison; right: Value; budget: Budget },
): boolean {
  const order = (): number => compareValues(left, { other: right, budget });
  switch (operator) {
    case '==':
      return areEqual(left, { other: right, budget });
    case '!=':
      return !areEqual(left, { other: right, budget });
    case '<':
      return order() < 0;
    case '<=':
      return order() <= 0;
    case '>':
      return order() > 0;
    case '>=':
      return order() >= 0;
    case 'in':
      return isIn(left, { items: right, budget });
    case 'not in':
      return !isIn(left, { items: right, budget });
    default:
      return unknownCase(operator);
  }
}

function toNumber(value: Value): number {
  if (value instanceof Missing) throw value.error();
  const number = asNumber(value);
  if (typeof number !== 'number') throw mistake(`${kindOf(value)} is not a number`);
  return number;
}
