import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { TSchema } from 'typebox';
import { alertKinds, conditionTable } from '../server/src/domain/operations/conditions.ts';
import * as account from '../server/src/http/console/accounts.ts';
import * as alert from '../server/src/http/console/alerts.ts';
import * as access from '../server/src/http/console/app-access.ts';
import * as agent from '../server/src/http/console/agent-tokens.ts';
import * as calendar from '../server/src/http/console/campaigns.ts';
import * as call from '../server/src/http/console/calls.ts';
import * as campaign from '../server/src/http/console/campaign-answers.ts';
import * as composer from '../server/src/http/console/composer.ts';
import * as credential from '../server/src/http/console/credentials.ts';
import * as delivery from '../server/src/http/console/deliveries.ts';
import * as explain from '../server/src/http/console/explain.ts';
import * as factor from '../server/src/http/console/second-factors.ts';
import * as figure from '../server/src/http/console/campaign-figures.ts';
import * as key from '../server/src/http/console/keys.ts';
import * as message from '../server/src/http/console/segment-answers.ts';
import * as metric from '../server/src/http/console/system.ts';
import * as overview from '../server/src/http/console/overview.ts';
import * as picture from '../server/src/http/console/pictures.ts';
import * as place from '../server/src/http/console/places.ts';
import * as platform from '../server/src/http/console/shape-parts.ts';
import * as proposal from '../server/src/http/console/proposals.ts';
import * as sandbox from '../server/src/http/console/sandbox.ts';
import * as segment from '../server/src/http/console/segment-answers.ts';
import * as session from '../server/src/http/console/accounts.ts';
import * as settings from '../server/src/http/console/settings.ts';
import * as stream from '../server/src/http/console/event-streams.ts';
import * as system from '../server/src/http/console/system.ts';
import * as template from '../server/src/http/console/templates.ts';
import * as topic from '../server/src/http/console/topics.ts';
import * as user from '../server/src/http/console/users.ts';
import * as view from '../server/src/http/console/views.ts';
import { renderConsoleProviders } from './render-console-providers.ts';
import { listConsoleRoutes } from './list-console-routes.ts';

/** The modules whose exported shapes become types of the console, by the name of the generated file. */
const modules: Record<string, object[]> = {
  accounts: [session, account],
  'agent-tokens': [agent],
  alerts: [alert],
  'app-access': [access],
  calls: [call],
  'campaign-answers': [campaign],
  'campaign-figures': [figure],
  campaigns: [calendar],
  composer: [composer],
  credentials: [credential],
  deliveries: [delivery],
  'event-streams': [stream],
  explain: [explain],
  keys: [key],
  overview: [overview],
  pictures: [picture],
  places: [place],
  proposals: [proposal],
  sandbox: [sandbox],
  'second-factors': [factor],
  'segment-answers': [segment, message],
  settings: [settings],
  'shape-parts': [platform],
  system: [metric, system],
  templates: [template],
  topics: [topic],
  users: [user],
  views: [view],
};
const heading = '// Generated from the shapes of the routes by `npm run console:types`; edits are lost.\n\n';

const providersHeading =
  '// Generated from server/src/domain/providers by `npm run console:types`; edits are lost.\n\n';

/** The folder of the generated types of the console's responses. */
export const consoleTypesFolder = join(import.meta.dirname, '..', 'console', 'src', 'api', 'generated');

type NamedShape = { name: string; file: string; shape: Shape };
/** A shape of typebox, as JSON Schema. */
type Shape = {
  type?: string;
  const?: unknown;
  description?: string;
  anyOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  patternProperties?: Record<string, Shape>;
  additionalProperties?: unknown;
};

/**
 * Returns the types of all responses of the console's routes: a file for each noun, and one that names the response of each
 * route. `npm run console:types` writes them and a test compares them.
 */
export async function renderConsoleTypes(): Promise<Record<string, string>> {
  const named = readShapes();
  const style = { ...(await resolveConfig(join(consoleTypesFolder, 'routes.ts'))), parser: 'typescript' };
  const files: Record<string, string> = {};
  for (const file of new Set(named.map((shape) => shape.file))) {
    const printer = makePrinter(named, file);
    const types = named.filter((shape) => shape.file === file).map((shape) => printer.declare(shape));
    files[`${file}.ts`] = await format(`${heading}${printer.imports()}\n${types.join('\n')}`, style);
  }
  files['alerts.ts'] = await format(`${files['alerts.ts']}\n${renderAlertKinds()}`, style);
  files['routes.ts'] = await format(await renderRoutes(named), style);
  for (const [name, text] of Object.entries(renderConsoleProviders(providersHeading)))
    files[name] = await format(text, style);
  return files;
}

