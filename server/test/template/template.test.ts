import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CampaignContent } from '../../src/domain/content/content.ts';
import { maxRenderedCharacters, maxTemplateSteps } from '../../src/domain/limits/push.ts';
import { filters } from '../../src/domain/template/filters.ts';
import { methods } from '../../src/domain/template/methods.ts';
import { parseTemplate } from '../../src/domain/template/parser.ts';
import { makePersonaliser, unknownUser, userSource } from '../../src/domain/template/personalise.ts';
import { renderTemplate } from '../../src/domain/template/render.ts';
import { tests } from '../../src/domain/template/rules.ts';
import { Budget } from '../../src/domain/template/values.ts';
import { propertyRuns } from '../property-runs.ts';
import { renderText, sourcesOf } from './template-sources.ts';

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

describe('the documented language', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'concepts.md'), 'utf8');

  test.each([
    ['Filters', filters],
    ['Tests', tests],
    ['Methods', methods],
  ])('the manual lists exactly the %s there are', (row, rules) => {
    const names = [...new Set(listed(row))];
    expect(names).toEqual([...rules.keys()].sort());
  });

  test('the manual names the limits', () => {
    expect(page).toContain(`More than ${maxTemplateSteps.toLocaleString('en')} steps`);
    expect(page).toContain(`more than ${maxRenderedCharacters.toLocaleString('en')} characters`);
  });

  /** The words in code marks of a row of the table of the language. */
  function listed(row: string): string[] {
    const text = page.split('\n').find((line) => line.startsWith(`| ${row} |`))!;
    return [...text.matchAll(/`([a-z]+)(?:\(attribute=…\))?`/g)].map(([, word]) => word!).sort();
  }
});

