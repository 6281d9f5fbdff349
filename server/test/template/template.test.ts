import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { maxRenderedCharacters } from '../../src/domain/limits/push.ts';
import { parseTemplate } from '../../src/domain/template/parser.ts';
import { renderText, sourcesOf } from './template-sources.ts';
import { propertyRuns } from '../property-runs.ts';

const reference = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'fixtures', 'jinja.json'), 'utf8')) as {
  attributes: Record<string, unknown>;
  cases: { template: string; output?: string; error?: string }[];
  malformed: string[];
};

describe('a template', () => {
  test.each(reference.cases)('gives what Jinja gives: $template', ({ template, output }) => {
    const rendered = renderText(template, sourcesOf(reference.attributes));
    if (output === undefined) expect(rendered).toHaveProperty('fault');
    else expect(rendered).toEqual({ text: output });
  });

  test.each(reference.malformed)('that Jinja refuses is refused: %s', (template) => {
    expect(parseTemplate(template)).toHaveProperty('fault');
  });

  test('shows a whole number without .0, as JSON wrote it', () => {
    expect(renderText('{{ 6 / 2 }} {{ UserAttribute.n }} {{ 2.0 }}', sourcesOf({ n: 7.0 }))).toEqual({ text: '3 7 2' });
  });

  test('takes null for missing', () => {
    const sources = sourcesOf({ name: null, deep: { name: null } });
    expect(renderText("{{ UserAttribute['name']|d('x') }}{{ UserAttribute['deep'].name|d('y') }}", sources)).toEqual({
      text: 'xy',
    });
  });

  test('shows no member that is not the data’s own', () => {
    for (const name of ['constructor', '__proto__', 'length', 'toString'])
      expect(renderText(`{{ UserAttribute.o.${name}|d('none') }}`, sourcesOf({ o: {} }))).toEqual({ text: 'none' });
  });

  test('cannot make text that is not well-formed', () => {
    expect(renderText('{{ UserAttribute.e[:1] }}{{ UserAttribute.e[0] }}', sourcesOf({ e: '👍👍' }))).toEqual({
      text: '👍👍',
    });
    expect(parseTemplate(String.raw`{{ '\ud83d' }}`)).toEqual({ fault: 'a text holds what cannot be sent' });
    expect(parseTemplate(String.raw`{{ '\x00' }}`)).toEqual({ fault: 'a text holds what cannot be sent' });
  });
});

describe('what fails', () => {
  const sources = sourcesOf({ list: [1] }, { team: 'Reds' });
  test.each([
    ["{{ UserAttribute['First Name'] }}", 'USER_ATTRIBUTE', "UserAttribute['First Name'] has no value"],
    ["{% if UserAttribute['x'] > 1 %}{% endif %}", 'USER_ATTRIBUTE', "UserAttribute['x'] has no value"],
    [
      "{{ BusinessEventAttribute['season']|upper }}",
      'BUSINESS_EVENT_ATTRIBUTE',
      "BusinessEventAttribute['season'] has no value",
    ],
    ['{{ UserAttribute.list[3] }}', 'UNDEFINED', 'the item 3 has no value'],
    ['{% if false %}{% set a = 1 %}{% endif %}{{ a }}', 'UNDEFINED', 'a has no value'],
    ['{{ UserAttribute.list + 1 }}', 'UNKNOWN', '"+" does not take a list and a number'],
    ["{{ 'a' * 3 }}", 'UNKNOWN', 'a text or a list cannot be repeated'],
    ['{{ [1] * 3 }}', 'UNKNOWN', 'a text or a list cannot be repeated'],
    ['{{ UserAttribute }}', 'UNKNOWN', "UserAttribute needs a name, as in UserAttribute['First Name']"],
    ['{{ 1e308 * 10 }}', 'UNKNOWN', 'a number became too large'],
  ])('%s is counted as %s', (template, cause, reason) => {
    expect(renderText(template, sources)).toEqual({ fault: { cause, reason } });
  });
});

