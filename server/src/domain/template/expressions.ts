import { maxExpressionDepth } from '../limits/push.ts';
import { filters } from './filters.ts';
import { methods } from './methods.ts';
import { bindRule, findRule, tests } from './rules.ts';
import { TemplateSyntaxError, unquote } from './syntax.ts';
import type { Comparison, Expression, MathOperator, NameUses, Rule, TokenStream } from './syntax.ts';

const literals: Record<string, boolean | null> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const words = new Set(['and', 'or', 'not', 'if', 'else', 'in', 'is']);
const comparisons: readonly Comparison[] = ['==', '!=', '<=', '>=', '<', '>', 'in'];

/** Parses one expression, with Jinja's operator precedence. @throws TemplateSyntaxError */
export function parseExpression(tokens: TokenStream, uses: NameUses): Expression {
  return new ExpressionReader(tokens, uses).choice();
}

/** Parses the items of a loop. An `if` after them is the loop's condition, so a conditional expression needs brackets there. */
export function parseWithoutChoice(tokens: TokenStream, uses: NameUses): Expression {
  return new ExpressionReader(tokens, uses).or();
}

class ExpressionReader {
  readonly #tokens: TokenStream;
  readonly #uses: NameUses;
  #depth = 0;

  constructor(tokens: TokenStream, uses: NameUses) {
    this.#tokens = tokens;
    this.#uses = uses;
  }

  choice(): Expression {
    this.#depth += 1;
    if (this.#depth > maxExpressionDepth) throw new TemplateSyntaxError('is nested too deeply', this.#tokens.at);
    let value = this.or();
    while (this.#tokens.take('if')) {
      const condition = this.or();
      const otherwise = this.#tokens.take('else') ? this.choice() : undefined;
      value = { kind: 'choice', condition, value, otherwise };
    }
    this.#depth -= 1;
    return value;
  }

  or(): Expression {
    let left = this.#and();
    while (this.#tokens.take('or')) left = { kind: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#tokens.take('and')) left = { kind: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    let negations = 0;
    while (this.#tokens.take('not')) negations += 1;
    let value = this.#compare();
    for (; negations > 0; negations -= 1) value = { kind: 'not', of: value };
    return value;
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: { operator: Comparison; value: Expression }[] = [];
    for (;;) {
      const operator = this.#takeComparison();
      if (operator === undefined) break;
      rest.push({ operator, value: this.#sum() });
    }
    return rest.length === 0 ? first : { kind: 'compare', first, rest };
  }

  #takeComparison(): Comparison | undefined {
    const tokens = this.#tokens;
    if (tokens.is('not') && tokens.isNext('in')) {
      tokens.next();
      tokens.next();
      return 'not in';
    }
    return comparisons.find((operator) => tokens.take(operator));
  }

  #sum(): Expression {
    return this.#chain(['+', '-'], () =>
      this.#chain(['~'], () => this.#chain(['*', '/', '//', '%'], () => this.#sign())),
    );
  }

  #chain(operators: readonly MathOperator[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((one) => this.#tokens.take(one));
      if (operator === undefined) return left;
      left = { kind: 'math', operator, left, right: operand() };
    }
  }

  #sign(): Expression {
    const signs: (1 | -1)[] = [];
    while (this.#tokens.is('-') || this.#tokens.is('+')) signs.push(this.#tokens.next().text === '-' ? -1 : 1);
    let value = this.#postfix(this.#primary());
    for (const factor of signs.reverse()) value = { kind: 'sign', of: value, factor };
    value = this.#filters(value);
    if (this.#tokens.is('**')) throw new TemplateSyntaxError('"**" is not available', this.#tokens.at);
    return value;
  }

  #primary(): Expression {
    const tokens = this.#tokens;
    const token = tokens.current;
    if (!token) throw tokens.unexpected('a value');
    if (token.kind === 'number') return { kind: 'literal', value: Number(tokens.next().text.replaceAll('_', '')) };
    if (token.kind === 'text') return this.#text();
    if (token.kind === 'name') return this.#name();
    if (tokens.take('(')) return this.#bracket();
    if (tokens.take('[')) return { kind: 'list', items: this.#items(']') };
    if (tokens.take('{')) return this.#record();
    throw tokens.unexpected('a value');
  }

  /** Adjacent string literals are concatenated, as in Python. */
  #text(): Expression {
    let value = '';
    while (this.#tokens.current?.kind === 'text') {
      const { text, at } = this.#tokens.next();
      value += unquote(text);
      if (!value.isWellFormed() || value.includes('\0'))
        throw new TemplateSyntaxError('a text holds what cannot be sent', at);
    }
    return { kind: 'literal', value };
  }

