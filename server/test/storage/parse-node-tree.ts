/** A node of PostgreSQL's own tree of a statement, with its fields as they are written there. */
export type ParseNode = { type: string } & Record<string, unknown>;

/**
 * Reads the text of a tree (type pg_node_tree): `{TYPE :field value …}`, lists in parentheses, words. A word may have
 * several parts (a constant's bytes stand in brackets); they are put together.
 */
export function parseNodeTree(text: string): unknown {
  const tokens = text.match(/\\.|"(?:\\.|[^"\\])*"|[{}()[\]]|(?:\\.|[^\s{}()[\]\\"])+/g) ?? [];
  let place = 0;
  const read = (): unknown => {
    const token = tokens[place++]!;
    if (token === '{') return readNode();
    if (token === '(') return readUntil(')');
    if (token === '[') return readUntil(']').join(' ');
    return token === '<>' ? undefined : token;
  };
  const readUntil = (end: string): unknown[] => {
    const values: unknown[] = [];
    while (tokens[place] !== end) values.push(read());
    place += 1;
    return values;
  };
  const readNode = (): ParseNode => {
    const node: ParseNode = { type: tokens[place++]! };
    while (tokens[place] !== '}') {
      const field = tokens[place++]!.slice(1);
      const values: unknown[] = [];
      while (tokens[place] !== '}' && !/^:[a-z]/i.test(tokens[place]!)) values.push(read());
      node[field] = values.length <= 1 ? values[0] : values.join(' ');
    }
    place += 1;
    return node;
  };
  return read();
}
