import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readHistory } from '../../../checker/history.ts';
import { defects } from './defects.ts';
import { brokenBy, inTurn, message, push, quiet, run, success } from './hand-made.ts';
import type { Given, Line } from './hand-made.ts';

const rules = ['search', 'executions', 'statistics', 'explain'];
const brokenRules = (lines: Line[]): string[] => brokenBy(lines).filter((rule) => rules.includes(rule));

const [day, start] = [86_400_000, Date.UTC(2026, 2, 1, 8)];
const made = (name: string, tags: string[], cid: string): Given =>
  push({ campaignName: name, campaignTags: tags }, success(cid, `x-${cid}`), { at: start });
const two = inTurn(made('Spring sale', ['sale'], 'c1'), made('News of May', ['news'], 'c2'));
const record = (campaign_id: string, status = 'SENT') => ({ campaign_id, status, created_at: '2026-03-01 08:00:00' });
const search = (fields: object, found: object[], more: object = {}): Line[] =>
  inTurn({
    ...{ path: '/v1/campaigns/search', body: { campaign_fields: fields, limit: 100, page: 1, ...more }, at: start },
    ...{ reply: found, total: found.length },
  });
const readStatus = (id: string, status: string): Line[] =>
  inTurn({ method: 'GET', path: `/v5/campaigns/${id}`, reply: { data: { id, status } } });
const settled = [...two, quiet, ...readStatus('c1', 'SENT'), ...readStatus('c2', 'STOPPED')];
const [sent, stopped] = [record('c1'), record('c2', 'STOPPED')];
const paged = (first: object[], second: object[]): Line[] => [
  ...[...settled, ...search({}, [stopped, sent])],
  ...[...search({}, first, { limit: 1 }), ...search({}, second, { limit: 1, page: 2 })].map((line) => ({
    ...line,
    total: 2,
  })),
];

const periodic = inTurn(
  push(
    {
      campaignName: 'Daily',
      campaignDelivery: { type: 'periodic', time: '09:00 AM', endDate: '03/03/2026', repeatAfter: '1' },
    },
    success('c1', 'x1'),
    { at: start },
  ),
);
const executions = (total: number): Line[] =>
  inTurn({
    ...{ path: '/v5/campaigns/c1/executions', body: { limit: 15, page: 1 }, at: start + 5 * day },
    reply: { data: { total_instances: total, executions: Array.from({ length: total }, () => ({})) } },
  });

const event: Line[] = inTurn(
  {
    ...{ path: '/v5/campaigns', status: 201, reply: { data: { id: 'c1' } } },
    body: {
      campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
      basic_details: { name: 'On goal', business_event: 'goal' },
    },
  },
  { method: 'PATCH', path: '/v5/campaigns/c1/status', body: { action: 'PUBLISH' } },
  {
    path: '/v5/business-events/triggers',
    body: { event_name: 'goal' },
    reply: { data: { triggered_campaign_ids: ['c1'] } },
  },
  { path: '/v1.0/business_event/trigger', body: { event_name: 'goal' } },
);

const statistics = (figures: object): Line[] => {
  const shown = { locales: { all_locales: { variations: { all_variations: { performance_stats: figures } } } } };
  const reply = { data: { c: [{ platforms: { IOS: shown } }] } };
  return inTurn({ path: '/v1/campaign-stats', body: { campaign_ids: ['c'] }, reply });
};
const device = { kind: 'device', workspace: 'A', user: 'u', address: 'd', platform: 'IOS' };
const explain = (step: string, steps: string[], runs = ['r']): Line[] => {
  const shown = runs.map((id) => ({ id, step, devices: steps.map((one) => ({ step: one })) }));
  const reply = { data: { campaign_id: 'c', runs: shown } };
  return inTurn({ method: 'GET', path: '/v5/campaigns/c/explain?customer_id=u', reply });
};

type Pair = [what: string, rule: string, histories: { good: Line[]; bad: Line[] }];

