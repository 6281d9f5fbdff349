import { describe, expect, test } from 'vitest';
import { maxRenderedCharacters, maxTemplateSteps } from '../../src/domain/limits/push.ts';
import { parseTemplate } from '../../src/domain/template/parser.ts';
import { renderTemplate } from '../../src/domain/template/render.ts';
import { Budget } from '../../src/domain/template/values.ts';
import { renderText, sourcesOf } from '../template/template-sources.ts';

/** T has 6,400 characters, L 1,600 numbers, R 160 members, Ts 16 texts of 160 characters. */
const sources = sourcesOf({
  T: 'ab c'.repeat(1_600),
  L: Array.from({ length: 1_600 }, (_, number) => number),
  R: Object.fromEntries(Array.from({ length: 160 }, (_, number) => [`k${number}`, number])),
  Ts: Array.from({ length: 16 }, () => 'x'.repeat(160)),
});

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

describe('an impossible operation in a template', () => {
  test.each([
    ['{{ 1 // 0 }}', 'UNKNOWN', 'a division by zero'],
    ['{{ 1 % 0 }}', 'UNKNOWN', 'a division by zero'],
    ['{{ [1] - [1] }}', 'UNKNOWN', '"-" does not take a list and a list'],
    ["{{ 'a' - 'b' }}", 'UNKNOWN', '"-" does not take a text and a text'],
    ['{{ {} + {} }}', 'UNKNOWN', '"+" does not take an object and an object'],
    ['{{ none + 1 }}', 'UNKNOWN', '"+" does not take none and a number'],
    ['{{ 1 + none }}', 'UNKNOWN', '"+" does not take a number and none'],
    ["{{ - 'a' }}", 'UNKNOWN', 'a text is not a number'],
    ['{{ 5[1:] }}', 'UNKNOWN', 'a number cannot be sliced'],
    ["{{ {'a': 1}[:1] }}", 'UNKNOWN', 'an object cannot be sliced'],
    ["{{ 'abc'['a':] }}", 'UNKNOWN', 'a slice needs whole numbers'],
    ["{{ 'abc'[1.5:] }}", 'UNKNOWN', 'a slice needs whole numbers'],
    ["{{ 'abc'[true] }}", 'UNDEFINED', 'a member has no value'],
    ["{{ 'abc'[1.5] }}", 'UNDEFINED', 'the item 1.5 has no value'],
    ["{{ {'a': 1}['b'] }}", 'UNDEFINED', 'the member b has no value'],
    ["{{ {'a': 1}[0] }}", 'UNDEFINED', 'a member has no value'],
    ['{{ range(1.5)|list }}', 'UNKNOWN', 'range needs whole numbers'],
    ['{{ range(1, 5, 0)|list }}', 'UNKNOWN', 'range needs a step'],
    ['{{ range(1, 2.5)|list }}', 'UNKNOWN', 'range needs whole numbers'],
    ["{{ range('a')|list }}", 'UNKNOWN', 'a text is not a number'],
    ["{{ 1 in 'abc' }}", 'UNKNOWN', 'a number cannot be in a text'],
    ["{{ 'a' in 5 }}", 'UNKNOWN', 'a number has no items'],
    ["{{ 'a' in none }}", 'UNKNOWN', 'none has no items'],
    ['{% for a, b in [[1, 2, 3]] %}{{ a }}{% endfor %}', 'UNKNOWN', '2 values are expected'],
    ['{% for a, b in [1] %}{{ a }}{% endfor %}', 'UNKNOWN', '2 values are expected'],
    ['{% for x in 5 %}{% endfor %}', 'UNKNOWN', 'a number has no items'],
    ['{% for x in none %}{% endfor %}', 'UNKNOWN', 'none has no items'],
    ['{% set a, b = [1] %}', 'UNKNOWN', '2 values are expected'],
    ['{% set a, b = 5 %}', 'UNKNOWN', '2 values are expected'],
    ["{{ 'abc'|replace('a', 5) }}", 'UNKNOWN', 'a text is needed, not a number'],
    ["{{ 'a'|truncate(2) }}", 'UNKNOWN', 'truncate needs room for its end'],
    ["{{ 'a'|truncate(5, leeway=-1) }}", 'UNKNOWN', 'truncate needs room for its end'],
    ["{{ '%s'|format('a', 'b') }}", 'UNKNOWN', 'format has more values than places'],
    ["{{ '%s %s'|format('a') }}", 'UNKNOWN', 'format has more places than values'],
    ["{{ '%d'|format('a') }}", 'UNKNOWN', 'format needs a number here'],
    ["{{ '%x'|format(10) }}", 'UNKNOWN', 'format takes %s, %d, %f and %.2f'],
    ["{{ 'a % b'|format(1) }}", 'UNKNOWN', 'format takes %s, %d, %f and %.2f'],
    ['{{ 5|length }}', 'UNKNOWN', 'a number has no length'],
    ['{{ none|length }}', 'UNKNOWN', 'none has no length'],
    ['{{ []|first }}', 'UNDEFINED', 'an item of an empty list has no value'],
    ['{{ []|last }}', 'UNDEFINED', 'an item of an empty list has no value'],
    ['{{ 5|first }}', 'UNKNOWN', 'a number has no items'],
    ['{{ 5|list }}', 'UNKNOWN', 'a number has no items'],
    ['{{ 5|items|list }}', 'UNKNOWN', 'an object is needed, not a number'],
    ["{{ [1, 'a']|sort }}", 'UNKNOWN', 'a text and a number have no order'],
    ["{{ ['a']|sum }}", 'UNKNOWN', 'a number is needed, not a text'],
    ["{{ 'ab'|sum }}", 'UNKNOWN', 'a list is needed, not a text'],
    ["{{ 'a'|abs }}", 'UNKNOWN', 'a number is needed, not a text'],
    ["{{ 1|round(1, 'up') }}", 'UNKNOWN', 'round takes the methods common, ceil and floor'],
    ["{{ 1.5|round(1, 'up') }}", 'UNKNOWN', 'round takes the methods common, ceil and floor'],
    ["{{ 'a'.split('') }}", 'UNKNOWN', 'split needs a separator'],
    ["{{ 'abc'.startswith(1) }}", 'UNKNOWN', 'a text is needed, not a number'],
    ["{{ 'a'.get('b') }}", 'UNKNOWN', 'an object is needed, not a text'],
    ["{{ 'a'.items() }}", 'UNKNOWN', 'an object is needed, not a text'],
    ['{{ [1].keys() }}', 'UNKNOWN', 'an object is needed, not a list'],
    ['{{ 5.upper() }}', 'UNKNOWN', 'a text is needed, not a number'],
    ['{{ [1].upper() }}', 'UNKNOWN', 'a text is needed, not a list'],
    ["{{ 'a' is even }}", 'UNKNOWN', 'a number is needed, not a text'],
    ['{{ 9 is divisibleby 0 }}', 'UNKNOWN', 'a division by zero'],
    ["{{ 0.1|round(16, 'up') }}", 'UNKNOWN', 'round takes at most 15 digits'],
    ["{{ 'a'|truncate(1.5) }}", 'UNKNOWN', 'a small whole number is needed'],
    ["{{ 'a'|truncate(1000001) }}", 'UNKNOWN', 'a small whole number is needed'],
    ['{{ 1|round(16) }}', 'UNKNOWN', 'round takes at most 15 digits'],
    ["{{ '1'|int(0, 16) }}", 'UNKNOWN', 'int takes the base 10 alone'],
    ['{{ {1: 2} }}', 'UNKNOWN', 'the names of an object must be texts'],
    ["{{ '%.2s'|format('a') }}", 'UNKNOWN', 'format needs a number here'],
    ["{{ '%.2d'|format(1) }}", 'UNKNOWN', 'format takes %s, %d, %f and %.2f'],
    ["{{ '%f'|format(1e15) }}", 'UNKNOWN', 'format takes %s, %d, %f and %.2f'],
    ['{{ UserAttribute|tojson }}', 'UNKNOWN', 'a source of attributes is not JSON'],
    ['{{ [UserAttribute] }}', 'UNKNOWN', "UserAttribute needs a name, as in UserAttribute['First Name']"],
    ['{{ UserAttribute[1] }}', 'UNKNOWN', 'UserAttribute needs a name in quotes'],
    ['{{ UserAttribute|length }}', 'UNKNOWN', 'UserAttribute has no length'],
    ['{{ UserAttribute.keys() }}', 'UNKNOWN', 'an object is needed, not UserAttribute'],
    ['{{ UserAttribute + 1 }}', 'UNKNOWN', '"+" does not take UserAttribute and a number'],
    ['{{ true|upper + 1 }}', 'UNKNOWN', '"+" does not take a text and a number'],
    ['{{ true|first }}', 'UNKNOWN', 'yes or no has no items'],
    ['{{ true[1:] }}', 'UNKNOWN', 'yes or no cannot be sliced'],
    ['{{ 5|items }}', 'UNKNOWN', 'an object is needed, not a number'],
    ['{{ [1, {}]|max }}', 'UNKNOWN', 'an object and a number have no order'],
    ['{{ none < none }}', 'UNKNOWN', 'none and none have no order'],
    ['{{ [1] < 2 }}', 'UNKNOWN', 'a list and a number have no order'],
    ['{{ 1 < [2] }}', 'UNKNOWN', 'a number and a list have no order'],
    ["{{ 'a' < 2 }}", 'UNKNOWN', 'a text and a number have no order'],
    [
      "{{ {'a': 1}['nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'] }}",
      'UNDEFINED',
      'the member nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn… has no value',
    ],
    [
      "{{ {'a': 1}['nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'] }}",
      'UNDEFINED',
      'the member nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn has no value',
    ],
    [
      "{{ UserAttribute['nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'] }}",
      'USER_ATTRIBUTE',
      "UserAttribute['nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…'] has no value",
    ],
    ['{{ [1]|map(attribute=1.5) }}', 'UNKNOWN', 'a small whole number is needed'],
    ['{{ [1]|map(attribute=[]) }}', 'UNKNOWN', 'a text is needed, not a list'],
    ["{{ [{'a': 1}]|map(attribute='b')|list }}", 'UNDEFINED', 'the member b has no value'],
    ["{{ [[1]]|map(attribute='1')|list }}", 'UNDEFINED', 'the item 1 has no value'],
    ['{{ EventAttribute.a }}', 'EVENT_ATTRIBUTE', "EventAttribute['a'] has no value"],
    ['{% if false %}{% set a = 1 %}{% endif %}{{ a|upper }}', 'UNDEFINED', 'a has no value'],
    ['{{ 1e308 * 10 }}', 'UNKNOWN', 'a number became too large'],
    ['{{ 2 * [1] }}', 'UNKNOWN', 'a text or a list cannot be repeated'],
    ["{{ 2 * 'a' }}", 'UNKNOWN', 'a text or a list cannot be repeated'],
    ['{{ {} * 2 }}', 'UNKNOWN', '"*" does not take an object and a number'],
    ['{{ [1] / 2 }}', 'UNKNOWN', '"/" does not take a list and a number'],
  ])('%s', (text, cause, reason) => {
    expect(renderText(text, sourcesOf({}))).toEqual({ fault: { cause, reason } });
  });
});

