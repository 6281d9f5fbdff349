import { shellQuote } from '../parts/shell-quote.ts';
import type { CodeOptions } from './campaign-calls.ts';

type Call = { method: 'POST' | 'PATCH'; path: string; body: unknown };

/** The calls as commands for a shell; the key is the reader's own. */
export function curlOfCampaign({ origin, workspaceId, calls }: CodeOptions): string {
  const curl = ({ method, path, body }: Call): string =>
    [
      `curl -sS -X ${method} "${origin}${path}"`,
      `  -u "${workspaceId}:$KEY"`,
      `  -H 'Content-Type: application/json'`,
      `  -d ${shellQuote(JSON.stringify(body))}`,
    ].join(' \\\n');
  const publish = curl({ method: 'PATCH', path: '/v5/campaigns/$ID/status', body: { action: 'PUBLISH' } });
  const lines = [`KEY='a campaigns key'`];
  switch (calls.kind) {
    case 'create':
      // The answer's own member `id` stands behind `data`; `response_id` does not match.
      lines.push(
        `ID=$(${curl({ method: 'POST', path: '/v5/campaigns', body: calls.body })} \\`,
        `  | sed -E 's/.*"id": ?"([0-9a-f]{24})".*/\\1/')`,
        publish,
      );
      break;
    case 'change':
      lines.push(`ID='${calls.id}'`);
      if (calls.change) lines.push(curl({ method: 'PATCH', path: '/v5/campaigns/$ID', body: calls.change }));
      lines.push(publish);
      break;
    case 'edit':
      lines.push(curl({ method: 'PATCH', path: `/core-services/v1/campaigns/${calls.id}`, body: calls.change }));
      break;
  }
  return lines.join('\n');
}
