import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { glossary } from '../console/src/parts/text/glossary.ts';
import { settings } from '../server/src/start/settings-table.ts';
import { mayDo, permissions, roles } from '../server/src/domain/access/accounts.ts';
import type { Permission } from '../server/src/domain/access/accounts.ts';
import { alertKinds, conditionTable } from '../server/src/domain/operations/conditions.ts';
import { leftOutTables } from '../server/src/domain/operations/backup.ts';
import { errorRegistry } from '../server/src/domain/errors.ts';
import type { ErrorName } from '../server/src/domain/errors.ts';
import { gatewayErrors } from '../server/src/http/route/gateway-errors.ts';
import { campaignV1Errors } from '../server/src/http/campaigns/v1-answers.ts';
import { campaignV5Errors } from '../server/src/http/campaigns/v5-answers.ts';
import { dataErrors } from '../server/src/http/data/answers.ts';
import { problemErrors } from '../server/src/http/route/errors.ts';
import { pushErrors } from '../server/src/http/push/answers.ts';
import { segmentErrors, filterSegmentErrors } from '../server/src/http/segments/answers.ts';
import { reportFileErrors, statsErrors } from '../server/src/http/stats/stats.ts';
import { tokenErrors } from '../server/src/http/tokens.ts';
import { libraryMetrics, metricTable } from '../server/src/domain/operations/metrics.ts';
import type { MetricEntry } from '../server/src/domain/operations/metrics.ts';
import { keptTables } from '../server/src/domain/operations/retention.ts';
import type { KeptTables } from '../server/src/domain/operations/retention.ts';
import { troubleMeanings } from '../server/src/domain/operations/readiness.ts';
import { providerNames, providers, providersOf } from '../server/src/domain/delivery/providers.ts';
import { magicTokens } from '../server/src/domain/sandbox/magic-tokens.ts';
import { nameOfPlatform } from '../server/src/domain/users/device-attributes.ts';
import { standardAttributes } from '../server/src/domain/users/standard-attributes.ts';
import type { Platform } from '../server/src/domain/content/content.ts';
import { timeZoneAliases } from '../server/src/domain/timing/local-time.ts';
import { exitCodes } from '../server/src/start/start-errors.ts';
import { listRoutes } from './list-routes.ts';
import { readScreens } from './read-screens.ts';
import { renderCluster } from './render-cluster.ts';
import { renderFieldPlaces } from './field-places/render-field-places.ts';
import { readLimits, renderLimits } from './render-limits.ts';
import { renderProviderAnswers } from './render-provider-answers.ts';
import { renderReliability } from './render-reliability.ts';
import { renderStates } from './render-states.ts';
import { renderSwitching } from './render-switching.ts';

/**
 * Returns the tables of the documentation that come from code, by the name of their section. A page contains a section between
 * `<!-- generated: name -->` and `<!-- end -->`; `npm run docs:generate` writes them and a test compares them.
 */
export async function renderSections(): Promise<Record<string, string>> {
  return {
    errors: renderErrors(),
    settings: renderSettings(),
    limits: renderLimits(await readLimits(), table),
    retention: renderRetention(),
    'left-out-tables': renderLeftOutTables(),
    'time-zone-aliases': renderTimeZoneAliases(),
    'exit-codes': renderExitCodes(),
    troubles: renderTroubles(),
    alerts: table(
      ['About', 'Opens when'],
      alertKinds.map((kind) => [kind, conditionTable[kind].alert.opens]),
    ),
    'magic-tokens': renderMagicTokens(),
    'field-answers': renderFieldAnswers(),
    'device-providers': renderDeviceProviders(),
    routes: await renderRoutes(),
    ...(await renderSwitching(table)),
    roles: renderRoles(),
    screens: renderScreens(),
    'standard-attributes': renderStandardAttributes(),
    glossary: table(
      ['Word', 'What it means'],
      Object.entries(glossary).map(([word, means]) => [`**${word}**`, means]),
    ),
    'field-places': renderFieldPlaces(table),
    decisions: await renderDecisions(),
    metrics: renderMetrics(),
    'library-metrics': renderLibraryMetrics(),
    reliability: await renderReliability(table),
    ...(await renderCluster(table)),
    ...renderStates(),
    ...renderProviderAnswers(table),
  };
}

