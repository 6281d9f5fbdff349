import type { ParseNode } from './parse-node-tree.ts';

/** What a statement's tree names by number. */
export type Catalog = {
  /** Tables that are distributed, with the number of the column they are distributed by; partitions too. */
  distributed: Map<number, { name: string; column: number; group: string }>;
  /** Tables of ours that are not. */
  local: Map<number, string>;
  /** Those of them that hold a batch alone: a cluster sends it to the shards as it would what was selected. */
  staging: Map<number, string>;
  stableFunctions: Map<number, string>;
  /** Types that are read from text, or written as text, by settings of the session. */
  stableTexts: Set<number>;
  equalities: Set<number>;
};

/**
 * What a cluster would refuse in a statement, or do by sending whole tables about. Each fault begins with its rule:
 *
 * 1. rows of a distributed table are locked in one bucket
 * 2. a sub-select of a distributed table is not asked once for each row of something else, unless in one bucket
 * 3. no function that is not immutable is given a column where rows are changed
 * 4. a distributed table is not joined with a local one, but with what was selected of it; nor is a batch changed by a join
 * 5. distributed tables are joined by bucket
 * 6. what is selected is inserted into a distributed table with `on conflict` or `returning`: otherwise it goes there by
 *    COPY, which is refused to who is bound to a workspace
 * 7. what is read of a distributed table is not grouped by several sets at once (cube, rollup)
 * 8. a statement with a recursive query names no distributed table, whatever the query itself names, unless in one bucket
 */
export function findBrokenRules(tree: ParseNode, catalog: Catalog): string[] {
  const walk: Walk = {
    catalog,
    faults: new Set(),
    classes: new Map(),
    queries: 0,
    distributed: [],
    isRecursive: false,
  };
  for (const query of queriesIn(tree)) walkQuery(query, { walk, outer: [] });
  for (const { name, bucket } of walk.isRecursive ? walk.distributed : [])
    if (!isOneBucket(walk, bucket!)) walk.faults.add(`8: ${name} is in a statement with a recursive query`);
  return [...walk.faults];
}

/** A column of a range of a query, or a value: what is known to be equal has one class. */
type Walk = {
  catalog: Catalog;
  faults: Set<string>;
  classes: Map<string, string>;
  queries: number;
  /** Of all its queries. */
  distributed: Range[];
  isRecursive: boolean;
};
type Level = { id: number; ranges: Range[] };
type Range = {
  kind: 'distributed' | 'local' | 'staging' | 'other';
  name: string;
  bucket: string | undefined;
  group: string;
};

function walkQuery(query: ParseNode, { walk, outer }: { walk: Walk; outer: Level[] }): void {
  const level: Level = { id: (walk.queries += 1), ranges: [] };
  const { catalog } = walk;
  const rangeNodes = listOf(query['rtable']);
  level.ranges = rangeNodes.map((node, place) => rangeOf(node, { catalog, key: `${level.id}.${place + 1}` }));
  walk.distributed.push(...level.ranges.filter(({ kind }) => kind === 'distributed'));
  walk.isRecursive ||= query['hasRecursive'] === 'true';
  const levels = [...outer, level];
  const joined = new Set([...joinedRanges(query['jointree']), Number(query['resultRelation'] ?? 0)]);
  const isInsert = query['commandType'] === '3';
  if (isInsert) joined.delete(Number(query['resultRelation']));
  for (const qual of conditionsOf(query['jointree'])) noteEquality(qual, { walk, levels });
  const here = level.ranges.filter((_, place) => joined.has(place + 1));
  checkJoin(here, { walk, target: level.ranges[Number(query['resultRelation'] ?? 0) - 1] });
  checkLocks(query, { walk, level });
  for (const range of listOf(query['groupingSets']).length > 0 ? here : [])
    if (range.kind === 'distributed') walk.faults.add(`7: ${range.name} is grouped by several sets at once`);
  if (isInsert) checkInsert(query, { walk, level });
  checkFunctions(query, { walk, target: level.ranges[Number(query['resultRelation'] ?? 0) - 1] });
  // Common table expressions are asked once each, by themselves.
  for (const expression of listOf(query['cteList'])) walkQuery(nodeOf(expression['ctequery']), { walk, outer: [] });
  const isUnion = isNode(query['setOperations']);
  for (const [place, node] of rangeNodes.entries()) {
    if (!joined.has(place + 1) && !isInsert && !isUnion) continue;
    if (isNode(node['subquery'])) walkNested(node['subquery'], { walk, levels });
  }
  for (const sublink of sublinksIn(query)) walkNested(nodeOf(sublink['subselect']), { walk, levels });
}

function walkNested(query: ParseNode, { walk, levels }: { walk: Walk; levels: Level[] }): void {
  const before = walk.queries + 1;
  walkQuery(query, { walk, outer: levels });
  checkCorrelation(query, { walk, levels, id: before });
}

