import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { splitStatements } from '../../src/storage/postgres/split-statements.ts';

const columnOf = new Map(distributedTables.map(({ name, column }) => [name, column]));

/**
 * Tables with a bucket that stay on the coordinator, and why.
 */
const localWithBucket: Record<string, string> = {
  erasures: 'refers to workspaces; as many rows as deletions were asked for',
};

/** What of a migration a cluster would refuse, or take apart, on the tables that it distributes; one sentence each. */
export function lintMigration(text: string): string[] {
  return splitStatements(text).flatMap((statement) => lintStatement(statement.replaceAll(/--.*/g, '').trim()));
}

function lintStatement(statement: string): string[] {
  const alter = /^alter table (?:if exists )?(?:only )?"?(\w+)"?\s+([^]*)$/i.exec(statement);
  if (alter && columnOf.has(alter[1]!)) return lintAlteration(alter[2]!).map((fault) => `${alter[1]}: ${fault}`);
  const create = /^create (?:unlogged )?table (?:if not exists )?"?(\w+)"?\s*\(([^]*)$/i.exec(statement);
  if (create) return lintTable(create[1]!, create[2]!);
  return lintOther(statement);
}

function lintAlteration(actions: string): string[] {
  const faults: string[] = [];
  const [first] = splitAtCommas(actions);
  if (splitAtCommas(actions).length > 1) faults.push('one change a statement');
  if (/^add (?:column )?(?!constraint\b|check\b|primary\b|unique\b|foreign\b|exclude\b)/i.test(first!)) {
    if (/\b(?:check|references|unique|primary key|generated)\b/i.test(first!))
      faults.push('a column is added without its constraints; they follow in statements of their own');
  }
  if (/^add (?:check|primary|unique|foreign|exclude)\b/i.test(first!)) faults.push('a constraint has a name');
  if (/\bforeign key\b/i.test(first!)) faults.push('no foreign key');
  if (
    /\b(?:primary key|unique)\s*\(/i.test(first!) &&
    !hasColumn(first!, 'bucket') &&
    !hasColumn(first!, 'address_hash')
  )
    faults.push('what is unique holds the column that the table is distributed by');
  return faults;
}

function lintTable(name: string, body: string): string[] {
  const column = columnOf.get(name);
  if (column === undefined) {
    if (!/^\s*bucket\s+smallint\b/im.test(body) || Object.hasOwn(localWithBucket, name)) return [];
    return [`${name}: a table with a bucket stands in distributedTables, or why not in this lint`];
  }
  const faults: string[] = [];
  if (!splitAtCommas(body).some((part) => part.startsWith(`${column} `))) faults.push(`has no column ${column}`);
  if (/\breferences\b|\bforeign key\b/i.test(body)) faults.push('no foreign key');
  const keys = splitAtCommas(body).filter((part) => /\b(?:primary key|unique)\b/i.test(part));
  if (!keys.every((part) => hasColumn(part, column)))
    faults.push('what is unique holds the column that the table is distributed by');
  return faults.map((fault) => `${name}: ${fault}`);
}

function lintOther(statement: string): string[] {
  const index = /^create unique index [^]*?\bon (?:only )?"?(\w+)"?([^]*)$/i.exec(statement);
  const column = columnOf.get(index?.[1] ?? '');
  if (index && column !== undefined && !hasColumn(index[2]!, column))
    return [`${index[1]}: what is unique holds the column that the table is distributed by`];
  const trigger = /^create (?:or replace )?(?:constraint )?trigger [^]*?\bon "?(\w+)"?/i.exec(statement);
  if (trigger && columnOf.has(trigger[1]!)) return [`${trigger[1]}: no trigger`];
  const policy = /^(?:create|alter) policy \w+ on "?(\w+)"?([^]*)$/i.exec(statement);
  if (policy && columnOf.has(policy[1]!) && /\(\s*select\b/i.test(policy[2]!))
    return [`${policy[1]}: no subquery in a policy`];
  // Inside a function or a block, where the parts above would not see what is changed.
  return [...statement.matchAll(/\bexecute\s+(?:pg_catalog\.)?(?:format\s*\(\s*)?'((?:[^']|'')*)'/gi)]
    .filter(([, text]) => splitStatements(text!.replaceAll("''", "'")).length > 1)
    .map(() => 'several commands in one text');
}

function hasColumn(text: string, column: string): boolean {
  return new RegExp(`\\b${column}\\b`).test(text);
}

/** At commas outside of brackets and strings. */
function splitAtCommas(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [piece] of text.matchAll(/'(?:[^']|'')*'|[^]/g)) {
    if (piece === '(') depth += 1;
    if (piece === ')') depth -= 1;
    if (piece === ',' && depth === 0) parts.push('');
    else parts.push(parts.pop()! + piece);
  }
  return parts.map((part) => part.trim());
}
