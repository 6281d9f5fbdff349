/**
 * Measures the rendering of personalised messages (goal: the class of 268,000 simple renderings a second): text without
 * markers, one attribute, a condition with a filter, a whole message of two texts and a URL, and the most expensive template
 * that is permitted. Each case is measured three times; the best is printed.
 *
 * Usage: npm run bench -- render [--seconds 1]
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { userSource, makePersonaliser } from '../../server/src/domain/template/personalise.ts';
import type { AndroidContent } from '../../server/src/domain/content/content.ts';
import { Budget, AttributeSource } from '../../server/src/domain/template/values.ts';
import { parseTemplate } from '../../server/src/domain/template/parser.ts';
import { renderTemplate } from '../../server/src/domain/template/render.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'render'),
  options: { seconds: { type: 'string', default: '1' } },
});
const milliseconds = Number(values.seconds) * 1_000;
const goalPerSecond = 268_000;

const attributes = { u_fn: 'Ada', points: 1_250, city: 'São Paulo', tags: ['red', 'green', 'blue'] };
const event = new AttributeSource('BusinessEventAttribute', {
  cause: 'BUSINESS_EVENT_ATTRIBUTE',
  find: () => undefined,
});

const texts: Record<string, string> = {
  'one attribute': "Hello {{ UserAttribute['First Name'] }}, welcome back!",
  'attribute with a default': "Hello {{ UserAttribute['nick']|default('friend') }}, welcome back!",
  'condition with a filter':
    "{% if UserAttribute['points'] > 1000 %}Gold for {{ UserAttribute['First Name']|upper }}{% else %}Hello{% endif %}",
  'a loop of three': "{% for tag in UserAttribute['tags'] %}{{ loop.index }} {{ tag }} {% endfor %}",
  'attribute missing (fails)': "Hello {{ UserAttribute['nick'] }}",
};

const hostile =
  '{% for a in range(60) %}{% for b in range(60) %}{% for c in range(60) %}{% endfor %}{% endfor %}{% endfor %}';

/** @returns calls per second, the best of three */
function measure(work: () => unknown): number {
  let best = 0;
  for (let round = 0; round < 3; round += 1) {
    let done = 0;
    const begun = performance.now();
    let took = 0;
    while (took < milliseconds / 3) {
      for (let each = 0; each < 100; each += 1) work();
      done += 100;
      took = performance.now() - begun;
    }
    best = Math.max(best, (done / took) * 1_000);
  }
  return best;
}

function print(name: string, perSecond: number): void {
  process.stdout.write(`${name.padEnd(34)} ${Math.round(perSecond).toLocaleString('en').padStart(12)}/s\n`);
}

function renderer(text: string): () => unknown {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return () => {
    // Each message has its own source and budget, as for each user.
    const user = userSource({ customerId: 'ada', attributes });
    const sources = { UserAttribute: user, EventAttribute: event, BusinessEventAttribute: event };
    return renderTemplate(parsed.template, { sources, budget: new Budget() });
  };
}

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
let slowest = Infinity;
for (const [name, text] of Object.entries(texts)) {
  const perSecond = measure(renderer(text));
  print(name, perSecond);
  if (name === 'one attribute') slowest = perSecond;
}

const message: AndroidContent = {
  title: texts['one attribute']!,
  message: texts['condition with a filter']!,
  defaultAction: {
    type: 'deeplinking',
    value: "shop://home?c={{ UserAttribute['city']|urlencode }}",
    keyValuePairs: {},
  },
  richContent: [],
  additionalActions: [],
};
const plain: AndroidContent = { ...message, title: 'Hello', message: 'Welcome', defaultAction: undefined! };
const personaliser = makePersonaliser({ ANDROID: message }, 'AUTO')!;
const user = { customerId: 'ada', attributes };
print(
  'a message with three templates',
  measure(() => personaliser.render({ platform: 'ANDROID', user, event: {} })),
);
print(
  'a content without markers, looked at',
  measure(() => makePersonaliser({ ANDROID: plain }, 'AUTO')),
);
const refused = renderer(hostile);
const refusals = measure(refused);
process.stdout.write(`the worst template ends after        ${(1_000 / refusals).toFixed(2).padStart(10)} ms\n`);
process.stdout.write(
  `one attribute: goal ${goalPerSecond.toLocaleString('en')}/s, ${slowest >= goalPerSecond ? 'met' : 'MISSED'}\n`,
);
