import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorRegistry } from '../server/src/domain/errors.ts';

const folder = 'server/src/domain/limits';
const root = join(import.meta.dirname, '..');

type LimitWindow = { events: number; seconds: number };
type LimitPart = number | LimitWindow;
type LimitValue = LimitPart | readonly LimitPart[] | Readonly<Record<string, LimitPart | readonly LimitPart[]>>;

/** The documentation of a limit: its doc comment. */
type LimitComment = {
  what: string;
  unit: string;
  /** The thing that the limit applies to: a workspace, a key, a source address, a request … */
  per: string;
  /** The name of the error in the response, or a sentence about what happens instead. */
  beyond: string;
  /** Citations of the contract, or `ours`. */
  source: string;
  /** The environment variable that overrides the constant. */
  setting?: string | undefined;
};

export type CommentedConstant = LimitComment & { heading: string; name: string };
export type Limit = CommentedConstant & { file: string; value: LimitValue };

/** Returns every limit of `server/src/domain/limits`, in the order of the files. @throws Error for a malformed comment */
export async function readLimits(): Promise<Limit[]> {
  const files = (await readdir(join(root, folder))).filter((name) => name.endsWith('.ts')).sort();
  const limits = files.map(async (name) => {
    const file = `${folder}/${name}`;
    const values = (await import(join(root, file))) as Record<string, LimitValue>;
    const comments = readComments(await readFile(join(root, file), 'utf8'));
    return comments.map((comment): Limit => ({ ...comment, file, value: values[comment.name]! }));
  });
  return (await Promise.all(limits)).flat();
}

export function renderLimits(limits: readonly Limit[], table: (head: string[], rows: string[][]) => string): string {
  const head = ['What', 'Limit', 'Per', 'Beyond it', 'From', 'Constant'];
  return [...Map.groupBy(limits, ({ heading }) => heading)]
    .map(([heading, rows]) => {
      const { file } = rows[0]!;
      return `## ${heading}\n\n[${file}](../${file})\n\n${table(head, rows.map(describeLimit))}`;
    })
    .join('\n');
}

/**
 * Returns the exported constants of a source file with the content of their doc comments. A heading is a line comment between
 * blank lines. @throws Error for a constant without a heading or without a complete comment
 */
export function readComments(text: string): CommentedConstant[] {
  let heading: string | undefined;
  const pattern = /\n\n\/\/ (.+)\n(?=\n)|(?:\n\/\*\*((?:(?!\*\/)[^])*)\*\/)?\nexport const (\w+)/g;
  return [...`\n\n${text}`.matchAll(pattern)].flatMap(([, headingHere, comment, name]) => {
    heading = headingHere ?? heading;
    if (name === undefined) return [];
    if (heading === undefined) throw new Error(`${name} is below no heading`);
    return [{ heading, name, ...parseComment(name, (comment ?? '').replace(/\s*\n \*/g, '').trim()) }];
  });
}

const form =
  /^(?<what>.+?)(?: \((?<source>[a-z]+ [^()]*)\))?\. Unit: (?<unit>[^.:]+) per (?<per>[^.:]+)\. (?:Exceeded|Below): (?<beyond>[A-Z].*?)\.(?: Setting: (?<setting>CARILLON_\w+)\.)?(?: [A-Z\d].*)?$/;

function parseComment(name: string, comment: string): LimitComment {
  const { what, source, unit, per, beyond, setting } = form.exec(comment)?.groups ?? {};
  if (what === undefined || unit === undefined || per === undefined || beyond === undefined) {
    throw new Error(
      `The comment of ${name} must be "<what> (<source>). Unit: <unit> per <scope>. Exceeded: <error or sentence>.", ` +
        `with "Below" for a minimum and "Setting: <variable>." if there is one. It is "${comment}"`,
    );
  }
  const isError = !beyond.includes(' ');
  if (isError && !(beyond in errorRegistry)) throw new Error(`${name}: ${beyond} is not an error of the registry`);
  return { what, unit, per, beyond: isError ? beyond : `${beyond}.`, source: source ?? 'ours', setting };
}

function describeLimit({ name, value, what, unit, per, beyond, source, setting }: Limit): string[] {
  return [
    what,
    describeLimitValue(value, unit) + (setting === undefined ? '' : `, \`${setting}\``),
    per,
    beyond.endsWith('.') ? beyond : `\`${beyond}\``,
    source,
    `\`${name}\``,
  ];
}

export function describeLimitValue(value: LimitValue, unit: string): string {
  if (isPart(value)) return describePart(value, unit);
  if (isList(value)) return value.map((part) => describePart(part, unit)).join(', ');
  return Object.entries(value)
    .map(([member, own]) => `\`${member}\`: ${describeLimitValue(own, unit)}`)
    .join('; ');
}

function isPart(value: LimitValue): value is LimitPart {
  return typeof value === 'number' || (!Array.isArray(value) && 'seconds' in value);
}

function isList(value: LimitValue): value is readonly LimitPart[] {
  return Array.isArray(value);
}

function describePart(part: LimitPart, unit: string): string {
  if (typeof part === 'number') return describeAmount(part, unit);
  return `${describeAmount(part.events, unit)} in ${describeAmount(part.seconds, 'seconds')}`;
}

const largerUnits: Record<string, readonly [number, string][]> = {
  bytes: [
    [1024 * 1024, 'MiB'],
    [1024, 'KiB'],
  ],
  seconds: [
    [86_400, 'days'],
    [3_600, 'hours'],
    [60, 'minutes'],
  ],
  minutes: [[60, 'hours']],
};

/** Formats 900 seconds as "15 minutes", and 60 as "1 minute". */
function describeAmount(amount: number, unit: string): string {
  const larger = largerUnits[unit]?.find(([size]) => amount >= size && amount % size === 0);
  if (larger) return describeAmount(amount / larger[0], larger[1]);
  return `${amount.toLocaleString('en')} ${amount === 1 ? unit.replace(/s$/, '') : unit}`;
}
