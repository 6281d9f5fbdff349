/**
 * Splits an SQL text into statements, each with the comments before it and without its semicolon. A semicolon in a
 * string, a quoted name, a comment or text between dollar quotes separates nothing. Comments after the last statement
 * are left out.
 *
 * @throws SyntaxError for a string, name, comment or dollar quote that is not closed
 */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let [begin, isEmpty] = [0, true];
  for (const { index, 0: piece, groups } of text.matchAll(pieces)) {
    if (piece === ';') {
      if (!isEmpty) statements.push(text.slice(begin, index).trim());
      [begin, isEmpty] = [index + 1, true];
    } else if (groups!.open !== undefined) {
      throw new SyntaxError(`not closed: ${piece.slice(0, 40)}`);
    } else if (groups!.comment === undefined) {
      isEmpty = false;
    } else if (piece.indexOf('/*', 2) !== -1 && piece.startsWith('/*')) {
      // PostgreSQL's comments nest, which a regular expression cannot match.
      throw new SyntaxError('a comment in a comment; write them side by side');
    }
  }
  if (!isEmpty) statements.push(text.slice(begin).trim());
  return statements;
}

/**
 * Tried in this order: comments; strings with backslashes; strings; names; dollar quotes, which do not begin within a
 * word (PostgreSQL accepts `a$b$` as a name); the beginning of one of these without an end; words, in which an `e` or a
 * `$` is nothing special; any other character except whitespace.
 */
const pieces = new RegExp(
  [
    '(?<comment>--[^\\n]*|/\\*[^]*?\\*/)',
    "[eE]'(?:[^'\\\\]|\\\\[^]|'')*'",
    "'(?:[^']|'')*'",
    '"(?:[^"]|"")*"',
    '\\$(?<tag>[A-Za-z_\\u0080-\\uffff][\\w\\u0080-\\uffff]*)?\\$[^]*?\\$\\k<tag>\\$',
    '(?<open>/\\*[^]*|[eE]?\'[^]*|"[^]*|\\$(?:[A-Za-z_\\u0080-\\uffff][\\w\\u0080-\\uffff]*)?\\$[^]*)',
    "[eE](?!')[\\w$\\u0080-\\uffff]*|[A-DF-Za-df-z_\\u0080-\\uffff][\\w$\\u0080-\\uffff]*",
    '[^\\s]',
  ].join('|'),
  'g',
);
