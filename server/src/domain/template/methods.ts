import { entriesOf, capitalize, replace, rewrite, splitAll, strip } from './filters.ts';
import { countOf, makeRules, recordOf, textOf } from './rules.ts';
import type { Rule, RuleCall } from './syntax.ts';
import { AttributeSource, isRecord, memberOf, Missing, mistake } from './values.ts';
import type { Value } from './values.ts';

type Definition = Pick<Rule, 'apply' | 'parameters' | 'required'>;

const chars = ['chars'];

/** Python's methods of texts and objects that templates use. */
export const methods: ReadonlyMap<string, Rule> = makeRules({
  upper: onText(rewrite((text) => text.toUpperCase())),
  lower: onText(rewrite((text) => text.toLowerCase())),
  capitalize: onText(rewrite(capitalize)),
  title: onText(rewrite(titleAll)),
  strip: { parameters: chars, apply: onText((call) => strip(call)) },
  lstrip: { parameters: chars, apply: onText((call) => strip(call, { start: true, end: false })) },
  rstrip: { parameters: chars, apply: onText((call) => strip(call, { start: false, end: true })) },
  split: { parameters: ['sep', 'maxsplit'], apply: onText(split) },
  replace: { parameters: ['old', 'new', 'count'], required: 2, apply: onText(replace) },
  startswith: onPart((text, part) => text.startsWith(part)),
  endswith: onPart((text, part) => text.endsWith(part)),
  get: { parameters: ['key', 'default'], required: 1, apply: get },
  items: ({ of, budget }) => entriesOf(of, budget),
  keys: ({ of, budget }) => namesOf(of, budget),
  values: ({ of, budget }) => {
    namesOf(of, budget);
    return Object.values(recordOf(of));
  },
});

/** Python's `title`: a word begins after any character that is not a letter. */
function titleAll(text: string): string {
  return text.toLowerCase().replace(/\p{L}+/gu, capitalize);
}

function onText(apply: Rule['apply']): Rule['apply'] {
  return (call) => {
    textOf(call.of);
    return apply(call);
  };
}

function onPart(holds: (text: string, part: string) => boolean): Definition {
  return {
    parameters: ['part'],
    required: 1,
    apply: ({ of, args: [part], budget }) => {
      budget.read(textOf(part).length);
      return holds(textOf(of), textOf(part));
    },
  };
}

function split({ of, args: [separator, most], budget }: RuleCall): Value {
  const text = textOf(of);
  const limit = most === undefined ? -1 : countOf(most);
  if (separator !== undefined && separator !== null) {
    const by = textOf(separator);
    if (by === '') throw mistake('split needs a separator');
    const parts = splitAll(text, { by, budget });
    return limit < 0 || parts.length <= limit + 1 ? parts : [...parts.slice(0, limit), parts.slice(limit).join(by)];
  }
  budget.list(text.length);
  const words = text.split(/\s+/).filter((word) => word !== '');
  return limit < 0 ? words : splitWords(text, limit);
}

/** Splits off `limit` words; the rest stays as it is. */
function splitWords(text: string, limit: number): string[] {
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '' && words.length < limit) {
    const end = rest.search(/\s/);
    words.push(end === -1 ? rest : rest.slice(0, end));
    rest = end === -1 ? '' : rest.slice(end).trimStart();
  }
  return rest === '' ? words : [...words, rest];
}

/** Returns `None` if there is neither the member nor a default, as in Python. */
function get({ of, args: [key, instead = null], budget }: RuleCall): Value {
  const found = memberOf(of instanceof AttributeSource || isRecord(of) ? of : recordOf(of), { key: key!, budget });
  return found instanceof Missing ? instead : found;
}

function namesOf(of: Value, budget: RuleCall['budget']): string[] {
  const names = Object.keys(recordOf(of));
  budget.list(names.length);
  return names;
}
