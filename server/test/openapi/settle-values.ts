import { signPush } from '../../src/domain/crypto/signatures.ts';

/** What stands in the document instead of the credentials of a walk. */
export const shownCredentials = {
  workspaceId: 'EXAMPLEWORKSPACE00000001',
  dbName: 'example_db',
  keys: Object.fromEntries(
    Object.entries({ oauth: 'cok', data: 'cdk', push: 'cpk', campaigns: 'cck', app: 'cak' }).map(([kind, prefix]) => [
      kind,
      `${prefix}_${'example'.padEnd(43, '0')}`,
    ]),
  ) as Record<'oauth' | 'data' | 'push' | 'campaigns' | 'app', string>,
};

export type Settle = (value: unknown) => unknown;

/**
 * What differs from one walk to the next becomes what stands in the document: ids by the order in which they come, times
 * all at one instant, credentials and addresses of the walk by those that are shown.
 */
export function makeSettle(walk: {
  workspaceId: string;
  dbName: string;
  keys: Record<string, string>;
  receiver: string;
}): Settle {
  const known = new Map<string, string>([
    [walk.workspaceId, shownCredentials.workspaceId],
    [walk.dbName, shownCredentials.dbName],
    [walk.receiver, 'https://shop.example'],
    ...Object.entries(walk.keys).map(
      ([kind, secret]) => [secret, shownCredentials.keys[kind as 'push']] as [string, string],
    ),
  ]);
  const counts = new Map<string, number>();
  const numbered = (kind: string, found: string, write: (number: number) => string): string => {
    const number = (counts.get(kind) ?? 0) + 1;
    if (!known.has(found)) {
      counts.set(kind, number);
      known.set(found, write(number));
    }
    return known.get(found)!;
  };
  const fixed = [walk.workspaceId, walk.receiver, ...Object.values(walk.keys), walk.dbName];

  const settleText = (text: string): string => {
    let settled = text;
    for (const value of fixed) settled = settled.replaceAll(value, known.get(value)!);
    return (
      settled
        .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) =>
          numbered('uuid', id, (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`),
        )
        .replace(/\b(cat|crt)_(?:[\w-]{120}|[\w-]{43})/g, (token, kind: string) =>
          numbered(kind, token, (number) => `${kind}_${'example'.padEnd(42, '0')}${number}`),
        )
        // Of a link to the preference page: the port of the walk's node, and a token under its own key.
        .replace(
          /http:\/\/127\.0\.0\.1:\d+\/preferences\/[\w-]+/g,
          `https://push.example.com/preferences/${'example'.padEnd(86, '0')}`,
        )
        .replace(/\bwhsec_[A-Za-z0-9+/=]{44}/g, () => `whsec_${'example'.padEnd(43, '0')}=`)
        .replace(/\b[0-9a-f]{32}\b/g, (id) => numbered('request', id, (number) => String(number).padStart(32, '0')))
        .replace(/\b[0-9a-f]{24}\b/g, (id) => numbered('id', id, (number) => String(number).padStart(24, '0')))
        .replace(/\b20(?!99)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-01-31T09:30:00')
        .replace(/\b20(?!99)\d\d-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-01-31 09:30:00')
        .replace(/\b20(?!99)\d\d-\d\d-\d\d(?![T ]\d)/g, '2026-01-31')
        .replace(/(?<=09:30:00\.)\d+/g, (fraction) => '0'.repeat(fraction.length))
    );
  };

  const settleMember = (name: string, value: unknown): unknown => {
    // Of an identity key; those of the walk's own clients are fixed.
    if (name === 'secret' && typeof value === 'string') return 'example'.padEnd(43, '0');
    if (name === 'timestamp' && typeof value === 'number') return Date.parse('2026-01-31T09:30:00Z') / 1000;
    if (typeof value !== 'string') return settle(value);
    // Eight letters that find a call in the API log.
    if (/^(response_id|request_id|code)$/.test(name) && /^[a-z]{8}$/.test(value)) return 'abcdefgh';
    if (/^(collapseId|svc_tag)$/.test(name)) return numbered('tag', value, (number) => `tag${number}`);
    // What comes with a message to report it, and with a link of it.
    if (/(report_token|click_proof)$/.test(name) || name === 'token') return settleText(settleProof(name, value));
    return settle(value);
  };
  const settleProof = (name: string, value: string): string => {
    if (/^c[ar]t_/.test(value)) return value;
    const [token, proof] = name.endsWith('click_proof') ? [undefined, value] : value.split('.');
    const shown = [
      token && numbered('report', token, () => `report${'0'.repeat(20)}`),
      proof && numbered('proof', proof, () => `proof${'0'.repeat(20)}`),
    ];
    return shown.filter((part) => part !== undefined).join('.');
  };

  const settle: Settle = (value) => {
    if (typeof value === 'string') return settleText(value);
    if (Array.isArray(value)) return value.map(settle);
    if (value === null || typeof value !== 'object') return value;
    // Of a report file; those of pushes are by the key that is shown.
    const ofFile = 'file_name' in value ? /^signature$/i : undefined;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        settleText(name),
        ofFile?.test(name) ? '0'.repeat(64) : settleMember(name, member),
      ]),
    );
  };
  return settle;
}

/** The signature that a push of the document has, with the key that is shown. */
export function shownSignature(campaignName: string): string {
  return signPush({ appId: shownCredentials.workspaceId, campaignName, key: shownCredentials.keys.push });
}