  #name(): Expression {
    const { text: name, at } = this.#tokens.next();
    if (Object.hasOwn(literals, name)) return { kind: 'literal', value: literals[name]! };
    if (words.has(name)) throw new TemplateSyntaxError(`"${name}" is not expected`, at);
    if (!this.#tokens.is('(')) {
      this.#uses.use(name, at);
      const value: Expression = { kind: 'name', name };
      // The name is not followed by an attribute, so it is unknown in advance what is read of the source.
      if (!this.#tokens.is('.') && !this.#tokens.is('[')) this.#uses.readAll(value);
      return value;
    }
    if (name !== 'range') throw new TemplateSyntaxError(`${name}() is not available`, at);
    this.#tokens.next();
    const args = this.#items(')');
    if (args.length < 1 || args.length > 3) throw new TemplateSyntaxError('range takes 1 to 3 numbers', at);
    return { kind: 'range', args };
  }

  #bracket(): Expression {
    if (this.#tokens.take(')')) return { kind: 'list', items: [] };
    const first = this.choice();
    if (this.#tokens.take(')')) return first;
    this.#tokens.expect(',');
    return { kind: 'list', items: [first, ...this.#items(')')] };
  }

  #items(closer: string): Expression[] {
    const items: Expression[] = [];
    while (!this.#tokens.take(closer)) {
      items.push(this.choice());
      if (!this.#tokens.is(closer)) this.#tokens.expect(',');
    }
    return items;
  }

  #record(): Expression {
    const members: { key: Expression; value: Expression }[] = [];
    while (!this.#tokens.take('}')) {
      const key = this.choice();
      this.#tokens.expect(':');
      members.push({ key, value: this.choice() });
      if (!this.#tokens.is('}')) this.#tokens.expect(',');
    }
    return { kind: 'record', members };
  }

  #postfix(value: Expression): Expression {
    let of = value;
    for (;;) {
      if (this.#tokens.take('.')) of = this.#dot(of);
      else if (this.#tokens.take('[')) of = this.#subscript(of);
      else if (this.#tokens.is('('))
        throw new TemplateSyntaxError('the name before "(" is not a method', this.#tokens.at);
      else return of;
    }
  }

  #dot(of: Expression): Expression {
    const { at } = this.#tokens;
    // Jinja reads `list.0` as `list[0]`.
    if (this.#tokens.current?.kind === 'number' && /^\d+$/.test(this.#tokens.current.text))
      return { kind: 'member', of, key: { kind: 'literal', value: Number(this.#tokens.next().text) } };
    const name = this.#tokens.name();
    if (this.#tokens.take('(')) {
      this.#uses.readAll(of);
      return this.#apply(methods, { of, name, at, hint: `the method ${name}()` });
    }
    const key: Expression = { kind: 'literal', value: name };
    this.#uses.readMember(of, key);
    return { kind: 'member', of, key };
  }

  #subscript(of: Expression): Expression {
    const from = this.#tokens.is(':') ? undefined : this.choice();
    if (this.#tokens.take(':')) {
      const to = this.#tokens.is(']') ? undefined : this.choice();
      this.#tokens.expect(']');
      return { kind: 'slice', of, from, to };
    }
    this.#tokens.expect(']');
    this.#uses.readMember(of, from!);
    return { kind: 'member', of, key: from! };
  }

  #filters(value: Expression): Expression {
    let of = value;
    for (;;) {
      const { at } = this.#tokens;
      if (this.#tokens.take('|')) {
        const name = this.#tokens.name();
        if (!this.#tokens.take('('))
          of = bindRule(findRule(filters, { name, at, hint: `the filter ${name}` }), { of, at });
        else of = this.#apply(filters, { of, name, at, hint: `the filter ${name}` });
      } else if (this.#tokens.take('is')) of = this.#test(of);
      else return of;
    }
  }

  #test(of: Expression): Expression {
    const isNegated = this.#tokens.take('not');
    const { at } = this.#tokens;
    const name = this.#tokens.name();
    const hint = `the test ${name}`;
    let test: Expression;
    if (this.#tokens.take('(')) test = this.#apply(tests, { of, name, at, hint });
    else {
      const rule = findRule(tests, { name, at, hint });
      // `is divisibleby 3` needs no brackets.
      const args = rule.required > 0 ? [this.#postfix(this.#primary())] : [];
      test = bindRule(rule, { of, at, positional: args });
    }
    return isNegated ? { kind: 'not', of: test } : test;
  }

  #apply(
    rules: ReadonlyMap<string, Rule>,
    call: { of: Expression; name: string; at: number; hint: string },
  ): Expression {
    const rule = findRule(rules, call);
    const positional: Expression[] = [];
    const named = new Map<string, Expression>();
    while (!this.#tokens.take(')')) {
      if (this.#tokens.current?.kind === 'name' && this.#tokens.isNext('=')) {
        const name = this.#tokens.name();
        this.#tokens.next();
        if (named.has(name)) throw new TemplateSyntaxError(`${name} is given twice`, call.at);
        named.set(name, this.choice());
      } else if (named.size > 0) throw this.#tokens.unexpected('a named value');
      else positional.push(this.choice());
      if (!this.#tokens.is(')')) this.#tokens.expect(',');
    }
    return bindRule(rule, { of: call.of, at: call.at, positional, named });
  }
}