describe('an attribute that the user does not have', () => {
  test.each([
    '{{ UserAttribute.nope is eq 1 }}',
    '{{ UserAttribute.nope is even }}',
    '{{ 1 is eq UserAttribute.nope }}',
    '{{ [UserAttribute.nope] }}',
    '{{ UserAttribute.nope == 1 }}',
    '{{ 1 == UserAttribute.nope }}',
    '{{ UserAttribute.nope < 1 }}',
    '{{ 1 < UserAttribute.nope }}',
    '{{ UserAttribute.nope + 1 }}',
    '{{ 1 + UserAttribute.nope }}',
    "{{ UserAttribute.nope ~ 'a' }}",
    "{{ 'a' ~ UserAttribute.nope }}",
    '{{ -UserAttribute.nope }}',
    '{{ not UserAttribute.nope }}',
    '{{ UserAttribute.nope and 1 }}',
    '{{ UserAttribute.nope or 1 }}',
    '{{ UserAttribute.nope in [1] }}',
    '{{ 1 in UserAttribute.nope }}',
    '{{ UserAttribute.nope[1:] }}',
    '{{ UserAttribute.nope.a }}',
    "{{ {'a': 1}[UserAttribute.nope] }}",
    "{{ 'a'|replace(UserAttribute.nope, 'b') }}",
    '{{ UserAttribute.nope|length }}',
    '{{ UserAttribute.nope|join }}',
    '{{ [UserAttribute.nope]|join }}',
    '{{ [1, UserAttribute.nope]|sort }}',
    '{{ [1, UserAttribute.nope]|tojson }}',
    '{% for x in UserAttribute.nope %}{% endfor %}',
    '{% set a, b = UserAttribute.nope %}',
    '{% if UserAttribute.nope %}{% endif %}',
    '{{ 1 if UserAttribute.nope else 2 }}',
  ])('fails with its name wherever it is used: %s', (text) => {
    expect(renderText(text, sourcesOf({}))).toEqual({
      fault: { cause: 'USER_ATTRIBUTE', reason: "UserAttribute['nope'] has no value" },
    });
  });
});

