import type { NodeCall } from '../call-node.ts';
import type { LoadContext, SoakAction } from './soak-action.ts';

type Issued = { data: { access_token: string; refresh_token: string } };

/** Tokens generated, used, refreshed and revoked; wrong secrets guessed from elsewhere, more than are answered. */
export function tokenLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, workspaceId, keys, random } = bundle;
  const client = { client_id: workspaceId, client_secret: keys.oauth };

  type Form = { kind: string; path: string; fields: Record<string, string> };

  const post = ({ kind, path, fields }: Form, more: Partial<NodeCall> = {}) =>
    callNode({
      kind,
      method: 'POST',
      path: `/v1/oauth/${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
      expected: [200],
      ...more,
    });

  return [
    {
      name: 'token',
      // Five a minute and thirty in ten minutes are answered; the clock that moves forgets the latter.
      everySeconds: 15,
      async run() {
        const expected = [200, 429];
        const generated = await post(
          { kind: 'token', path: 'token', fields: { grant_type: 'client_credentials', ...client } },
          { expected },
        );
        if (generated?.status !== 200) return;
        const { data } = generated.json() as Issued;
        const refresh = { grant_type: 'refresh_token', refresh_token: data.refresh_token, client_id: workspaceId };
        const refreshed = await post({ kind: 'token refresh', path: 'refresh', fields: refresh }, { expected });
        const last = refreshed?.status === 200 ? (refreshed.json() as Issued).data : data;
        await post({ kind: 'token revoke', path: 'revoke', fields: { token: last.access_token, ...client } });
        await post({ kind: 'token revoke', path: 'revoke', fields: { token: last.refresh_token, ...client } });
      },
    },
    {
      name: 'wrong secret',
      everySeconds: 2,
      async run() {
        const fields = {
          grant_type: 'client_credentials',
          client_id: `nobody-${random.between(1, 1e9)}`,
          client_secret: 'x',
        };
        const localAddress = `127.0.0.${random.between(2, 5)}`;
        await post({ kind: 'token guessed', path: 'token', fields: fields }, { localAddress, expected: [401, 429] });
      },
    },
  ];
}
