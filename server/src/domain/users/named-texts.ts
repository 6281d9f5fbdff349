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
 * warning. A body of the log may be cut, so bodies are not parsed: the last string of a cut body is compared by its beginning.
 * Pure.
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
    for (const value of stringsOf(text)) look(value);
  }
  for (const body of [call.requestBody ?? '', call.responseBody ?? '']) {
    for (const value of stringsOf(body)) look(value);
    for (const [, value] of body.matchAll(numberOfAnId)) look(value!);
    for (const word of body.split(/[\s",;&=<>()[\]{}]+/))
      if (word.length >= minWordLength) look(word.replace(/^:/, ''));
    const cut = findCutString(body);
    if (cut.length >= minWordLength)
      for (const name of names) if (JSON.stringify(name).slice(1, -1).startsWith(cut)) found.add(name);
  }
  return found;
}

/** Replaces the parts of a path that are names. */
export function pathWithoutNames(path: string, names: ReadonlySet<string>): string {
  return path.replace(/[^/?&=]+/g, (part) => (names.has(decodePart(part)) ? erasedText : part));
}

// A bare word shorter than this is more often a count or a flag than somebody's id.
const minWordLength = 5;

// Callers may send ids as numbers.
const numberOfAnId = /"[^"]*(?:id|user|value|identifier)s?"\s*:\s*(-?\d+(?:\.\d+)?)/gi;

const jsonString = /"(?:[^"\\]|\\.)*"/g;

function* stringsOf(text: string): Generator<string> {
  for (const [quoted] of text.matchAll(jsonString)) {
    const value = unquote(quoted);
    yield value;
    // JSON within JSON, such as a subscription that is sent as a text.
    if (value.startsWith('{')) for (const [inner] of value.matchAll(jsonString)) yield unquote(inner);
  }
}

/** Returns the beginning of a string that does not end in this text; empty if there is none. */
function findCutString(text: string): string {
  let end = 0;
  for (const { index, 0: quoted } of text.matchAll(jsonString)) end = index + quoted.length;
  const opened = text.indexOf('"', end);
  return opened < 0 ? '' : text.slice(opened + 1).replace(/\\$/, '');
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