describe('an invalid template', () => {
  test.each([
    ['{# open', 'a comment has no end'],
    ['a\n{# open', 'line 2: a comment has no end'],
    ['{% raw %}x', 'raw has no endraw'],
    ['{{ 1', '"}}" is missing'],
    ['{% if true', '"%}" is missing'],
    ["{{ 'a }}", 'a text has no closing quote'],
    ['{{ "a }}', 'a text has no closing quote'],
    ["{% if 'a %}", 'a text has no closing quote'],
    ['{{ @ }}', '"@" is not expected'],
    ['{{ 👍 }}', '"👍" is not expected'],
    ['{{ (1 }}', '"}" has no partner'],
    ['{{ 1) }}', '")" has no partner'],
    ['{{ [1) }}', '")" has no partner'],
    ['{{ {1] }}', '"]" has no partner'],
    ['{{ }}', 'a value is expected, not the end'],
    ['{% %}', 'a name is expected, not the end'],
    ['{% 1 %}', 'a name is expected, not "1"'],
    ['{{ 1 2 }}', '"2" is not expected'],
    ['{{ a b }}', '"b" is not expected'],
    ['{{ 1 + }}', 'a value is expected, not the end'],
    ['{{ 1 | }}', 'a name is expected, not the end'],
    ['{{ 1|2 }}', 'a name is expected, not "2"'],
    ['{{ 1 is }}', 'a name is expected, not the end'],
    ['{{ . }}', 'a value is expected, not "."'],
    ['{{ 1. }}', 'a name is expected, not the end'],
    ['{{ [1, 2 3] }}', ', is expected, not "3"'],
    ['{{ [1 2] }}', ', is expected, not "2"'],
    ['{{ (1 2) }}', ', is expected, not "2"'],
    ['{{ {1: 2 3: 4} }}', ', is expected, not "3"'],
    ['{{ {1 2} }}', ': is expected, not "2"'],
    ["{{ 'a'[1 2] }}", '] is expected, not "2"'],
    ["{{ 'a'[1:2:3] }}", '] is expected, not ":"'],
    ['{{ and }}', '"and" is not expected'],
    ['{{ if }}', '"if" is not expected'],
    ['{{ in }}', '"in" is not expected'],
    ['{{ 1 if }}', 'a value is expected, not the end'],
    ['{{ not }}', 'a value is expected, not the end'],
    ['{{ range() }}', 'range takes 1 to 3 numbers'],
    ['{{ range(1, 2, 3, 4) }}', 'range takes 1 to 3 numbers'],
    ['{{ range }}', "range is unknown; attributes of the user are written UserAttribute['range']"],
    ["{{ 'a'() }}", 'the name before "(" is not a method'],
    ['{{ [1](2) }}', 'the name before "(" is not a method'],
    ['{{ 1 is nope }}', 'the test nope is not available'],
    ['{{ 1 is nope(1) }}', 'the test nope is not available'],
    ['{{ 1|nope(1) }}', 'the filter nope is not available'],
    ["{{ 'a'.nope() }}", 'the method nope() is not available'],
    ['{{ 1|round(1, precision=2) }}', 'round does not take precision here'],
    ['{{ 1|round(precision=1, precision=2) }}', 'precision is given twice'],
    ['{{ 1|round(precision=1, 2) }}', 'a named value is expected, not "2"'],
    ['{{ 1|round(nope=1) }}', 'round does not take nope here'],
    ['{{ 1|abs(1) }}', 'abs takes at most 0 values'],
    ["{{ 1|replace('a') }}", 'replace needs old, new'],
    ['{{ 1 is divisibleby }}', 'a value is expected, not the end'],
    ['{{ 1 is divisibleby() }}', 'divisibleby needs num'],
    ['{% for %}', 'a name is expected, not the end'],
    ['{% for x %}', 'in is expected, not the end'],
    ['{% for x in %}', 'a value is expected, not the end'],
    ['{% for x in [1] 2 %}{% endfor %}', '"2" is not expected'],
    ['{% for x in [1] %}{% endfor 2 %}', '"2" is not expected'],
    ['{% for x in [1] %}{% else 2 %}{% endfor %}', '"2" is not expected'],
    ['{% for x in [1] %}{% else %}{% endfor 2 %}', '"2" is not expected'],
    ['{% for x in [1] %}', '"endfor" is missing'],
    ['{% for x in [1] %}{% else %}', '"endfor" is missing'],
    ['{% for loop in [1] %}{% endfor %}', 'loop cannot be given a value'],
    ['{% for UserAttribute in [1] %}{% endfor %}', 'UserAttribute cannot be given a value'],
    ['{% for x in [1] if %}{% endfor %}', 'a value is expected, not the end'],
    [
      '{% for x in [1] %}{% endfor %}{{ loop.index }}',
      "loop is unknown; attributes of the user are written UserAttribute['loop']",
    ],
    ['{% for x in loop %}{% endfor %}', "loop is unknown; attributes of the user are written UserAttribute['loop']"],
    ['{% if true %}', '"endif" is missing'],
    ['{% if true %}{% else %}', '"endif" is missing'],
    ['{% if true %}{% else %}{% else %}{% endif %}', '"else" is not expected'],
    ['{% if true %}{% else %}{% elif true %}{% endif %}', '"elif" is not expected'],
    ['{% if true %}{% else 1 %}{% endif %}', '"1" is not expected'],
    ['{% if true %}{% endif 1 %}', '"1" is not expected'],
    ['{% if true %}{% elif %}{% endif %}', 'a value is expected, not the end'],
    ['{% if true 1 %}{% endif %}', '"1" is not expected'],
    ['{% if %}{% endif %}', 'a value is expected, not the end'],
    ['{% endif %}', '"endif" is not expected'],
    ['{% else %}', '"else" is not expected'],
    ['{% nope %}', '"nope" is not expected'],
    ['{% set x %}', '"set" of a block is not available'],
    ['{% set x = %}', 'a value is expected, not the end'],
    ['{% set x = 1 2 %}', '"2" is not expected'],
    ['{% set x, = 1 %}', 'a name is expected, not "="'],
    ['{% set 1 = 1 %}', 'a name is expected, not "1"'],
    ['{% set loop = 1 %}', 'loop cannot be given a value'],
    ['{% set x.a = 1 %}', '= is expected, not "."'],
    ['{% endraw %}', '"endraw" is not expected'],
    ['{% block a %}', '"block" is not available'],
    ['{% with %}', '"with" is not available'],
    ['{{ x }}', "x is unknown; attributes of the user are written UserAttribute['x']"],
    ['{{ ContentBlock.a }}', 'ContentBlock is not available in this version'],
    ['{{ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1 }}', '"1" is not expected'],
    ["{{ 'a' 1 }}", '"1" is not expected'],
    ['{{ 1|d(a=1) }}', 'd does not take a here'],
    ['{{ UserAttribute.1.5 }}', 'a name is expected, not "1.5"'],
    ['{{ 1 ** 2 }}', '"**" is not available'],
    ['{{ -1 ** 2 }}', '"**" is not available'],
    ['{{ super() }}', 'super() is not available'],
    ["{{ 1|map('a') }}", 'map takes attribute= alone'],
    ['{{ 1|map }}', 'map needs attribute'],
    ['{{ true() }}', 'the name before "(" is not a method'],
    ['{{ a.b( }}', '"}" has no partner'],
    ['{{ "\\ud800" }}', 'a text holds what cannot be sent'],
    ['{{ 1 }}\n\n\n{{ x', 'line 4: "}}" is missing'],
    ['{{ [1, 2 }}', '"}" has no partner'],
    ['{{ not }}', 'a value is expected, not the end'],
    ["{{ {'a': } }}", 'a value is expected, not "}"'],
    ['{{ 1 not 2 }}', '"not" is not expected'],
    ['{{ 1 not in }}', 'a value is expected, not the end'],
    ['{{ 1 == }}', 'a value is expected, not the end'],
    ["{{ '%s'|format(1, 2, 3, 4, 5, 6, 7, 8, 9) }}", 'format takes at most 8 values'],
    [
      '{{ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb }}',
      '"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" is not expected',
    ],
  ])('%s', (text, fault) => expect(parseTemplate(text)).toEqual({ fault }));
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
