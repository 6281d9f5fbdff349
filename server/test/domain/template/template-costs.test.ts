import { describe, expect, test } from 'vitest';
import { Budget } from '../../../src/domain/template/values.ts';
import { maxRenderedCharacters, maxTemplateSteps } from '../../../src/domain/limits/push.ts';
import { parseTemplate } from '../../../src/domain/template/parser.ts';
import { renderTemplate } from '../../../src/domain/template/render.ts';
import { renderText, sourcesOf } from '../../template/template-sources.ts';

/** T has 6,400 characters, L 1,600 numbers, R 160 members, Ts 16 texts of 160 characters. */
const sources = sourcesOf({
  T: 'ab c'.repeat(1_600),
  L: Array.from({ length: 1_600 }, (_, number) => number),
  R: Object.fromEntries(Array.from({ length: 160 }, (_, number) => [`k${number}`, number])),
  Ts: Array.from({ length: 16 }, () => 'x'.repeat(160)),
});

/** The fewest steps with which the template ends. */
function stepsOf(text: string): number {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  const ends = (steps: number): boolean => {
    const budget = new Budget();
    budget.spend(maxTemplateSteps - steps);
    return 'text' in renderTemplate(parsed.template, { sources, budget });
  };
  let [low, high] = [0, maxTemplateSteps];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (ends(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const whole = /\b(Ts|[TLR])\b(?!['"])/g;

// A step is one operation, 64 characters that it reads, or 16 characters or items that it makes (docs/decisions/0019).
describe('an operation', () => {
  test.each([
    ['1', 1],
    ["'a'", 1],
    ['true', 1],
    ['[1, 2]', 3],
    ["{'a': 1}", 3],
    ['T[0]', 507],
    ['L[0]', 5],
    ['T[:1]', 507],
    ['L[:1]|first', 108],
    ['T|length', 506],
    ['L|length', 4],
    ['R|length', 4],
    ['T == T', 109],
    ['L == L', 1608],
    ['R == R', 179],
    ['T < T', 109],
    ['L < L', 1608],
    ["'z' in T", 106],
    ['-1 in L', 1707],
    ["'k1' in R", 5],
    ["'text' in UserAttribute", 3],
    ["(T ~ 'a')|length", 909],
    ['(L + [1])|length', 108],
    ['(T|upper)|length', 1309],
    ['(T|string)|length', 1309],
    ['(T|e)|length', 1309],
    ['(T|trim)|length', 608],
    ["(T|trim('a'))|length", 1111],
    ["(T|replace('z', 'y'))|length", 1112],
    ["(T|replace('c', 'y'))|length", 1212],
    ["(T|replace('c', ''))|length", 1087],
    ["(T|replace('c', 'yz'))|length", 1437],
    ['T|truncate(9)', 11],
    ['T|wordcount', 405],
    ['(T|format)|length', 908],
    ['(T|tojson)|length', 909],
    ['(Ts|string)|length', 2139],
    ['L|first', 105],
    ['T|first', 506],
    ['R|first', 15],
    ['(R|items)|length', 166],
    ["(Ts|join(','))|length", 1587],
    ["([{'a': [1]}]|map(attribute='a.0'))|length", 11],
    ['L|max', 1704],
    ['Ts|max', 242],
    ['Ts|max(true)', 67],
    ['(L|reverse)|length', 106],
    ['L|sum', 1604],
    ['(Ts|unique)|length', 243],
    ['T.startswith(T)', 108],
    ['(T.upper())|length', 1309],
    ["(T.split('c'))|length", 207],
    ["(T.split('z'))|length", 107],
    ['(T.split())|length', 406],
    ['(R.keys())|length', 16],
    ['(R.values())|length', 16],
    ['(R.items())|length', 166],
    ['range(100)|length', 104],
    ['1 + 2 + 3', 5],
    ['5|round', 2],
    ['1 is eq 1', 4],
    ['1 is lt 2', 4],
    ['1 < 2 < 3', 6],
    ['not 1', 2],
    ['-1', 2],
    ['1 if 1 else 2', 3],
    ['1 and 2', 3],
    ['R.k1', 5],
    ["R.get('k1')", 5],
    ['1.5', 1],
    ['-0.0', 2],
  ])('costs for %s: %d steps', (expression, steps) => {
    expect(stepsOf(`{% set t = ${expression.replaceAll(whole, 'UserAttribute.$1')} %}`)).toBe(steps);
  });

  test.each([
    ['a'.repeat(640), 11],
    ['{{ 1 }}', 4],
    ["{{ 'a' }}", 2],
    ['{{ [1, 2] }}', 11],
    ["{{ {'a': 1} }}", 10],
    ['{% if true %}{% endif %}', 1],
    ['{% for x in [1, 2, 3] %}{% endfor %}', 8],
    ['{% for x in UserAttribute.L %}{% endfor %}', 1_704],
    ['{% for x in UserAttribute.L if false %}{% endfor %}', 1_704],
    ["{{ '%.2f %s'|format(1, 'abc') }}", 8],
  ])('costs in total for %s: %d steps', (text, steps) => expect(stepsOf(text)).toBe(steps));
});

describe('the limits of a rendering', () => {
  const reasonOf = (text: string, attributes: Record<string, unknown> = {}): unknown => {
    const rendered = renderText(text, sourcesOf(attributes));
    return 'fault' in rendered ? rendered.fault : undefined;
  };
  const longest = 'x'.repeat(maxRenderedCharacters);

  test('allow all steps, but not one more', () => {
    const budget = new Budget();
    budget.spend(maxTemplateSteps);
    expect(() => budget.spend(1)).toThrow('takes more than 5000 steps');
  });

  test('allow an intermediate text of the maximum size, but not a longer one', () => {
    expect(reasonOf("{% set t = UserAttribute.t ~ '' %}", { t: longest })).toBeUndefined();
    expect(reasonOf("{% set t = UserAttribute.t ~ 'x' %}", { t: longest })).toEqual({
      cause: 'LIMIT',
      reason: 'makes a text of more than 8192 characters',
    });
  });

  test('allow all texts together the maximum size, and no more', () => {
    expect(reasonOf('{{ UserAttribute.t }}', { t: longest })).toBeUndefined();
    expect(reasonOf('x{{ UserAttribute.t }}', { t: longest })).toEqual({
      cause: 'LIMIT',
      reason: 'makes more than 8192 characters',
    });
  });

  test('format the smallest number completely, and never -0', () => {
    expect(renderText('{{ UserAttribute.n }} {{ -0.0 }}', sourcesOf({ n: -1.2345678901234568e-300 }))).toEqual({
      text: '-1.2345678901234568e-300 0',
    });
  });
});

describe('the nesting of a template', () => {
  const nested = (opener: string, closer: string, depth: number): string =>
    opener.repeat(depth) + '1' + closer.repeat(depth);
  const faultOf = (text: string): string | undefined => {
    const parsed = parseTemplate(text);
    return 'fault' in parsed ? parsed.fault : undefined;
  };

  test('allows 49 brackets, and as many again after them, but not 50', () => {
    const brackets = nested('(', ')', 49);
    expect(faultOf(`{{ ${brackets} + ${brackets} }}`)).toBeUndefined();
    expect(faultOf(`{{ ${nested('(', ')', 50)} }}`)).toBe('is nested too deeply');
  });

  test('allows 19 blocks, and as many again after them, but not 20', () => {
    const blocks = nested('{% if 1 %}', '{% endif %}', 19);
    expect(faultOf(blocks + blocks)).toBeUndefined();
    expect(faultOf(`\n${nested('{% if 1 %}', '{% endif %}', 20)}`)).toBe('line 2: is nested too deeply');
    expect(faultOf('{% if 1 %}'.repeat(20))).toBe('is nested too deeply');
  });
});
