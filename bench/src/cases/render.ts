import { userSource, makePersonaliser } from '../../../server/src/domain/template/personalise.ts';
import type { AndroidContent } from '../../../server/src/domain/content/content.ts';
import { Budget, AttributeSource } from '../../../server/src/domain/template/values.ts';
import { parseTemplate } from '../../../server/src/domain/template/parser.ts';
import { renderTemplate } from '../../../server/src/domain/template/render.ts';

import type { Case } from '../kit/bench.ts';

/** The class of the fastest template engines for simple renderings. */
const goalPerSecond = 268_000;

/** Each is measured three times, and the best is printed. */
export const renderCase: Case<'render', undefined> = {
  prepare: () => undefined,

  run(bench) {
    const best = (work: () => unknown): number => measure(work, bench.options.seconds);
    const print = (name: string, perSecond: number): void =>
      bench.say(`${name.padEnd(34)} ${Math.round(perSecond).toLocaleString('en').padStart(12)}/s`);
    const rates = new Map(Object.entries(texts).map(([name, text]) => [name, best(renderer(text))]));
    for (const [name, rate] of rates) print(name, rate);
    const personaliser = makePersonaliser({ ANDROID: message }, 'AUTO')!;
    const user = { customerId: 'ada', attributes };
    const whole = best(() => personaliser.render({ platform: 'ANDROID', user, event: {} }));
    print('a message with three templates', whole);
    print(
      'a content without markers, parsed',
      best(() => makePersonaliser({ ANDROID: plain }, 'AUTO')),
    );
    const worst = 1_000 / best(renderer(hostile));
    bench.say(`the worst template ends after        ${worst.toFixed(2).padStart(10)} ms`);
    const verdict = rates.get('one attribute')! >= goalPerSecond ? 'met' : 'MISSED';
    bench.say(`one attribute: goal ${goalPerSecond.toLocaleString('en')}/s, ${verdict}`);
  },
};

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
/** @returns calls per second, the best of three */
function measure(work: () => unknown, seconds: number): number {
  const milliseconds = seconds * 1_000;
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
