import { describe, expect, test } from 'vitest';
import { Budget } from '../../src/domain/template/values.ts';
import { maxRenderedCharacters, maxTemplateSteps } from '../../src/domain/limits/push.ts';
import { parseTemplate } from '../../src/domain/template/parser.ts';
import { renderTemplate } from '../../src/domain/template/render.ts';
import { sourcesOf } from './template-sources.ts';

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

function timed<Result>(work: () => Result): Result {
  work();
  // The processor's time: a busy machine makes nothing longer.
  const begun = process.threadCpuUsage();
  const result = work();
  const { user, system } = process.threadCpuUsage(begun);
  expect((user + system) / 1_000).toBeLessThan(maxMilliseconds);
  return result;
}

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
