import type { Expression, Rule } from './template-syntax.ts';
import { TemplateSyntaxError } from './tokenize.ts';

type Call = { of: Expression; at: number; positional?: Expression[]; named?: Map<string, Expression> };

/** A rule with what it is given, each value at its place. @throws TemplateSyntaxError for what it does not take */
export function bindRule(rule: Rule, { of, at, positional = [], named = new Map() }: Call): Expression {
  if (rule.isNamedOnly && positional.length > 0)
    throw new TemplateSyntaxError(`${rule.name} takes ${rule.parameters[0]!}= alone`, at);
  if (positional.length > rule.parameters.length)
    throw new TemplateSyntaxError(`${rule.name} takes at most ${rule.parameters.length} values`, at);
  for (const name of named.keys()) {
    const place = rule.parameters.indexOf(name);
    if (place === -1 || place < positional.length)
      throw new TemplateSyntaxError(`${rule.name} does not take ${name} here`, at);
  }
  const args = rule.parameters.map((name, place) => positional[place] ?? named.get(name));
  if (args.slice(0, rule.required).includes(undefined))
    throw new TemplateSyntaxError(`${rule.name} needs ${rule.parameters.slice(0, rule.required).join(', ')}`, at);
  return { kind: 'apply', rule, of, args };
}

/** @throws TemplateSyntaxError when there is none of that name */
export function findRule(rules: ReadonlyMap<string, Rule>, asked: { name: string; at: number; hint: string }): Rule {
  const rule = rules.get(asked.name);
  if (!rule) throw new TemplateSyntaxError(`${asked.hint} is not available`, asked.at);
  return rule;
}
