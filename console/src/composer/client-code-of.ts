import type { CodeOptions } from './campaign-calls.ts';

/** The calls in TypeScript, with the client package; undefined where it has none for it. */
export function clientCodeOf({ origin, workspaceId, calls }: CodeOptions): string | undefined {
  const head = [
    `import { makeCarillonClient } from '@carillon/client';`,
    '',
    'const { campaigns } = makeCarillonClient({',
    `  baseUrl: ${text(origin)},`,
    `  workspaceId: ${text(workspaceId)},`,
    '  campaignsKey: process.env.CARILLON_CAMPAIGNS_KEY!,',
    '});',
    '',
  ];
  switch (calls.kind) {
    case 'create':
      return [
        ...head,
        `const { id } = await campaigns!.create(${literal(calls.body)});`,
        'await campaigns!.publish(id);',
      ].join('\n');
    case 'change':
      return [
        ...head,
        `const id = ${text(calls.id)};`,
        ...(calls.change ? [`await campaigns!.change(id, ${literal(calls.change)});`] : []),
        'await campaigns!.publish(id);',
      ].join('\n');
    case 'edit':
      return undefined;
  }
}

/** JSON is TypeScript; names that need no quotes have none. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z_][A-Za-z0-9_]*)":/gm, '$1$2:');
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
