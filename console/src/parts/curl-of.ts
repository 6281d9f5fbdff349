import { shellQuote } from './shell-quote.ts';

type ApiCall = { method?: string; path: string; workspaceId: string; body?: unknown };

/** The same call to the API, ready to be pasted; the key is the reader's own. */
export function curlOf({ method, path, workspaceId, body }: ApiCall): string {
  return [
    `KEY='a campaigns key'`,
    [
      `curl ${method === undefined ? '' : `-X ${method} `}${location.origin}${path}`,
      `  -u "${workspaceId}:$KEY"`,
      ...(body === undefined
        ? []
        : [`  -H 'Content-Type: application/json'`, `  -d ${shellQuote(JSON.stringify(body))}`]),
    ].join(' \\\n'),
  ].join('\n');
}