describe('personalisation', () => {
  const android = (more: object = {}): CampaignContent => ({
    ANDROID: { title: 'T', message: 'M', richContent: [], additionalActions: [], ...more },
  });
  const user = { customerId: 'ada', attributes: { u_fn: 'Ada', u_em: 'a@b.c', Name: 'own', city: 'Rome' } };

  describe('the names of a user’s attributes (fact 3.8)', () => {
    test.each([
      ['First Name', 'Ada'],
      ['u_fn', 'Ada'],
      ['USER_ATTRIBUTE_USER_FIRST_NAME', 'Ada'],
      ['Email (Standard)', 'a@b.c'],
      ['USER_ATTRIBUTE_USER_EMAIL', 'a@b.c'],
      ['ID', 'ada'],
      ['uid', 'ada'],
      ['customer_id', 'ada'],
      ['USER_ATTRIBUTE_UNIQUE_ID', 'ada'],
      ['Name', 'own'],
      ['city', 'Rome'],
      ['Last Name', undefined],
      ['toString', undefined],
    ])('%s is %s', (name, value) => {
      expect(userSource(user).find(name)).toBe(value);
    });
  });

  test('of somebody who is not there any more nothing is known', () => {
    expect(['ID', 'uid', 'u_fn'].map((name) => userSource(unknownUser).find(name))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  describe('a content', () => {
    test('without templates needs nothing done', () => {
      expect(makePersonaliser(android(), 'AUTO')).toBeUndefined();
      expect(makePersonaliser(android({ title: '{{ x }}' }), 'OFF')).toBeUndefined();
      expect(makePersonaliser(android({ title: '{# x #}' }), 'AUTO')).toBeUndefined();
      expect(makePersonaliser({}, 'ON')).toBeUndefined();
    });

    test('tells which attributes it reads, of the fallback too, under the names they may be stored by', () => {
      const read = makePersonaliser(
        android({
          title: "{{ UserAttribute['First Name'] }}",
          fallback: { ...android({ message: '{{ UserAttribute.city }}{{ BusinessEventAttribute.team }}' }).ANDROID },
        }),
        'AUTO',
      )!;
      expect([read.reads, read.eventReads]).toEqual([['First Name', 'u_fn', 'city'], ['team']]);
      const all = makePersonaliser(android({ title: '{{ UserAttribute.get("a") }}' }), 'AUTO')!;
      expect(all.reads).toBe('all');
    });

    test('names the text that failed, and why', () => {
      const content = android({ richContent: [{ type: 'image', value: '{{ UserAttribute.picture }}' }] });
      const rendered = makePersonaliser(content, 'AUTO')!.render({ platform: 'ANDROID', user, event: {} });
      expect(rendered).toEqual({
        fault: {
          field: 'richContent[0].value',
          cause: 'USER_ATTRIBUTE',
          reason: "UserAttribute['picture'] has no value",
        },
      });
    });

    test.each([
      [
        'longer than its place',
        { collapseReplaceKey: '{% for i in range(300) %}x{% endfor %}' },
        'has more than 256 characters',
      ],
      ['empty where a text is needed', { message: '{{ "" }}' }, 'is empty'],
    ])('that comes out %s fails', (_name, more, reason) => {
      const rendered = makePersonaliser(android(more), 'AUTO')!.render({ platform: 'ANDROID', user, event: {} });
      expect(rendered).toMatchObject({ fault: { cause: 'RESULT', reason } });
    });

    test.each(['javascript:alert(1)', 'data:text/html,x', 'shop', '//shop.example', ''])(
      'leads nowhere but to the web: %s',
      (link) => {
        const web: CampaignContent = {
          WEB: {
            title: 'T',
            message: 'M',
            redirectUrl: '{{ UserAttribute.link }}',
            iconUrl: 'https://a.b/',
            autoDismiss: false,
          },
        };
        const follow = { customerId: 'ada', attributes: { link } };
        const rendered = makePersonaliser(web, 'AUTO')!.render({ platform: 'WEB', user: follow, event: {} });
        expect(rendered).toMatchObject({ fault: { cause: 'RESULT', field: 'redirectUrl' } });
      },
    );

    test('that another version of this server stored and this one cannot read fails, and throws nothing', () => {
      const rendered = makePersonaliser(android({ title: '{{ x' }), 'AUTO')!.render({
        platform: 'ANDROID',
        user,
        event: {},
      });
      expect(rendered).toMatchObject({ fault: { cause: 'UNKNOWN', field: 'title' } });
    });
  });
});

const sources = sourcesOf({
  // As much as one request of the data API brings.
  big: 'é b'.repeat(40_000),
  many: Array.from({ length: 20_000 }, (_, number) => `x${number}`),
  some: Array.from({ length: 60 }, (_, number) => 'é'.repeat(100) + number),
});
const some = '{% set s = UserAttribute.some|join %}';
const times = (count: number, body: string): string => `{% for i in range(${count}) %}${body}{% endfor %}`;

const hostile: Record<string, string> = {
  'loops within loops': times(1_000, times(1_000, 'x')),
  'loops that make nothing': times(60, times(60, times(60, ''))),
  'a huge range': '{{ range(100000000)|list|length }}',
  'a range of the largest numbers': '{{ range(-9007199254740991, 9007199254740991)|length }}',
  'a text doubled two hundred times': `{% set a = 'aaaaaaaaaaaaaaaa' %}${'{% set a=a~a %}'.repeat(200)}{{ a|length }}`,
  'a text doubled by +': `{% set a = 'aaaaaaaaaaaaaaaa' %}${'{% set a=a+a %}'.repeat(200)}{{ a|length }}`,
  'a list doubled': `{% set a = [1] %}${'{% set a=a+a %}'.repeat(200)}{{ a|length }}`,
  'replacing one by many': `{% set a = 'aaaaaaaaaaaaaaaa' %}${"{% set a=a|replace('a','aaaaaaaaaaaaaaaa') %}".repeat(9)}{{ a|length }}`,
  'replacing between all characters': some + times(300, "{% set t=s|replace('','eeeeeeee') %}"),
  'joining by a long text': "{{ UserAttribute.many|join('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }}",
  'a list in itself, shown': `{% set a=['x'] %}${'{% set a=[a,a] %}'.repeat(200)}{{ a }}`,
  'a list in itself, compared': `{% set a=['x'] %}${'{% set a=[a,a] %}'.repeat(100)}{{ a == a }}`,
  'a list in itself, as JSON': `{% set a=['x'] %}${'{% set a=[a,a] %}'.repeat(100)}{{ a|tojson }}`,
  'a huge attribute, shown': '{{ UserAttribute.big }}',
  'a huge attribute, searched': times(1_000, "{% set t='zzz' in UserAttribute.big %}"),
  'a huge attribute, compared': times(1_000, '{% set t=UserAttribute.big == UserAttribute.big %}'),
  'a huge attribute, stripped': times(1_000, '{% set t=UserAttribute.big.strip() %}'),
  'a huge attribute, cut': times(1_000, '{{ UserAttribute.big[:1] }}'),
  'many items, sorted': '{{ UserAttribute.many|sort|length }}',
  'many items, each compared with each': '{{ UserAttribute.many|unique|length }}',
  'escaping what grows': `{% set s='<'|replace('<','<<<<<<<<<<<<<<<<')|replace('<','<<<<<<<<') %}${times(1_000, '{% set t=s|e %}')}`,
  'splitting at every character': some + times(1_000, "{% set t=s.split('é') %}"),
  'long words': some + times(1_000, '{% set t=s|title %}'),
  'numbers with many digits': times(2_000, "{% set t='%.20f%.20f%.20f'|format(1e14,1.1,1.2) %}"),
};

const deep: Record<string, string> = {
  brackets: `{{ ${'('.repeat(2_000)}1${')'.repeat(2_000)} }}`,
  lists: `{{ ${'['.repeat(2_000)}${']'.repeat(2_000)} }}`,
  objects: `{{ ${"{'a':".repeat(700)}1${'}'.repeat(700)} }}`,
  conditions: '{% if 1 %}'.repeat(200) + '{% endif %}'.repeat(200),
  loops: '{% for a in [1] %}'.repeat(120) + '{% endfor %}'.repeat(120),
  choices: `{{ ${'1 if 0 else '.repeat(300)}1 }}`,
  subscripts: `{{ ${'UserAttribute['.repeat(250)}'a'${']'.repeat(250)} }}`,
};

const long: Record<string, string> = {
  'a long sum': `{{ ${'1+'.repeat(2_000)}1 }}`,
  'many signs': `{{ ${'-'.repeat(4_000)}1 }}`,
  'many negations': `{{ ${'not '.repeat(1_000)}1 }}`,
  'many filters': `{{ 'é'${'|upper'.repeat(600)} }}`,
  'many members': `{{ UserAttribute${'.a'.repeat(2_000)} }}`,
  'many texts': `{{ ${"'a'".repeat(1_300)} }}`,
};

const broken: Record<string, string> = {
  openers: '{{'.repeat(2_048),
  quotes: `{{ ${"'".repeat(4_001)}`,
  'backslashes in quotes': `{{ '${'\\'.repeat(4_001)}`,
  comments: '{#'.repeat(2_048),
  'raw blocks': '{% raw %}'.repeat(450),
  spaces: `{{ ${' '.repeat(4_090)}`,
};

/** A whole window of messages like the worst of these must not keep the process from its other work. */
const maxMilliseconds = 100;

const render = (text: string) => {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return renderTemplate(parsed.template, { sources, budget: new Budget() });
};

describe('a template cannot stall a worker', () => {
  test.each(Object.entries(hostile))('%s: ends at a limit', (_name, text) => {
    const before = process.memoryUsage().rss;
    expect(timed(() => render(text))).toMatchObject({ fault: { cause: 'LIMIT' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test.each(Object.entries(deep))('nested too deeply: %s', (_name, text) => {
    expect(timed(() => parseTemplate(text))).toEqual({ fault: expect.stringContaining('is nested too deeply') });
  });

  test.each(Object.entries(long))('as long as a text may be: %s', (_name, text) => {
    expect(text.length).toBeLessThanOrEqual(4_096);
    expect(timed(() => render(text))).not.toMatchObject({ fault: { reason: 'could not be rendered' } });
  });

  test.each(Object.entries(broken))('never closed: %s', (_name, text) => {
    expect(timed(() => parseTemplate(text))).toHaveProperty('fault');
  });

  test('the texts of one message share one allowance', () => {
    const budget = new Budget();
    const parsed = parseTemplate(times(100, '{{ i }}'));
    if ('fault' in parsed) throw new Error(parsed.fault);
    const rendered = Array.from({ length: 30 }, () => renderTemplate(parsed.template, { sources, budget }));
    expect(rendered[0]).toHaveProperty('text');
    expect(rendered.at(-1)).toMatchObject({
      fault: { cause: 'LIMIT', reason: `takes more than ${maxTemplateSteps} steps` },
    });
  });

  test('a text up to the limit is made, one beyond it is not', () => {
    const parsed = parseTemplate('{{ UserAttribute.t }}');
    if ('fault' in parsed) throw new Error(parsed.fault);
    const give = (length: number) =>
      renderTemplate(parsed.template, { sources: sourcesOf({ t: 'x'.repeat(length) }), budget: new Budget() });
    expect(give(maxRenderedCharacters)).toHaveProperty('text');
    expect(give(maxRenderedCharacters + 1)).toMatchObject({ fault: { cause: 'LIMIT' } });
  });
});

function timed<Result>(work: () => Result): Result {
  work();
  // The processor's time: a busy machine makes nothing longer.
  const begun = process.threadCpuUsage();
  const result = work();
  const { user, system } = process.threadCpuUsage(begun);
  expect((user + system) / 1_000).toBeLessThan(maxMilliseconds);
  return result;
}
