import { isRecord } from './read-recording.ts';

export type Reply = { status: number; headers: Record<string, string>; body: unknown };

/** What a caller would notice, by its place: `status`, `header content-type`, `body.data.id`. */
export type Difference = {
  kind: 'status' | 'missing' | 'type' | 'header' | 'extra';
  where: string;
  expected: string;
  found: string;
};

// What says how a body is read and how long to wait. The others are a proxy's, or change with every reply.
const comparedHeaders = ['content-type', 'retry-after', 'location'];

/**
 * What a reply lacks or has otherwise than the one that was recorded: statuses, members and their types, headers. Values are the
 * account's, so they are not compared. A member too many is `extra`, which a tolerant reader does not notice.
 */
export function compareReply(expected: Reply, found: Reply): Difference[] {
  const differences: Difference[] = [];
  if (expected.status !== found.status)
    differences.push({
      ...{ kind: 'status', where: 'status' },
      ...{ expected: String(expected.status), found: String(found.status) },
    });
  for (const name of comparedHeaders) {
    const [wanted, given] = [expected.headers[name], found.headers[name]];
    if (wanted === undefined || (given !== undefined && (name !== 'content-type' || typeOf(wanted) === typeOf(given))))
      continue;
    differences.push({ kind: 'header', where: `header ${name}`, expected: wanted, found: given ?? 'nothing' });
  }
  if (expected.body !== undefined)
    compareValues(differences, { where: 'body', expected: expected.body, found: found.body });
  return differences;
}

const typeOf = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase();

type Compared = { where: string; expected: unknown; found: unknown };

function compareValues(differences: Difference[], { where, expected, found }: Compared): void {
  // A null says nothing of the type that stands there otherwise.
  if (expected === null || (found === null && !isRecord(expected))) return;
  const [wanted, given] = [nameType(expected), nameType(found)];
  if (wanted !== given) {
    const kind = found === undefined ? 'missing' : 'type';
    differences.push({ kind, where, expected: wanted, found: given });
  } else if (Array.isArray(expected)) {
    // Items are alike: the first of each says what they have.
    const [first] = found as unknown[];
    if (expected.length > 0 && first !== undefined)
      compareValues(differences, { where: `${where}[0]`, expected: expected[0] as unknown, found: first });
  } else if (isRecord(expected) && isRecord(found)) {
    for (const name of Object.keys(expected))
      compareValues(differences, { where: `${where}.${name}`, expected: expected[name], found: found[name] });
    for (const name of Object.keys(found).filter((key) => !Object.hasOwn(expected, key)))
      differences.push({ kind: 'extra', where: `${where}.${name}`, expected: 'nothing', found: nameType(found[name]) });
  }
}

function nameType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
