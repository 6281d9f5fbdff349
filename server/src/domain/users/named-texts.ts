/** Stands for a text that named an erased user. */
export const erasedText = '[erased]';

/** The texts of a logged call that may name a user. */
export type CallTexts = {
  path: string;
  errorDetail: string | null;
  warnings: readonly string[];
  requestBody: string | null;
  responseBody: string | null;
};

/**
 * Returns the texts under which a subscription of a browser appears in bodies: its identifier is the JSON of endpoint and keys,
 * and callers may send the members in another order. Other names are returned unchanged.
 */
export function spellingsOf(name: string): string[] {
  if (!name.startsWith('{')) return [name];
  try {
    const { endpoint } = JSON.parse(name) as { endpoint?: unknown };
    return typeof endpoint === 'string' ? [name, endpoint] : [name];
  } catch {
    return [name];
  }
}

/**
 * Returns the names that occur in a call: as a whole JSON string, as a number of an id, or as a word of a path, an error or a
 * warning. The API log cuts long bodies, so bodies are not parsed, and the last string of a cut body is compared by its beginning.
 * Takes time in proportion to the length of the texts. Pure.
 */
export function findNames(call: CallTexts, names: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const look = (text: string): void => {
    if (names.has(text)) found.add(text);
  };
  for (const part of call.path.split(/[/?&=]/)) look(decodePart(part));
  for (const text of [call.errorDetail ?? '', ...call.warnings]) {
    for (const word of text.split(/[\s"'`,;:()[\]{}]+/))
      for (const spelling of [word, word.replace(/\.$/, '')]) look(spelling);
    for (const value of readStrings(text).whole) look(value);
  }
  for (const body of [call.requestBody ?? '', call.responseBody ?? '']) {
    const { whole, cut } = readStrings(body);
    for (const value of whole) look(value);
    for (const [, value] of body.matchAll(numberOfAnId)) look(value!);
    for (const word of body.split(/[\s",;&=<>()[\]{}]+/))
      if (word.length >= minWordLength) look(word.replace(/^:/, ''));
    if (cut.length >= minWordLength)
      for (const name of names) if (JSON.stringify(name).slice(1, -1).startsWith(cut)) found.add(name);
  }
  return found;
}

/** Replaces the parts of a path that are names. */
export function pathWithoutNames(path: string, names: ReadonlySet<string>): string {
  return path.replace(/[^/?&=]+/g, (part) => (names.has(decodePart(part)) ? erasedText : part));
}

// A bare word shorter than this is usually a count or a flag, and not an id.
const minWordLength = 5;

// Callers may send ids as numbers.
const numberOfAnId = /"[^"]*(?:id|user|value|identifier)s?"\s*:\s*(-?\d+(?:\.\d+)?)/gi;

/** `cut`: the beginning of a last string that does not end in the text; empty if there is none. */
type Strings = { whole: string[]; cut: string };

/** Returns the JSON strings of a text, also those in a string that holds JSON, such as a subscription that is sent as a text. */
function readStrings(text: string): Strings {
  const whole: string[] = [];
  for (let open = text.indexOf('"'); open >= 0;) {
    const close = findEndOfString(text, open);
    if (close < 0) return { whole, cut: text.slice(open + 1).replace(/\\$/, '') };
    const value = unquote(text.slice(open, close + 1));
    whole.push(value);
    if (value.startsWith('{')) whole.push(...readStrings(value).whole);
    open = text.indexOf('"', close + 1);
  }
  return { whole, cut: '' };
}

/** Returns the index of the closing quote; -1 if the text ends before. */
function findEndOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index;
  }
  return -1;
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
