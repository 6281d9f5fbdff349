/** The kinds of object that a call may create or change and that have a screen. */
export const madeKinds = ['campaign', 'segment', 'user'] as const;
export type MadeKind = (typeof madeKinds)[number];

/** For a user, `id` is the one that the caller gave, by which the console finds the user. */
export type MadeObject = { kind: MadeKind; id: string };

type Call = {
  method: string;
  route: string;
  path: string;
  status: number;
  requestBody: string | null;
  responseBody: string | null;
};

const id = /^[0-9a-f]{24}$/;

/**
 * Returns the objects that the response of a call names; for calls about users, those that the request names. A truncated
 * body is not valid JSON and names nothing. Pure.
 */
export function findMade({ route, path, status, requestBody, responseBody }: Call): MadeObject[] {
  if (status >= 400) return [];
  const request = readObject(requestBody);
  const response = readObject(responseBody);
  const found: MadeObject[] = [];
  const add = (kind: MadeKind, value: unknown): void => {
    if (typeof value === 'string' && (kind === 'user' ? value !== '' : id.test(value))) found.push({ kind, id: value });
  };
  const data = readMember(response['data']);
  if (/\/sendpush$/.test(route)) add('campaign', response['cid']);
  if (/\/campaigns(\/|$)/.test(route)) {
    add('campaign', response['campaign_id'] ?? data['id']);
    add('campaign', /\/campaigns\/([0-9a-f]{24})/.exec(path)?.[1]);
  }
  if (/segment/.test(route)) {
    add('segment', response['cs_id'] ?? data['id']);
    add('segment', /\/custom-segments\/([0-9a-f]{24})/.exec(path)?.[1]);
  }
  if (/\/(customer|event|device)(\/|$)/.test(route)) add('user', request['customer_id']);
  return [...new Map(found.map((made) => [`${made.kind} ${made.id}`, made])).values()];
}

function readObject(text: string | null): Record<string, unknown> {
  if (text === null) return {};
  try {
    return readMember(JSON.parse(text));
  } catch {
    return {};
  }
}

function readMember(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
