import { readFile, stat } from 'node:fs/promises';
import { StartError } from '../../start/start-errors.ts';

/** One request of an integration, and what its author saw. */
export type RecordedCall = {
  name: string;
  method: string;
  /** With its query, below the base URL. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  expected: { status: number; headers: Record<string, string>; body: unknown };
};

// What somebody records in an afternoon of clicking, with room; a file of another kind is not read into memory.
const maxFileBytes = 20 * 1024 * 1024;
const maxCalls = 1_000;

/** Reads a HAR file, or a described integration as a JSON list or one JSON object a line. @throws StartError */
export async function readRecording(path: string): Promise<RecordedCall[]> {
  const found = await stat(path).catch((error: unknown) => refuse(`${path} cannot be read.`, error));
  if (found.isDirectory()) refuse(`${path} is a folder.`);
  if (found.size > maxFileBytes) refuse(`${path} is larger than ${maxFileBytes / 1024 / 1024} MiB.`);
  const document = parseDocument(await readFile(path, 'utf8'), path);
  const isHar = isRecord(document) && isRecord(document.log) && Array.isArray(document.log.entries);
  const rows: unknown[] = isHar ? ((document.log as Row).entries as unknown[]) : [document].flat();
  if (rows.length === 0) refuse(`${path} holds no requests: neither a HAR file nor a list of them.`);
  if (rows.length > maxCalls) refuse(`${path} holds more than ${maxCalls} requests.`);
  return rows.map((row, index) => {
    if (!isRecord(row)) return refuse(`${path}: request ${index + 1} is not an object.`);
    try {
      return isHar ? fromHar(row) : fromDescription(row);
    } catch (error) {
      return refuse(`${path}: request ${index + 1}: ${(error as Error).message}.`, error);
    }
  });
}

type Row = Record<string, unknown>;

function parseDocument(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // One object a line.
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch (error) {
      return refuse(`${path} is not JSON, and its line ${index + 1} is not either.`, error);
    }
  });
}

function fromHar({ request, response }: Row): RecordedCall {
  if (!isRecord(request) || !isRecord(response)) throw new Error('request and response are needed');
  const { pathname, search } = new URL(String(request.url));
  const posted = isRecord(request.postData) ? request.postData.text : undefined;
  const content = isRecord(response.content) ? response.content : {};
  const text = typeof content.text === 'string' ? content.text : '';
  return {
    name: `${String(request.method)} ${pathname}`,
    method: String(request.method),
    path: pathname + search,
    headers: pairsToRecord(request.headers),
    body: typeof posted === 'string' ? posted : undefined,
    expected: {
      status: readStatus(response.status),
      headers: pairsToRecord(response.headers),
      body: readBody(content.encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text),
    },
  };
}

function fromDescription({ name, method = 'GET', path, headers = {}, body, expect }: Row): RecordedCall {
  if (typeof path !== 'string' || !path.startsWith('/')) throw new Error('path begins with /');
  if (!isRecord(expect)) throw new Error('expect is needed');
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type: Record<string, string> = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
  return {
    name: typeof name === 'string' ? name : `${String(method)} ${path.split('?')[0]}`,
    method: String(method),
    path,
    headers: { ...type, ...toHeaders(headers) },
    body: text,
    expected: { status: readStatus(expect.status), headers: toHeaders(expect.headers ?? {}), body: expect.body },
  };
}

function readStatus(status: unknown): number {
  if (Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 599) return Number(status);
  throw new Error('the status of its reply is needed');
}

function pairsToRecord(pairs: unknown): Record<string, string> {
  const known = Array.isArray(pairs) ? pairs.filter(isRecord) : [];
  return toHeaders(Object.fromEntries(known.map(({ name, value }) => [String(name), value])));
}

function toHeaders(headers: unknown): Record<string, string> {
  if (!isRecord(headers)) throw new Error('headers are an object');
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** JSON where it is JSON. */
export function readBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text === '' ? undefined : text;
  }
}

export function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(sentence: string, cause?: unknown): never {
  throw new StartError('SETTING_INVALID', sentence, cause);
}
