import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addAssets } from '../../../scripts/site/build-site.ts';
import { makeManualClock } from '../../src/clock.ts';
import { docsRoutes } from '../../src/http/docs.ts';
import { makeCallTool } from '../../src/http/mcp/call-tool.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';

const root = join(import.meta.dirname, '..', '..', '..');

let folder: string;
let server: FastifyInstance;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
  const clock = makeManualClock(new Date('2026-03-01T10:00:00Z'));
  const log = makeLog({ level: 'silent', pretty: false });
  server = await buildServer({ log, clock, trustProxy: false }, [docsRoutes(folder)]);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function build(): Promise<void> {
  await addAssets(root, folder);
  const rows = [
    ['Tokens', 'What ends a token', 'tokens/#what-ends-a-token', 'A token ends when its key is revoked.', 1],
    ['Segments', '', 'segments/', 'Segments come from files and filters.', 1],
  ];
  await writeFile(join(folder, 'assets', 'search.json'), JSON.stringify(rows));
  await writeFile(join(folder, 'index.html'), '<h1>Documentation</h1>');
  await mkdir(join(folder, 'guides'));
  await writeFile(join(folder, 'guides', 'operator.md'), `# For operators\n${'x'.repeat(20_000)}`);
}

test('search the documentation with the script and the index of its site, also if it is built later', async () => {
  const callTool = makeCallTool(server);
  expect(await callTool('search_docs', { text: 'revoked' })).toMatchObject({ isError: true });
  await build();
  const found = await callTool('search_docs', { text: 'what ends tokens' });
  expect(found).toMatchObject({
    structuredContent: {
      sections: [{ title: 'Tokens', page: 'tokens', anchor: 'what-ends-a-token', excerpt: expect.any(String) }],
    },
  });
});

test('read a page in parts, and only pages', async () => {
  await build();
  const callTool = makeCallTool(server);
  const first = (await callTool('read_docs_page', { page: 'guides/operator' })) as any;
  const { markdown, next_cursor } = first.structuredContent;
  expect([markdown.slice(0, 15), markdown.length, next_cursor]).toEqual(['# For operators', 16_000, '16000']);
  const last = (await callTool('read_docs_page', { page: 'guides/operator', cursor: next_cursor })) as any;
  expect(last.structuredContent).toMatchObject({ next_cursor: null });
  expect(last.structuredContent.markdown.length).toBe(20_016 - 16_000);
  for (const page of ['none', '../../package', 'guides/../../x', '/etc/passwd', 'assets/search.json'])
    expect(await callTool('read_docs_page', { page })).toMatchObject({ isError: true });
});
