import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { alertKinds, conditionTable } from '../../src/domain/operations/conditions.ts';
import type { AlertEntry } from '../../src/domain/operations/conditions.ts';
import { libraryMetrics, metricTable } from '../../src/domain/operations/metrics.ts';
import type { MetricEntry } from '../../src/domain/operations/metrics.ts';
import { projectFolder } from './files.ts';

type Rule = {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};
type Fired = { alertname: string; exp_alerts?: object[] };

const folder = join(projectFolder, 'deploy', 'prometheus');
const readYaml = async (name: string): Promise<unknown> => parse(await readFile(join(folder, name), 'utf8'));

async function readRules(): Promise<Rule[]> {
  const { groups } = (await readYaml('rules.yml')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Names of series by the metric they are of; those of the library with nothing said of their labels. */
const labelsOf = new Map<string, string[] | undefined>([
  ...Object.keys(libraryMetrics).flatMap((name) =>
    [name, `${name}_sum`].map((each): [string, undefined] => [each, undefined]),
  ),
  ...Object.entries<MetricEntry>(metricTable).flatMap(([name, { kind, labels }]) => {
    const names = kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
    return names.map((each): [string, string[]] => [each, [...Object.keys(labels), 'le']]);
  }),
  ['up', undefined],
]);
// What Prometheus adds, and what recording rules keep.
const scraped = ['job', 'instance'];

/** Metrics of an expression with the labels that are asked of each. */
function selectorsIn(expr: string): { name: string; labels: string[] }[] {
  const names = /\b((?:carillon|nodejs|process)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g;
  // Names of recorded series hold the name of what they were recorded of.
  const text = expr.replaceAll(/\b[a-z]+:[a-z0-9_]+:[a-z0-9_]+/g, '').replaceAll(/\$[a-z_]+/g, '');
  return [...text.matchAll(names)].map(([, name, labels]) => ({
    name: name!,
    labels: [...(labels ?? '').matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  }));
}

function expectKnown(exprs: string[]): void {
  let found = 0;
  for (const expr of exprs)
    for (const { name, labels } of selectorsIn(expr)) {
      found += 1;
      expect([...labelsOf.keys()], expr).toContain(name);
      const known = labelsOf.get(name);
      for (const label of labels) expect([...(known ?? []), ...scraped], `${expr}: ${label}`).toContain(label);
    }
  expect(found).toBeGreaterThan(20);
}

describe('the rules of deploy/prometheus', () => {
  test('name metrics and labels that a node answers', async () => {
    expectKnown((await readRules()).map(({ expr }) => expr));
  });

  test('use what is recorded, and record nothing that is used nowhere', async () => {
    const rules = await readRules();
    const board = await readFile(join(projectFolder, 'deploy', 'grafana', 'carillon.json'), 'utf8');
    const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
    const books = await Promise.all((await listRunbooks()).map((name) => readFile(join(runbooks, name), 'utf8')));
    const used = [...rules.map(({ expr }) => expr), board, ...books]
      .join('\n')
      .matchAll(/\b[a-z]+:carillon[a-z0-9_]+:[a-z0-9_]+/g);
    expect([...new Set([...used].map(([name]) => name))].sort()).toEqual(recorded.sort());
  });

  test('each alert has a severity, a summary and a runbook of the same headings, and each runbook an alert', async () => {
    const alerts = (await readRules()).filter(({ alert }) => alert !== undefined);
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels?.['severity']);
      expect(annotations?.['summary'], alert).toMatch(/\.$/);
      expect(annotations?.['runbook_url'], alert).toBe(`docs/runbooks/${alert}.md`);
      const page = await readFile(join(runbooks, `${alert}.md`), 'utf8');
      const headings = page.split('\n').filter((line) => line.startsWith('#'));
      const same = ['## What it means', '## What to look at', '## What to do', '## When it ends'];
      expect(headings, alert).toEqual([`# ${alert}`, ...same]);
    }
    expect(await listRunbooks()).toEqual(alerts.map(({ alert }) => `${alert}.md`).sort());
  });

  test('measures what a condition measures by the same thresholds, where the condition declares its rule', async () => {
    const rules = await readRules();
    for (const kind of alertKinds) {
      const { runbook, rule }: AlertEntry = conditionTable[kind].alert;
      const found = rules.find(({ alert }) => alert === runbook);
      expect(found, `${kind}: ${runbook}`).toBeDefined();
      if (rule !== undefined) expect(found!.expr, kind).toBe(rule);
    }
  });

  test('each alert is fired on purpose by rules_test.yml', async () => {
    const { tests } = (await readYaml('rules_test.yml')) as { tests: { alert_rule_test: Fired[] }[] };
    const asked = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const alerts = (await readRules()).flatMap(({ alert }) => (alert === undefined ? [] : [alert]));
    expect(
      asked
        .filter((one) => (one.exp_alerts ?? []).length > 0)
        .map((one) => one.alertname)
        .sort(),
    ).toEqual(alerts.sort());
  });

  test('and the sample of a configuration pass promtool, which fires the alerts', async ({ skip }) => {
    const promtool = async (...parameters: string[]): Promise<string> =>
      (await promisify(execFile)('promtool', parameters, { cwd: folder })).stdout;
    const version = await promtool('--version').catch(() => undefined);
    skip(version === undefined, 'promtool is not installed (the package prometheus of Debian has it)');
    expect(await promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
    expect(await promtool('check', 'rules', 'rules.yml')).toContain('SUCCESS');
    expect(await promtool('test', 'rules', 'rules_test.yml')).toContain('SUCCESS');
  });

  test('the sample loads these rules, for the job that they name', async () => {
    const config = (await readYaml('prometheus.yml')) as {
      rule_files: string[];
      scrape_configs: { job_name: string }[];
    };
    expect([config.rule_files, config.scrape_configs.map(({ job_name }) => job_name)]).toEqual([
      ['rules.yml'],
      ['carillon'],
    ]);
  });
});

type Panel = { title: string; type: string; targets?: { expr: string }[]; gridPos: { x: number; w: number } };

test('the dashboard names metrics and labels that a node answers, and every panel shows something', async () => {
  const text = await readFile(join(projectFolder, 'deploy', 'grafana', 'carillon.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: Panel[] };
  const shown = panels.filter(({ type }) => type !== 'row');
  expectKnown(shown.flatMap(({ targets }) => targets!.map(({ expr }) => expr)));
  for (const { title, targets, gridPos } of shown) {
    expect(targets!.length, title).toBeGreaterThan(0);
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
  }
  expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length);
});

const runbooks = join(projectFolder, 'docs', 'runbooks');

async function listRunbooks(): Promise<string[]> {
  return (await readdir(runbooks)).sort();
}