/** The texts of the console for each kind of alert, from the declarations of conditions. */
function renderAlertKinds(): string {
  const rows = alertKinds.map((kind) => {
    const { label, screen } = conditionTable[kind].alert;
    return `${kind}: ${JSON.stringify({ label, screen })},`;
  });
  const screens = [...new Set(alertKinds.map((kind) => `'${conditionTable[kind].alert.screen}'`))].join(' | ');
  return `/** The name of each kind, and the screen that its alerts link to. */
export const alertKinds: Record<AlertKind, { label: string; screen: ${screens} }> = {
${rows.join('\n')}
};
`;
}

function readShapes(): NamedShape[] {
  return Object.entries(modules).flatMap(([file, exporting]) => {
    const exported = Object.entries(Object.assign({}, ...exporting) as Record<string, Shape>);
    const shapes = exported.filter(([, value]) => typeof value === 'object' && '~kind' in value);
    return shapes.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, shape]) => ({ name, file, shape }));
  });
}

async function renderRoutes(named: NamedShape[]): Promise<string> {
  const routes = await listConsoleRoutes();
  const printer = makePrinter(named, 'routes');
  const members = routes.map(
    ({ method, path, answer }) =>
      `'${method} ${path}': ${answer === undefined ? 'undefined' : printer.print(answer.shape as TSchema as Shape)};`,
  );
  const type = `/** The JSON response of each route; undefined if the response is not JSON. */\nexport type ConsoleAnswers = {\n${members.sort().join('\n')}\n};\n`;
  return `${heading}${printer.imports()}\n${type}`;
}

/** Prints shapes as TypeScript for one file; a named shape is referenced by its name. */
function makePrinter(named: NamedShape[], file: string) {
  const imported = new Map<string, Set<string>>();
  const byShape = new Map(named.map((shape) => [shape.shape, shape]));
  // Optional and described shapes are copies, so they are identified by their content if it is unique.
  const byText = new Map(named.filter(({ shape }) => isTelling(shape)).map((shape) => [textOf(shape.shape), shape]));

  function nameOf(shape: Shape): string | undefined {
    const found = byShape.get(shape) ?? byText.get(textOf(shape));
    if (!found) return undefined;
    if (found.file !== file) imported.set(found.file, (imported.get(found.file) ?? new Set<string>()).add(found.name));
    return found.name;
  }

  function print(shape: Shape): string {
    return nameOf(shape) ?? printWhole(shape);
  }

  function printWhole(shape: Shape): string {
    if ('const' in shape) return JSON.stringify(shape.const);
    if (shape.anyOf) return shape.anyOf.map(print).join(' | ');
    switch (shape.type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return shape.type;
      case 'array':
        return `(${print(shape.items!)})[]`;
      case 'object':
        return printObject(shape);
      case undefined:
        return 'unknown';
      default:
        throw new Error(`no type is printed for ${JSON.stringify(shape)}`);
    }
  }

  function printObject({ properties, required = [], patternProperties, additionalProperties }: Shape): string {
    if (patternProperties) return `Record<string, ${print(Object.values(patternProperties)[0]!)}>`;
    const members = Object.entries(properties ?? {}).map(
      ([name, shape]) =>
        `${byShape.has(shape) ? '' : comment(shape)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${print(shape)};`,
    );
    const more = additionalProperties === undefined ? '' : ' & Record<string, unknown>';
    return `{\n${members.join('\n')}\n}${more}`;
  }

  return {
    print,
    declare: ({ name, shape }: NamedShape): string => `${comment(shape)}export type ${name} = ${printWhole(shape)};\n`,
    imports: (): string =>
      [...imported]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from './${from}.ts';\n`)
        .join(''),
  };
}

function comment({ description }: Shape): string {
  return description === undefined ? '' : `\n/** ${description} */\n`;
}

function isTelling({ properties, anyOf }: Shape): boolean {
  return Object.keys(properties ?? {}).length > 2 || (anyOf?.length ?? 0) > 2;
}

function textOf({ description: _description, ...shape }: Shape): string {
  return JSON.stringify(shape);
}