/** Replaces every generated section of a page. @throws Error for an unknown section */
export function fillSections(page: string, sections: Record<string, string>): string {
  return page.replace(/<!-- generated: ([a-z-]+) -->\n[^]*?<!-- end -->/g, (_whole, name: string) => {
    const section = sections[name];
    if (section === undefined) throw new Error(`no section named ${name}`);
    return `<!-- generated: ${name} -->\n\n${section}\n<!-- end -->`;
  });
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.map(escapeCell).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** A pipe would end the cell, and an angle bracket would start a tag. */
function escapeCell(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function renderStandardAttributes(): string {
  const quote = (name: string): string => `\`${name}\``;
  const rows = Object.entries(standardAttributes).map(([stored, { display, ofApi, selector }]) => [
    ...[quote(stored), ofApi.map(quote).join(', '), quote(display), quote(selector)],
  ]);
  return table(
    ['Stored as', 'In the data API and in files', 'In templates', 'In templates and selectors of pushes'],
    rows,
  );
}

function renderLeftOutTables(): string {
  return table(
    ['Table', 'Why'],
    Object.entries(leftOutTables).map(([name, why]) => [`\`${name}\``, why]),
  );
}

function renderErrors(): string {
  const rows = Object.entries(errorRegistry).map(([name, { text }]) => [
    ...[`\`${name}\``, wireForms(name as ErrorName), text],
  ]);
  return table(['Error', 'On the wire', 'Public text'], rows);
}

/** Returns every form in which an error is sent: family, status, code. */
function wireForms(name: ErrorName): string {
  const coded: [family: string, status: number | undefined, code: string | undefined][] = [
    ['tokens', tokenErrors[name]?.status, tokenErrors[name]?.errorType],
    ['gateway', gatewayErrors[name]?.status, gatewayErrors[name]?.code],
    ['push', pushErrors[name]?.status, pushErrors[name]?.status === 200 ? 'Fail' : undefined],
    ['data', dataErrors[name]?.status, dataErrors[name]?.type],
    ['segments v2', segmentErrors[name]?.status, segmentErrors[name]?.title],
    ['segments v3', filterSegmentErrors[name]?.status, filterSegmentErrors[name]?.code],
    ['campaigns V1', campaignV1Errors[name]?.status, campaignV1Errors[name]?.code],
    ['campaigns V5', campaignV5Errors[name]?.status, campaignV5Errors[name]?.code],
    ['statistics', statsErrors[name]?.status, statsErrors[name]?.title],
    ['report files', reportFileErrors[name]?.status, reportCodeOf(name)],
    ['other', problemErrors.includes(name) ? errorRegistry[name].status : undefined, undefined],
  ];
  const forms = coded.flatMap(([family, status, code]) =>
    status === undefined ? [] : [`${family} ${status}${code === undefined ? '' : ` \`${code}\``}`],
  );
  if (forms.length === 0) throw new Error(`no family sends ${name}`);
  return forms.join('; ');
}

/** A 401 of a report file has no body. */
function reportCodeOf(name: ErrorName): string | undefined {
  const file = reportFileErrors[name];
  return file?.status === 401 ? undefined : file?.title.toUpperCase();
}

function renderSettings(): string {
  const rows = Object.values(settings).map((setting) => [
    `\`${setting.variable}\``,
    'flag' in setting ? `\`--${setting.flag}\`` : '',
    describeKind(setting),
    describeDefault(setting),
    setting.sentence,
  ]);
  return table(['Variable', 'Option', 'Takes', 'Default', 'What it does'], rows);
}

type Setting = (typeof settings)[keyof typeof settings];

function describeKind(setting: Setting): string {
  const unit = 'unit' in setting ? ` ${setting.unit}` : '';
  switch (setting.kind) {
    case 'integer':
      return `${setting.minimum} to ${setting.maximum}${unit}`;
    case 'choice':
      return setting.choices.map((choice) => `\`${choice}\``).join(', ');
    case 'proxies':
      return 'number of proxies, or networks (CIDR, comma-separated)';
    case 'flag':
      return 'true or false';
    case 'list':
      return 'list, comma-separated';
    case 'bytes32':
      return '32 bytes, hexadecimal or base64';
    case 'secret':
    case 'text':
      return 'text';
  }
}

function describeDefault(setting: Setting): string {
  const value: unknown = setting.default;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '–';
  return `\`${String(value)}\``;
}

function renderMetrics(): string {
  const rows = Object.entries<MetricEntry>(metricTable).map(([name, { kind, of, labels, meaning }]) => [
    `\`${name}\``,
    kind,
    Object.entries(labels).map(describeLabel).join('; '),
    of,
    meaning,
  ]);
  return table(['Metric', 'Kind', 'Labels', 'Of', 'Meaning'], rows);
}

function describeLabel([label, values]: [string, readonly string[] | string]): string {
  const bound = typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ');
  return `\`${label}\`: ${bound}`;
}

function renderLibraryMetrics(): string {
  return table(
    ['Metric', 'Meaning'],
    Object.entries(libraryMetrics).map(([name, meaning]) => [`\`${name}\``, meaning]),
  );
}

function renderRetention(): string {
  const rows = keptTables.map(({ what, tables, grows, kept, removed }) => [
    ...[what, tables.map((name) => `\`${name}\``).join(', '), grows, describeKept(kept), removed],
  ]);
  return table(['What', 'Tables', 'Grows by', 'Kept', 'How it goes'], rows);
}

function describeKept(kept: KeptTables['kept']): string {
  if ('until' in kept) return `until ${kept.until}`;
  const setting = Object.values(settings).find(({ variable }) => variable === kept.setting);
  if (setting?.kind !== 'integer' || !('unit' in setting))
    throw new Error(`${kept.setting} is no setting of an amount`);
  const number = (value: number): string => value.toLocaleString('en');
  return `\`${kept.setting}\`: ${number(setting.default)} ${setting.unit}; at least ${number(setting.minimum)}`;
}

function renderTimeZoneAliases(): string {
  const rows = Object.entries(timeZoneAliases).map(([name, { zone, means, elsewhere }]) => [
    ...[`\`${name}\``, `\`${zone}\``, means, elsewhere ?? ''],
  ]);
  return table(['Sent', 'Zone', 'As in Java and ICU', 'Elsewhere also'], rows);
}

function renderExitCodes(): string {
  const rows = Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]);
  return table(['Code', 'Meaning'], [['0', 'Stopped as asked.'], ...rows]);
}