function rangeOf(node: ParseNode, { catalog, key }: { catalog: Catalog; key: string }): Range {
  const relation = node['rtekind'] === '0' ? Number(node['relid']) : 0;
  const distributed = catalog.distributed.get(relation);
  if (distributed)
    return {
      kind: 'distributed',
      name: distributed.name,
      bucket: `${key}.${distributed.column}`,
      group: distributed.group,
    };
  const local = catalog.local.get(relation);
  if (local !== undefined) return { kind: 'local', name: local, bucket: undefined, group: '' };
  const staging = catalog.staging.get(relation);
  if (staging !== undefined) return { kind: 'staging', name: staging, bucket: undefined, group: '' };
  return { kind: 'other', name: '', bucket: undefined, group: '' };
}

function checkJoin(ranges: Range[], { walk, target }: { walk: Walk; target: Range | undefined }): void {
  const distributed = ranges.filter(({ kind }) => kind === 'distributed');
  const local = ranges.filter((range) => range.kind === 'local' || (range.kind === 'staging' && range === target));
  for (const one of distributed) {
    for (const other of local) walk.faults.add(`4: ${one.name} is joined with ${other.name}`);
    for (const other of distributed.slice(distributed.indexOf(one) + 1))
      if (one.group !== other.group || !isSame(walk, [one.bucket!, other.bucket!]))
        walk.faults.add(`5: ${one.name} and ${other.name} are joined, and not by bucket`);
  }
}

function checkLocks(query: ParseNode, { walk, level }: { walk: Walk; level: Level }): void {
  for (const mark of listOf(query['rowMarks'])) {
    const range = level.ranges[Number(mark['rti']) - 1]!;
    if (range.kind === 'distributed' && !isOneBucket(walk, range.bucket!))
      walk.faults.add(`1: rows of ${range.name} are locked, and not in one bucket`);
  }
}

function checkInsert(query: ParseNode, { walk, level }: { walk: Walk; level: Level }): void {
  const target = level.ranges[Number(query['resultRelation']) - 1];
  const isSelected = listOf(query['rtable']).some((node) => isNode(node['subquery']));
  const isOwn = isNode(query['onConflict']) || listOf(query['returningList']).length > 0;
  if (target?.kind === 'distributed' && isSelected && !isOwn)
    walk.faults.add(`6: what is selected is inserted into ${target.name} as it is`);
}

function checkFunctions(query: ParseNode, { walk, target }: { walk: Walk; target: Range | undefined }): void {
  if (target?.kind !== 'distributed') return;
  // What is inserted comes from a query, which is asked before.
  const changed = query['commandType'] === '3' ? [] : [query['targetList'], query['jointree']];
  for (const call of nodesIn([...changed, query['returningList'], query['onConflict']])) {
    const name = walk.catalog.stableFunctions.get(Number(call['funcid'] ?? call['opfuncid'] ?? 0));
    const inputs = call.type === 'COERCEVIAIO' ? [] : [...nodesIn(call['args'])];
    if (name !== undefined && inputs.some((node) => node.type === 'VAR'))
      walk.faults.add(`3: ${name}() is given a column where rows are changed`);
    if (isStableText(call, walk.catalog) && [...nodesIn(call['arg'])].some((node) => node.type === 'VAR'))
      walk.faults.add('3: a column is made a text where rows are changed');
  }
}

/** True of a cast through text that depends on settings, as that of a time does; a number's does not. */
function isStableText(call: ParseNode, { stableTexts }: Catalog): boolean {
  if (call.type !== 'COERCEVIAIO') return false;
  const argument = nodeOf(call['arg']);
  const type = ['vartype', 'funcresulttype', 'opresulttype', 'resulttype']
    .map((field) => argument[field])
    .find(Boolean);
  return type === undefined || [type, call['resulttype']].some((one) => stableTexts.has(Number(one)));
}

/** A sub-select that names columns around it is asked for each of their rows. */
function checkCorrelation(query: ParseNode, { walk, levels, id }: { walk: Walk; levels: Level[]; id: number }): void {
  const inner = distributedWithin(query, { catalog: walk.catalog, id });
  const around = outerRanges(query, levels);
  if (around.length === 0) return;
  for (const { name, bucket, group } of inner) {
    for (const other of around) {
      if (isOneBucket(walk, bucket!) && other.kind !== 'local') continue;
      if (other.kind === 'local') walk.faults.add(`4: ${name} is asked for each row of ${other.name}`);
      else if (other.kind === 'other' || other.kind === 'staging')
        walk.faults.add(`2: ${name} is asked for each row of what is no table, in no one bucket`);
      else if (other.group !== group || !isSame(walk, [bucket!, other.bucket!]))
        walk.faults.add(`5: ${name} is asked for each row of ${other.name}, and not by bucket`);
    }
  }
  const hasLocal = nodesInQuery(query).some((node) => walk.catalog.local.has(Number(node['relid'] ?? 0)));
  if (hasLocal && inner.length === 0)
    for (const other of around)
      if (other.kind === 'distributed') walk.faults.add(`4: a local table is asked for each row of ${other.name}`);
}

