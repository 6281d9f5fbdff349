import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import ts from 'typescript';

/** A statement as the source has it, with the texts it may become: one at least for each branch of its conditions. */
export type SourceStatement = { place: string; texts: string[] };

type Scope = { node: ts.Node; bindings: Map<string, Closure>; file: SourceFile };
type Closure = { expression: ts.Node; scope: Scope };
type SourceFile = {
  path: string;
  source: ts.SourceFile;
  declarations: Map<string, ts.Node>;
  imports: Map<string, string>;
};

/** `tables`: for each function that names a table for a day or a file, the one that stands for all it may name. */
type Asked = { root: string; tables: Readonly<Record<string, string>> };

/**
 * Reads the statements of files: what is tagged and begins like a statement. Parts that are tagged themselves are put in,
 * through constants and functions that return them, also of other files; all else is a parameter, the same one for the
 * same expression.
 */
export function readStatements(paths: readonly string[], { root, tables }: Asked): SourceStatement[] {
  const files = new Map(paths.map((path) => [path, readFile(path)]));
  return [...files.values()].flatMap((file) => readFileStatements(file, { files, root, tables }));
}

function readFile(path: string): SourceFile {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const declarations = new Map<string, ts.Node>();
  const imports = new Map<string, string>();
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name) declarations.set(statement.name.text, statement);
    if (ts.isVariableStatement(statement))
      for (const { name, initializer } of statement.declarationList.declarations)
        if (ts.isIdentifier(name) && initializer) declarations.set(name.text, initializer);
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      const from = resolve(dirname(path), statement.moduleSpecifier.text);
      const named = statement.importClause?.namedBindings;
      if (named && ts.isNamedImports(named)) for (const { name } of named.elements) imports.set(name.text, from);
    }
  }
  return { path, source, declarations, imports };
}

type Reading = Asked & { files: Map<string, SourceFile> };

function readFileStatements(file: SourceFile, reading: Reading): SourceStatement[] {
  const found: SourceStatement[] = [];
  const visit = (node: ts.Node, scope: Scope, name: string): void => {
    let inner = scope;
    let within = name;
    if (ts.isFunctionDeclaration(node) && node.name) within = node.name.text;
    if (isFunction(node)) inner = { node, bindings: localsOf(node, scope), file };
    if (isTagged(node) && !isWithinTagged(node)) {
      const texts = textsOf(node, { scope: inner, reading });
      const place = `${relative(reading.root, file.path)} ${within}`;
      if (texts.some((text) => /^\s*(?:--.*\n\s*)*\(?(?:select|insert|update|delete|with)\b/i.test(text)))
        found.push({ place, texts });
    }
    ts.forEachChild(node, (child) => visit(child, inner, within));
  };
  visit(file.source, { node: file.source, bindings: new Map(), file }, '');
  return found;
}

type FunctionNode = ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression;

const isFunction = (node: ts.Node): node is FunctionNode =>
  ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isFunctionExpression(node);

/** True of `tx`, `session`, `bundle.database`, whatever is a tag; `String.raw` is not one. */
function isTagged(node: ts.Node): node is ts.TaggedTemplateExpression {
  if (!ts.isTaggedTemplateExpression(node)) return false;
  const tag = ts.isParenthesizedExpression(node.tag) ? node.tag.expression : node.tag;
  if (ts.isPropertyAccessExpression(tag)) return tag.name.text === 'database';
  return ts.isIdentifier(ts.isAsExpression(tag) ? tag.expression : tag);
}

function isWithinTagged(node: ts.Node): boolean {
  for (let up = node.parent; up; up = up.parent) {
    if (isTagged(up)) return true;
    if (ts.isFunctionDeclaration(up)) return false;
  }
  return false;
}

/** The constants that a function declares, and its nested functions. */
function localsOf(node: FunctionNode, outer: Scope): Map<string, Closure> {
  const bindings = new Map(outer.bindings);
  const scope = { node, bindings, file: outer.file };
  for (const parameter of node.parameters) forgetNames(parameter.name, bindings);
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionDeclaration(child) && child.name) bindings.set(child.name.text, { expression: child, scope });
    if (isFunction(child)) return;
    if (ts.isVariableDeclaration(child) && ts.isIdentifier(child.name) && child.initializer)
      bindings.set(child.name.text, { expression: child.initializer, scope });
    ts.forEachChild(child, visit);
  };
  if (node.body) ts.forEachChild(node.body, visit);
  return bindings;
}