function renderTroubles(): string {
  return table(
    ['Trouble', 'Meaning'],
    Object.entries(troubleMeanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
  );
}

function renderMagicTokens(): string {
  const cell = (start: string | undefined): string => (start === undefined ? '–' : `\`${start}…\``);
  const rows = magicTokens.map(({ outcome, answer, ...starts }) => [
    outcome,
    ...providerNames.map((name) => cell(starts[name])),
    answer,
  ]);
  return table(['Outcome', ...providerNames.map((name) => providers[name].names.short), 'Answer'], rows);
}

function renderDeviceProviders(): string {
  const rows = (Object.keys(providersOf) as Platform[]).flatMap((platform) =>
    providersOf[platform].map((name, place) => [
      `\`${nameOfPlatform(platform)}\``,
      `\`${name}\`${place === 0 ? ' (usual)' : ''}`,
      providers[name].names.ofAddress,
    ]),
  );
  return table(['`platform`', '`push_provider`', '`push_id`'], rows);
}

function renderFieldAnswers(): string {
  const rows = providerNames.flatMap((provider) =>
    Object.entries(providers[provider].sandbox.fieldAnswers).map(([name, { scope, answer }]) => [
      `\`${provider}\``,
      `\`${name}\``,
      scope,
      answer,
    ]),
  );
  return table(['Provider', '`answer`', 'Concerns the', 'What the provider replies'], rows);
}

function renderRoles(): string {
  const rows = (Object.keys(permissions) as Permission[]).map((permission) => [
    `${permissions[permission].may}${permissions[permission].on === 'installation' ? ' *' : ''}`,
    ...roles.map((role) => (mayDo(role, permission) ? 'yes' : '')),
  ]);
  return table(['May …', ...roles], rows);
}

function renderScreens(): string {
  const whereFound = (place: string | undefined): string => {
    if (place === undefined) return 'a link on another screen';
    if (place === 'Account menu' || place === 'Search') return place.toLowerCase();
    return `navigation, “${place}”`;
  };
  const rows = readScreens().map(({ address, title, permission, place }) => [
    ...[title, `\`${address}\``, permission === undefined ? '' : `\`${permission}\``, whereFound(place)],
  ]);
  return table(['Screen', 'Address', 'Permission', 'Users open it from'], rows);
}

async function renderRoutes(): Promise<string> {
  const routes = await listRoutes();
  return table(
    ['Method and path', 'What it does'],
    routes.map(({ method, path, summary }) => [`\`${method} ${path}\``, summary]),
  );
}

/** Returns links to the pages of decisions, with their headings. */
async function renderDecisions(): Promise<string> {
  const folder = join(import.meta.dirname, '..', 'docs', 'decisions');
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
  const lines = names.map(async (name) => {
    const [, title] = /^# (.+)$/m.exec(await readFile(join(folder, name), 'utf8'))!;
    return `- [${title}](${name})\n`;
  });
  return (await Promise.all(lines)).join('');
}
