import type { ShownDemoKeys } from '../app/sandbox/find-demo-workspace.ts';

/** The values that the start prints. Absent in production: workspace, keys, inbox, curl. */
export type StartBlock = {
  url: string;
  console: string;
  /** Set if metrics have a separate port. */
  metrics: string | undefined;
  workspaceId: string | undefined;
  dbName: string | undefined;
  /** Undefined for a demo workspace if its seed was not stored. */
  keys: ShownDemoKeys | undefined;
  inbox: string | undefined;
  /** The password is masked in production. */
  databaseUrl: string;
  databasePlace: string;
  /** The reason why row-level security does not separate the workspaces. */
  wallFault: string | undefined;
  /** A warning that the nodes may open more connections than the database has for them, with the remedy. */
  tooManyConnections: string | undefined;
  /** A warning that the sandbox listens on the network, or is open to it. */
  sandboxFinding: string | undefined;
  curl: string | undefined;
};

/** Formats the block as one JSON line for programs. */
export function formatStartLine(block: StartBlock): string {
  return JSON.stringify({
    url: block.url,
    console: block.console,
    workspaceId: block.workspaceId ?? null,
    dbName: block.dbName ?? null,
    keys: block.keys ?? null,
    inbox: block.inbox ?? null,
    ...(block.metrics === undefined ? {} : { metrics: block.metrics }),
    databaseUrl: block.databaseUrl,
  });
}

/** Formats the block as text for users. */
export function formatStartBlock(block: StartBlock): string {
  const lines = [
    ['Console', block.console],
    ['API base', `${block.url}  (reference at ${block.url}/docs)`],
  ];
  if (block.metrics) lines.push(['Metrics', block.metrics]);
  if (block.workspaceId) lines.push(['Workspace', `${block.workspaceId}  (database name ${block.dbName})`]);
  if (block.keys) {
    for (const [kind, secret] of Object.entries(block.keys))
      lines.push([`Key: ${kind}`, secret ?? 'revoked or regenerated since the first start']);
  } else if (block.workspaceId) {
    lines.push(['Keys', 'its seed was not kept; a new one: npm run carillon -- keys create --kind push']);
  }
  lines.push(['Database', block.databasePlace]);
  if (block.wallFault)
    lines.push(['Workspaces', `${block.wallFault}: row-level security does not divide them (docs/operations.md)`]);
  if (block.tooManyConnections) lines.push(['Connections', block.tooManyConnections]);
  if (block.sandboxFinding) lines.push(['Sandbox', block.sandboxFinding]);
  if (block.inbox) lines.push(['Sending to', 'simulators'], ['Pushes show', `${block.inbox} and in the console`]);
  const width = Math.max(...lines.map(([name]) => name!.length)) + 2;
  const text = lines.map(([name, value]) => `  ${name!.padEnd(width)}${value}`).join('\n');
  const curl = block.curl ? `\n\n  Send a push:\n\n${block.curl}\n` : '\n';
  return `\nCarillon is ready.\n\n${text}${curl}`;
}
