/** An executed example of the API: the request, with the example's own ids. */
export type Call = {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The name of the value that is the key; none for calls that carry their own proof. */
  key?: 'dataKey' | 'pushKey' | 'campaignsKey';
  body?: unknown;
  isForm?: true;
};

/** A value that the reader enters. An empty value keeps the example's. */
export type Values = Record<
  'base' | 'workspaceId' | 'dbName' | 'pushKey' | 'dataKey' | 'campaignsKey' | 'oauthKey',
  string
>;

export const noValues: Values = {
  base: 'http://127.0.0.1:8080',
  ...{ workspaceId: '', dbName: '', pushKey: '', dataKey: '', campaignsKey: '', oauthKey: '' },
};

export type FilledCall = {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** User name and password of Basic. */
  user?: string;
  body?: string;
};

const examples = { workspaceId: 'EXAMPLEWORKSPACE00000001', dbName: 'example_db' } as const;
const placeholders = {
  pushKey: 'PUSH_KEY',
  dataKey: 'DATA_KEY',
  campaignsKey: 'CAMPAIGNS_KEY',
  oauthKey: 'OAUTH_KEY',
} as const;

/** Returns the call with the reader's values in place of the example's. `body` is the edited body, if there is one. */
export function fillCall(call: Call, { values, body }: { values: Values; body?: string | undefined }): FilledCall {
  const fill = (text: string): string =>
    text
      .replaceAll(examples.workspaceId, values.workspaceId || examples.workspaceId)
      .replaceAll(examples.dbName, values.dbName || examples.dbName);
  const type = call.isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const headers = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, fill(value)]));
  const text = body ?? showBody(call);
  const user =
    call.key && `${values.workspaceId || examples.workspaceId}:${values[call.key] || placeholders[call.key]}`;
  return {
    method: call.method,
    url: `${values.base}${fill(call.path)}`,
    headers: { ...(text === undefined ? {} : { 'Content-Type': type }), ...headers },
    ...(user === undefined ? {} : { user }),
    ...(text === undefined ? {} : { body: withSecret(fill(text), values) }),
  };
}

/** Returns the body of the example, formatted for editing. */
export function showBody({ body, isForm }: Call): string | undefined {
  if (body === undefined) return undefined;
  return isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body, null, 2);
}

function withSecret(text: string, { oauthKey }: Values): string {
  return text.replace(/cok_example0+/g, encodeURIComponent(oauthKey || placeholders.oauthKey));
}

/** Quotes a text for a shell. */
export function makeCurl({ method, url, headers, user, body }: FilledCall): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const isPlain = (method === 'GET' && body === undefined) || (method === 'POST' && body !== undefined);
  return [
    `curl${isPlain ? '' : ` -X ${method}`} ${quote(url)}`,
    ...(user === undefined ? [] : [`-u ${quote(user)}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ].join(' \\\n  ');
}