function forgetNames(name: ts.BindingName, bindings: Map<string, Closure>): void {
  if (ts.isIdentifier(name)) bindings.delete(name.text);
  else for (const element of name.elements) if (!ts.isOmittedExpression(element)) forgetNames(element.name, bindings);
}

type Writing = { choices: Map<ts.Node, number>; seen: Map<ts.Node, number>; parameters: string[]; depth: number };

/** All first branches, all last ones, and each condition by itself the other way. */
function textsOf(node: ts.TaggedTemplateExpression, { scope, reading }: { scope: Scope; reading: Reading }): string[] {
  const texts = new Set<string>();
  const writeWith = (choices: Map<ts.Node, number>, fallback: 0 | 1): Map<ts.Node, number> => {
    const seen = new Map<ts.Node, number>();
    const choicesOrFallback = new Map(choices);
    choicesOrFallback.set(node, fallback);
    const writing = { choices: choicesOrFallback, seen, parameters: [], depth: 0 };
    texts.add(writeTagged(node, { scope, reading, writing, whole: node }));
    return seen;
  };
  const seen = new Map([...writeWith(new Map(), 0), ...writeWith(new Map(), 1)]);
  for (const condition of seen.keys()) {
    for (const [other] of writeWith(new Map([[condition, 1]]), 0)) seen.set(other, 0);
    writeWith(new Map([[condition, 0]]), 1);
  }
  return [...texts];
}

type Context = { scope: Scope; reading: Reading; writing: Writing; whole: ts.Node };

function writeTagged(node: ts.TaggedTemplateExpression, context: Context): string {
  const { template } = node;
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  let text = template.head.text;
  for (const span of template.templateSpans)
    text += writePart(span.expression, { ...context, before: text }) + span.literal.text;
  return text;
}

function writePart(expression: ts.Node, context: Context & { before: string }): string {
  return (
    writeFragment(expression, context) ??
    parameterOf(`${context.scope.file.path} ${expression.getText(context.scope.file.source)}`, context.writing)
  );
}

function parameterOf(key: string, { parameters }: Writing): string {
  const known = parameters.indexOf(key);
  return `$${known === -1 ? parameters.push(key) : known + 1}`;
}

/** What an expression puts into the text; undefined when it is a value. */
function writeFragment(node: ts.Node, context: Context & { before: string }): string | undefined {
  const { writing } = context;
  if (writing.depth > 24) return undefined;
  const deeper = { ...context, writing };
  writing.depth += 1;
  try {
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node))
      return writeFragment(node.expression, deeper);
    if (isTagged(node)) return writeTagged(node, context);
    if (ts.isConditionalExpression(node)) return writeChosen(node, deeper);
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken)
      return writeFragment(node.right, deeper);
    if (ts.isIdentifier(node)) return writeNamed(node, deeper);
    if (ts.isCallExpression(node)) return writeCall(node, deeper);
    if (ts.isArrayLiteralExpression(node)) {
      const parts = node.elements.map((element) => writeFragment(element, deeper));
      return parts.length > 0 && parts.every((part) => part !== undefined) ? parts.join(' ') : undefined;
    }
    return undefined;
  } finally {
    writing.depth -= 1;
  }
}

function writeChosen(node: ts.ConditionalExpression, context: Context & { before: string }): string | undefined {
  const { choices, seen } = context.writing;
  const branches = [node.whenTrue, node.whenFalse];
  // Of a list that is put together: the first stands for all.
  if (/^\w+ === 0$/.test(node.condition.getText())) return writeFragment(node.whenTrue, context);
  if (branches.every((branch) => !mayBeFragment(branch, context))) return undefined;
  seen.set(node, 0);
  const choice = choices.get(node) ?? choices.get(context.whole) ?? 0;
  return writeFragment(branches[choice]!, context) ?? writePart(branches[choice]!, context);
}

