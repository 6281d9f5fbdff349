import { declaredDifferences } from '../server/src/domain/declared-differences.ts';
import { describeServers } from '../server/src/http/openapi/document.ts';
import { describePublicRoutes } from './list-routes.ts';

type Operation = {
  operationId: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string }[];
};

/** The tables of docs/switch.md, from the OpenAPI document and from the declared differences. */
export async function renderSwitching(
  table: (head: string[], rows: string[][]) => string,
): Promise<Record<string, string>> {
  const { document } = await describePublicRoutes();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...(operation as unknown as Operation) })),
  );
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))].filter((tag) => tag !== 'Sandbox');
  const { serversOf } = describeServers({ serviceDomain: 'example.com' });
  const list = (names: string[]): string => [...new Set(names)].map((name) => `\`${name}\``).join(', ');
  const rows = tags.map((tag) => {
    const those = operations.filter((operation) => operation.tags.includes(tag));
    const headers = those.flatMap(({ parameters = [] }) =>
      parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
    );
    const keys = those.flatMap(({ security = [] }) => security.flatMap((one) => Object.keys(one)));
    return [
      tag,
      list((serversOf(tag) ?? []).slice(0, 1).map(({ url }) => url)) || 'the node',
      list([...(signedBy[tag] ?? []), ...keys.map((key) => keyWords[key] ?? key)]),
      list(headers.filter((name) => name.includes('SVC'))),
      String(those.length),
    ];
  });
  return {
    'switch-covered': table(['Family', 'Host with a service domain', 'Key', 'Headers', 'Operations'], rows),
    'switch-differences': table(
      ['What', 'Here', 'Operations', 'Shown by'],
      declaredDifferences.map(({ what, here, operationIds, test }) => [
        ...[what, here, list([...operationIds])],
        `[${test.name}](../${test.file})`,
      ]),
    ),
  };
}

/** Credentials that the document has no scheme for: a form field, and a signature. */
const signedBy: Record<string, string[]> = { Tokens: ['oauth'], Push: ['push'] };
const keyWords: Record<string, string> = {
  dataKey: 'data',
  campaignsKey: 'campaigns',
  pushKey: 'push',
  bearer: 'access token',
};
