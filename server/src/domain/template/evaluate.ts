import type { Budget } from './budget.ts';
import {
  areEqual,
  asNumber,
  charactersOf,
  compareValues,
  isIn,
  isList,
  isTrue,
  kindOf,
  memberOf,
  Missing,
  mistake,
  toText,
} from './template-value.ts';
import type { Comparison, Expression, MathOperator } from './template-syntax.ts';
import type { RecordValue, Value } from './template-value.ts';
import { unknownCase } from '../unknown-case.ts';

/** Names and their values; those of a loop's round hide those around it. */
export class Scope {
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

export type Evaluation = { scope: Scope; budget: Budget };

/** The value of an expression. Each step is paid for. @throws RenderError */
export function evaluate(expression: Expression, within: Evaluation): Value {
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
      // Without `else` it is nothing, even where what is missing fails, as in Jinja.
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

/** A sum of two thousand numbers is as many calculations, each to the left of the next: a call for each would be too deep. */
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
      // The sign is the divisor's, as in Python.
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
  if (typeof number !== 'number') throw mistake(`${kindOf(value)} is no number`);
  return number;
}
