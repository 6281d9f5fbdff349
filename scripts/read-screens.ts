import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export type DocumentedScreen = {
  name: string;
  /** The path below `/console`, as the router and links write it: `/w/$workspaceId/people/$userId`. */
  address: string;
  title: string;
  permission?: string;
  place?: string;
};

const path = join(import.meta.dirname, '..', 'console', 'src', 'screens.ts');

/**
 * Returns the screens of the console, in the order of their table. Reads the text of the table, because Node cannot load the
 * pages that it imports, and loading its icons takes seven seconds. @throws Error if a path or title is not a plain string
 */
export function readScreens(): DocumentedScreen[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return membersOf(findTable(source)).map(([name, value]) => {
    const members = Object.fromEntries(membersOf(value));
    const textOf = (member: string) => {
      const found = members[member];
      return found !== undefined && ts.isStringLiteral(found) ? found.text : undefined;
    };
    const [below, title, permission, place] = ['path', 'title', 'permission', 'place'].map(textOf);
    if (below === undefined || title === undefined) throw new Error(`${path}: ${name} must have a path and a title`);
    return {
      ...{ name, address: `/w/$workspaceId${below === '/' ? '' : below}`, title },
      ...(permission !== undefined && { permission }),
      ...(place !== undefined && { place }),
    };
  });
}

function findTable(source: ts.SourceFile): ts.Expression {
  const declaration = source.statements
    .flatMap((statement) => (ts.isVariableStatement(statement) ? statement.declarationList.declarations : []))
    .find(({ name }) => ts.isIdentifier(name) && name.text === 'screens');
  if (declaration?.initializer === undefined) throw new Error(`${path} must declare screens`);
  return declaration.initializer;
}

/** Returns the members of an object literal, with or without `as const satisfies …` after it. */
function membersOf(value: ts.Expression): [name: string, value: ts.Expression][] {
  if (ts.isSatisfiesExpression(value) || ts.isAsExpression(value)) return membersOf(value.expression);
  if (!ts.isObjectLiteralExpression(value)) throw new Error(`${path}: a screen must be an object literal`);
  return value.properties.map((member) => {
    if (!ts.isPropertyAssignment(member) || !ts.isIdentifier(member.name))
      throw new Error(`${path}: a member of a screen must be written as "name: value"`);
    return [member.name.text, member.initializer];
  });
}