function mayBeFragment(node: ts.Node, context: Context & { before: string }): boolean {
  const trial = { ...context.writing, parameters: [], seen: new Map() };
  return writeFragment(node, { ...context, writing: trial }) !== undefined;
}

/** What a name stands for, through names that stand for it. */
function findClosure(name: string, context: Context): Closure | undefined {
  let found = findDirectly(name, context);
  for (let hop = 0; hop < 8 && found && ts.isIdentifier(found.expression); hop += 1)
    found = findDirectly(found.expression.text, { ...context, scope: found.scope });
  return found;
}

function findDirectly(name: string, { scope, reading }: Context): Closure | undefined {
  const local = scope.bindings.get(name);
  if (local) return local;
  const own = scope.file.declarations.get(name);
  if (own) return { expression: own, scope: { node: own, bindings: new Map(), file: scope.file } };
  const file = reading.files.get(scope.file.imports.get(name) ?? '');
  const other = file?.declarations.get(name);
  return other && { expression: other, scope: { node: other, bindings: new Map(), file: file! } };
}

function writeNamed(node: ts.Identifier, context: Context & { before: string }): string | undefined {
  const closure = findClosure(node.text, context);
  if (!closure || isFunction(closure.expression)) return undefined;
  return writeFragment(closure.expression, { ...context, scope: closure.scope });
}

function writeCall(node: ts.CallExpression, context: Context & { before: string }): string | undefined {
  const { expression: called } = node;
  if (ts.isIdentifier(called) && /^(?:tx|session|database)$/.test(called.text)) {
    const [argument] = node.arguments;
    return argument && ts.isCallExpression(argument)
      ? context.reading.tables[argument.expression.getText()]
      : undefined;
  }
  if (ts.isPropertyAccessExpression(called) && called.name.text === 'map') {
    const [callback] = node.arguments;
    return callback && isFunction(callback) ? writeReturned(callback, { ...context, given: [] }) : undefined;
  }
  if (!ts.isIdentifier(called)) return undefined;
  const closure = findClosure(called.text, context);
  if (!closure || !isFunction(closure.expression)) return undefined;
  const given = node.arguments.map((expression) => ({ expression, scope: context.scope }));
  return writeReturned(closure.expression, { ...context, scope: closure.scope, given });
}

function writeReturned(
  node: FunctionNode,
  context: Context & { before: string; given: Closure[] },
): string | undefined {
  const bindings = localsOf(node, context.scope);
  const scope = { node, bindings, file: context.scope.file };
  node.parameters.forEach(({ name }, place) => bindName(name, { closure: context.given[place], bindings }));
  const returned = returnOf(node);
  return returned && writeFragment(returned, { ...context, scope });
}

function bindName(
  name: ts.BindingName,
  { closure, bindings }: { closure: Closure | undefined; bindings: Map<string, Closure> },
): void {
  if (!closure) return;
  if (ts.isIdentifier(name)) {
    // A parameter that is passed on under its own name would be looked for in itself.
    if (closure.expression.getText(closure.scope.file.source) !== name.text || closure.scope.bindings.has(name.text))
      bindings.set(name.text, closure);
    return;
  }
  let { expression } = closure;
  if (ts.isIdentifier(expression)) expression = closure.scope.bindings.get(expression.text)?.expression ?? expression;
  if (!ts.isObjectBindingPattern(name) || !ts.isObjectLiteralExpression(expression)) return;
  for (const element of name.elements) {
    const key = (element.propertyName ?? element.name).getText();
    const property = expression.properties.find((one) => one.name?.getText() === key);
    if (!property) continue;
    if (ts.isPropertyAssignment(property))
      bindName(element.name, { closure: { ...closure, expression: property.initializer }, bindings });
    if (ts.isShorthandPropertyAssignment(property))
      bindName(element.name, { closure: { ...closure, expression: property.name }, bindings });
  }
}

function returnOf({ body }: FunctionNode): ts.Node | undefined {
  if (!body) return undefined;
  if (!ts.isBlock(body)) return body;
  const returns = body.statements.filter(ts.isReturnStatement);
  return returns.at(-1)?.expression;
}
