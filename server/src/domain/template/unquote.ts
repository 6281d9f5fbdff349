const letters: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '' };

/** The text that a quoted one means, with Python's escapes. Escapes that nobody knows stay as they are. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (escape) => {
    if (escape.length === 2) return letters[escape[1]!] ?? escape;
    const code = parseInt(escape.slice(2), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
  });
}