/** The distributed ranges of a query's own level. */
function distributedWithin(query: ParseNode, { catalog, id }: { catalog: Catalog; id: number }): Range[] {
  return listOf(query['rtable'])
    .map((node, place) => rangeOf(node, { catalog, key: `${id}.${place + 1}` }))
    .filter(({ kind }) => kind === 'distributed');
}

/** The ranges of the level around that a query names. */
function outerRanges(query: ParseNode, levels: Level[]): Range[] {
  const found = new Set<Range>();
  const visit = (node: unknown, depth: number): void => {
    if (Array.isArray(node)) for (const element of node) visit(element, depth);
    if (!isNode(node)) return;
    if (node.type === 'VAR' && Number(node['varlevelsup']) === depth) {
      const range = levels.at(-1)!.ranges[Number(node['varno']) - 1];
      if (range) found.add(range);
    }
    for (const value of Object.values(node)) visit(value, isNode(value) && value.type === 'QUERY' ? depth + 1 : depth);
  };
  for (const value of Object.values(query)) visit(value, isNode(value) && value.type === 'QUERY' ? 2 : 1);
  return [...found];
}

function noteEquality(node: ParseNode, { walk, levels }: { walk: Walk; levels: Level[] }): void {
  if (node.type !== 'OPEXPR' || !walk.catalog.equalities.has(Number(node['opno']))) return;
  const [one, other] = listOf(node['args']).map((side) => keyOf(side, levels));
  if (one !== undefined && other !== undefined) walk.classes.set(rootOf(walk, one), rootOf(walk, other));
}

/** Of a column or a value; undefined of what is computed of columns. */
function keyOf(node: ParseNode, levels: Level[]): string | undefined {
  if (node.type === 'VAR') {
    const level = levels.at(-1 - Number(node['varlevelsup']));
    return level && `${level.id}.${node['varno'] as string}.${node['varattno'] as string}`;
  }
  if (node.type === 'RELABELTYPE' || node.type === 'COLLATEEXPR') return keyOf(nodeOf(node['arg']), levels);
  if (node.type === 'PARAM') return `value $${node['paramid'] as string}`;
  if (node.type === 'CONST') return `value ${String(node['constvalue'])}`;
  const inside = [...nodesIn(node['args'] ?? node['arg'])];
  if (inside.some(({ type }) => type === 'VAR' || type === 'SUBLINK')) return undefined;
  return inside.length > 0 ? keyOf(inside[0]!, levels) : undefined;
}

function rootOf(walk: Walk, key: string): string {
  let root = key;
  for (let next = walk.classes.get(root); next !== undefined && next !== root; next = walk.classes.get(root))
    root = next;
  return root;
}

const isSame = (walk: Walk, [one, other]: [string, string]): boolean => rootOf(walk, one) === rootOf(walk, other);

function isOneBucket(walk: Walk, bucket: string): boolean {
  const root = rootOf(walk, bucket);
  if (root.startsWith('value ')) return true;
  return [...walk.classes.keys()].some((key) => key.startsWith('value ') && rootOf(walk, key) === root);
}

function isNode(value: unknown): value is ParseNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nodeOf(value: unknown): ParseNode {
  if (!isNode(value)) throw new TypeError('no node of a tree');
  return value;
}

const listOf = (value: unknown): ParseNode[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** The statements of a function's body: what is written in it, not in a query of it. */
function queriesIn(tree: unknown): ParseNode[] {
  if (Array.isArray(tree)) return tree.flatMap(queriesIn);
  return isNode(tree) && tree.type === 'QUERY' ? [tree] : [];
}

function* nodesIn(value: unknown): Generator<ParseNode> {
  if (Array.isArray(value)) for (const element of value) yield* nodesIn(element);
  if (!isNode(value) || value.type === 'QUERY') return;
  yield value;
  for (const part of Object.values(value)) yield* nodesIn(part);
}

const nodesInQuery = (query: ParseNode): ParseNode[] => listOf(query['rtable']);

function* sublinksIn(query: ParseNode): Generator<ParseNode> {
  for (const [name, part] of Object.entries(query))
    if (name !== 'cteList' && name !== 'rtable')
      for (const node of nodesIn(part)) if (node.type === 'SUBLINK') yield node;
}

/** Numbers of the ranges that are joined at this level. */
function joinedRanges(tree: unknown): number[] {
  return [...nodesIn(tree)].filter(({ type }) => type === 'RANGETBLREF').map((node) => Number(node['rtindex']));
}

/** Conditions that all hold: of `where`, and of joins. */
function conditionsOf(tree: unknown): ParseNode[] {
  const quals = [...nodesIn(tree)].flatMap((node) =>
    node.type === 'FROMEXPR' || node.type === 'JOINEXPR' ? listOf([node['quals']]) : [],
  );
  return quals.flatMap(allOf);
}

function allOf(condition: ParseNode): ParseNode[] {
  if (condition.type === 'BOOLEXPR' && condition['boolop'] === 'and') return listOf(condition['args']).flatMap(allOf);
  return [condition];
}