const pairs: Pair[] = [
  [
    'a search that misses what was made before it',
    'search',
    { good: [...two, ...search({ tags: ['sale'] }, [sent])], bad: [...two, ...search({ tags: ['sale'] }, [])] },
  ],
  [
    'a search that finds what does not match',
    'search',
    {
      good: [...two, ...search({ name: 'SPRING' }, [sent])],
      bad: [...two, ...search({ name: 'SPRING' }, [stopped, sent])],
    },
  ],
  [
    'a search that finds what was made after it',
    'search',
    {
      good: [...two, ...search({}, [stopped, sent])],
      bad: [...search({}, [sent]), ...two],
    },
  ],
  [
    'a search by status that is stale',
    'search',
    {
      good: [...settled, ...search({ status: ['SENT'] }, [sent])],
      bad: [...settled, ...search({ status: ['SENT'] }, [record('c2'), sent])],
    },
  ],
  [
    'a search that finds a campaign twice',
    'search',
    { good: [...two, ...search({}, [stopped, sent])], bad: [...two, ...search({}, [stopped, sent, sent])] },
  ],
  [
    'a total that is wrong',
    'search',
    {
      good: [...settled, ...search({}, [stopped, sent])],
      bad: [...settled, ...search({}, [stopped, sent]).map((line) => ({ ...line, total: 3 }))],
    },
  ],
  ['pages that skip a campaign', 'search', { good: paged([stopped], [sent]), bad: paged([stopped], [stopped]) }],
  [
    'an occurrence without an execution',
    'executions',
    { good: [...periodic, quiet, ...executions(3)], bad: [...periodic, quiet, ...executions(2)] },
  ],
  [
    'a lost trigger',
    'executions',
    { good: [...event, quiet, ...executions(2)], bad: [...event, quiet, ...executions(1)] },
  ],
  [
    'figures that phones did not get',
    'statistics',
    {
      good: [run(), ...message(), quiet, ...statistics({ sent: 1, bounced: 0 })],
      bad: [run(), ...message(), quiet, ...statistics({ sent: 2, bounced: 0 })],
    },
  ],
  [
    'figures that count a gone device as sent',
    'statistics',
    {
      good: [run(), ...message({ answer: 'GONE' }), quiet, ...statistics({ sent: 0, bounced: 1 })],
      bad: [run(), ...message({ answer: 'GONE' }), quiet, ...statistics({ sent: 0, bounced: 0 })],
    },
  ],
  [
    'an explanation that denies a message',
    'explain',
    {
      good: [device, run(), ...message(), quiet, ...explain('ACCEPTED', ['ACCEPTED'])],
      bad: [device, run(), ...message(), quiet, ...explain('NOT_IN_AUDIENCE', [])],
    },
  ],
  [
    'an explanation without one of the runs',
    'explain',
    {
      good: [device, run(), quiet, ...explain('NO_DEVICE', [])],
      bad: [device, run(), quiet, ...explain('NO_RUN', [], [])],
    },
  ],
];

describe('the checker of answers', () => {
  test.each(pairs)('finds %s (%s), and nothing in a history without it', (_what, rule, { good, bad }) => {
    expect(brokenRules(good)).toEqual([]);
    expect(brokenRules(bad)).toContain(rule);
  });
});

describe('the program of the checker', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'checker');
  const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

  test('imports nothing but Node and its own files', () => {
    const imported = files.flatMap(({ text }) =>
      [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, from]) => from!),
    );
    expect(imported.filter((from) => !/^(node:(fs|path)|\.\/[a-z]+\.ts)$/.test(from))).toEqual([]);
  });

  test('stays below 1,600 lines', () => {
    expect(files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)).toBeLessThan(1_500);
  });

  test('has each seeded defect in docs/checker.md, with its rule and the seed that shows it', () => {
    const page = readFileSync(join(folder, '..', 'docs', 'checker.md'), 'utf8').replaceAll(/ +/g, ' ');
    const rows = defects.map(({ name, rule, world, seeds }) => {
      const shown = `\`--world ${world} --seed ${seeds[0]}\` |`;
      return name.startsWith('outside') ? shown : `| ${name} | \`${rule}\` | ${shown}`;
    });
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
    const sources = defects.map(({ file }) => readFileSync(join(folder, '..', 'server', 'src', file), 'utf8'));
    expect(defects.filter(({ find }, index) => sources[index]!.split(find).length !== 2)).toEqual([]);
  });

  test('leaves out a last line that was cut off, and refuses any other line that is not JSON', () => {
    const begin = JSON.stringify({ kind: 'begin', rig: 'calls', seed: 1, at: 0 });
    expect(readHistory('cut', `${begin}\n{"kind":"qui`).lines).toHaveLength(1);
    expect(() => readHistory('broken', `${begin}\n{"kind":"qui\n{"kind":"quiet"}`)).toThrow(
      'broken: line 2 is not JSON',
    );
  });
});