describe('what is refused before anything is sent', () => {
  test.each([
    ['{{ First_Name }}', "First_Name is unknown; attributes of the user are written UserAttribute['First_Name']"],
    ["{{ CampaignAttribute['a'] }}", 'CampaignAttribute is not available in this version'],
    ["{{ CampaignAttribute['a'] }}", 'CampaignAttribute is not available in this version'],
    ['{{ loop.index }}', "loop is unknown; attributes of the user are written UserAttribute['loop']"],
    ['{% set UserAttribute = 1 %}', 'UserAttribute cannot be given a value'],
    ['{% macro a() %}{% endmacro %}', '"macro" is not available'],
    ["{% include 'a' %}", '"include" is not available'],
    ["{{ 'a'.__class__() }}", 'the method __class__() is not available'],
    ['{{ lipsum() }}', 'lipsum() is not available'],
    ['{{ 1 ** 2 }}', '"**" is not available'],
    ["{{ [1]|map('upper') }}", 'map takes attribute= alone'],
    ["{{ 'a'|truncate(1, 2, 3, 4, 5) }}", 'truncate takes at most 4 values'],
    ["{{ 'a'|truncate(long=1) }}", 'truncate does not take long here'],
    ["{{ 'a'|replace('b') }}", 'replace needs old, new'],
    ['Dear\n{% if true %}', 'line 2: "endif" is missing'],
    ['a\nb {{ x|nope }}', 'line 2: the filter nope is not available'],
  ])('%s', (template, fault) => {
    expect(parseTemplate(template)).toEqual({ fault });
  });
});

describe('what a template reads', () => {
  test.each([
    ["{{ UserAttribute['a'] }}{{ UserAttribute.b|d('') }}{{ UserAttribute['a'] }}", { UserAttribute: ['a', 'b'] }],
    ["{{ BusinessEventAttribute['t'] }}", { BusinessEventAttribute: ['t'] }],
    ["{% set n = 'a' %}{{ UserAttribute[n] }}{{ UserAttribute.b }}", { UserAttribute: 'all' }],
    ["{{ UserAttribute.get('a', 'b') }}", { UserAttribute: 'all' }],
    ["{{ 'x' in UserAttribute }}", { UserAttribute: 'all' }],
    ['{% set u = UserAttribute %}{{ u.a }}', { UserAttribute: 'all' }],
    ['{{ 1 }}', {}],
  ])('%s', (text, references) => {
    const parsed = parseTemplate(text);
    expect('template' in parsed && parsed.template.references).toEqual(references);
  });
});

describe('any template', () => {
  const fragments = [
    ...['{{', '}}', '{%', '%}', '{#', '#}', '{%-', '-%}', ' if ', ' for ', ' in ', ' else ', ' endif ', ' endfor '],
    ...[' set ', ' raw ', ' endraw ', 'a', 'b', 'UserAttribute', '.', '[', ']', '(', ')', '{', '}', ':', ',', '|'],
    ...'upper,join,default,replace,range,items,is,defined,not,loop,length,\'x\',"y",1,2.5,+,-,*,/,//,%,~,==,<,='.split(
      ',',
    ),
    ...[
      ' ',
      '\n',
      '\\',
      "'",
      'é',
      '👍',
      "{{ UserAttribute['k'] }}",
      '{% for a in [1,2] %}',
      '{% endfor %}',
      '{% if 1 %}',
    ],
  ];
  const soup = fc.array(fc.constantFrom(...fragments), { maxLength: 60 }).map((parts) => parts.join(''));
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.array(fc.string()));

  test('is read or refused, and rendered within its bounds: nothing throws', () => {
    fc.assert(
      fc.property(soup, value, (text, k) => {
        const parsed = parseTemplate(text);
        if ('fault' in parsed) return;
        const rendered = renderText(text, sourcesOf({ k }));
        if ('text' in rendered) expect(rendered.text.length).toBeLessThanOrEqual(maxRenderedCharacters);
        else expect(rendered.fault.reason).not.toBe('could not be rendered');
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  test('leaves text without markers as it is, and puts a value where it stands', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => !/\{[{%#]|\n$|\{$/.test(text));
    fc.assert(
      fc.property(plain, fc.string({ unit: 'grapheme' }), plain, (before, name, after) => {
        const text = `${before}{{ UserAttribute['k'] }}${after}`;
        expect(renderText(text, sourcesOf({ k: name }))).toEqual({ text: before + name + after });
        expect(renderText(before)).toEqual({ text: before });
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('gives the same for the same person, every time', () => {
    fc.assert(
      fc.property(soup, value, (text, k) => {
        if ('fault' in parseTemplate(text)) return;
        expect(renderText(text, sourcesOf({ k }))).toEqual(renderText(text, sourcesOf({ k })));
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
