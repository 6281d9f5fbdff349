import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';
import { openSignedInClient } from '../console/signed-in-client.ts';
import { findDifferences } from './find-differences.ts';

const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');

/** An MCP client of the revision with a handshake, as desktop programs start it: a process that reads and writes lines. */
class StdioClient {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: any) => void>();
  #id = 0;

  constructor(environment: Record<string, string>, url: string) {
    const words = ['--disable-warning=ExperimentalWarning', cli, 'mcp', '--url', url];
    this.#process = spawn(process.execPath, words, { env: { PATH: process.env.PATH, ...environment } });
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as { id: number };
      this.#waiting.get(answer.id)?.(answer);
    });
  }

  ask(method: string, params: object = {}): Promise<any> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  tell(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  async callTool(name: string, args: object): Promise<any> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    expect(error).toBeUndefined();
    return result;
  }

  /** Closes the input, which ends the process. */
  end(): Promise<number | null> {
    this.#process.stdin.end();
    return new Promise((resolve) => this.#process.on('close', resolve));
  }
}

let bundle: CarillonBundle;
let cookie: string;
let client: StdioClient;
let campaignId: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ cookie } = await openSignedInClient(bundle));
  const created = await runCommand(bundle, ['agent-tokens', 'create', '--name', 'Desk', '--json']);
  expect(created).toMatchObject({ code: 0 });
  const { token } = JSON.parse(created.stdout) as { token: string };
  client = new StdioClient({ CARILLON_AGENT_TOKEN: token }, bundle.url);
  const sent = await bundle.push({
    ...{ campaignName: 'Spring sale', targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
    payload: { ANDROID: { title: 'Spring', message: 'Sale' } },
    campaignDelivery: { type: 'soon' },
  });
  ({ cid: campaignId } = sent.json() as { cid: string });
  await until(async () => {
    const [row] = await bundle.database`select status from campaigns where id = ${campaignId}`;
    return row?.status === 'SENT';
  });
  // An error of a caller, for the API log, and a segment.
  const headers = bundle.basic();
  const refused = await bundle.call('POST', `/v1/customer?app_id=${bundle.workspaceId}`, { headers, body: {} });
  expect(refused.status).toBe(400);
  const filter = { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: 'Lisbon' };
  await bundle.call('POST', `/console/api/segments/filter?workspaceId=${bundle.workspaceId}`, {
    headers: { cookie },
    body: { name: 'Of a city', included_filters: { filter_operator: 'and', filters: [filter] } },
  });
  await until(async () => (await bundle.database`select 1 from api_log where status = 400`).length > 0);
}, 60_000);
afterAll(async () => {
  await client?.end();
  await bundle?.stop();
});

async function ofConsole(path: string, body?: object): Promise<any> {
  const answer = await bundle.call(body ? 'POST' : 'GET', `/console/api/${path}`, { headers: { cookie }, body });
  expect(answer.status).toBe(200);
  return answer.json();
}

test('answers ten questions of an operator with the numbers of the console', async () => {
  const opened = await client.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} });
  expect(opened.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'carillon' } });
  client.tell(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));

  const { workspaceId } = bundle;
  const workspace_id = workspaceId;
  const inWorkspace = `workspaceId=${workspaceId}`;
  const [user] = await bundle.database<{ id: string; customerId: string }[]>`
    select id, customer_id as "customerId" from users where workspace_id = ${workspaceId} order by id limit 1`;
  const [segment] = (await ofConsole(`segments?${inWorkspace}`)).segments as { id: string }[];
  const { id, customerId } = user!;
  const searched = { limit: 15, page: 1, campaign_fields: { name: 'spring' } };
  const campaign_id = campaignId;
  const questions: [string, object, string, object?][] = [
    ['list_workspaces', {}, 'session'],
    ['whats_wrong', { workspace_id }, `overview?${inWorkspace}`],
    [
      'explain_delivery',
      { workspace_id, campaign_id, customer_id: customerId },
      `explain?${inWorkspace}&campaignId=${campaignId}&customerId=${customerId}`,
    ],
    ['search_campaigns', { workspace_id, name: 'spring' }, `campaigns/search?${inWorkspace}`, searched],
    ['read_campaign', { workspace_id, campaign_id }, `campaigns/${campaignId}?${inWorkspace}`],
    ['campaign_figures', { workspace_id, campaign_id }, `campaigns/${campaignId}/figures?${inWorkspace}`],
    ['list_segments', { workspace_id }, `segments?${inWorkspace}`],
    ['read_segment', { workspace_id, segment_id: segment!.id }, `segments/${segment!.id}?${inWorkspace}`],
    ['find_user', { workspace_id, text: customerId }, `people?${inWorkspace}&q=${customerId}`],
    ['read_user', { workspace_id, user_id: id }, `people/${id}?${inWorkspace}`],
    ['recent_api_errors', { workspace_id }, `calls?${inWorkspace}&only=refused`],
  ];
  let numbers = 0;
  for (const [tool, args, path, body] of questions) {
    const { structuredContent, isError } = await client.callTool(tool, args);
    expect([tool, isError]).toEqual([tool, undefined]);
    const { differences, compared } = findDifferences(structuredContent.data, await ofConsole(path, body));
    expect([tool, differences]).toEqual([tool, []]);
    expect([tool, structuredContent.omitted]).toEqual([tool, {}]);
    numbers += compared;
  }
  expect(numbers).toBeGreaterThan(60);
}, 60_000);

test('counts the sent messages as the ledger does, and lists the error of a caller', async () => {
  const workspace_id = bundle.workspaceId;
  const figures = await client.callTool('campaign_figures', { workspace_id, campaign_id: campaignId });
  const [{ attempted }] = await bundle.database<[{ attempted: number }]>`
    select sum(devices)::int as attempted from run_counts join runs on runs.id = run_counts.run_id
    where campaign_id = ${campaignId} and outcome <> 'WITHHELD'`;
  expect(attempted).toBeGreaterThan(0);
  expect(figures.structuredContent.data.all.attempted).toBe(attempted);
  const errors = await client.callTool('recent_api_errors', { workspace_id });
  expect(errors.structuredContent.data.calls.length).toBeGreaterThan(0);
});

test('serves the current revision over stdio without a handshake', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  expect((await client.ask('server/discover', { _meta })).result).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
    serverInfo: { name: 'carillon' },
  });
  const { result } = await client.ask('tools/call', { name: 'list_workspaces', arguments: {}, _meta });
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { data: expect.any(Object) } });
});

test('reports lines that are not JSON, and a node that cannot be reached, without ending', async () => {
  const unreachable = new StdioClient({ CARILLON_AGENT_TOKEN: 'carillon_agent_x' }, 'http://127.0.0.1:9');
  expect((await unreachable.ask('ping')).error.message).toContain('cannot be reached');
  unreachable.tell('not JSON');
  expect((await unreachable.ask('ping')).error.code).toBe(-32_603);
  expect(await unreachable.end()).toBe(0);
});

test('lists tokens without their secret, ends a revoked one, and logs both', async () => {
  const created = await runCommand(bundle, ['agent-tokens', 'create', '--name', 'Short', '--days', '1', '--json']);
  const { id, token } = JSON.parse(created.stdout) as { id: string; token: string };
  const listed = await runCommand(bundle, ['agent-tokens', 'list']);
  expect(listed.stdout).toContain('Short');
  expect(listed.stdout).not.toContain(token);
  const post = () =>
    bundle.call('POST', '/mcp', {
      headers: { authorization: `Bearer ${token}` },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    });
  expect((await post()).status).toBe(200);
  expect(await runCommand(bundle, ['agent-tokens', 'revoke', id])).toMatchObject({ code: 0 });
  expect((await post()).status).toBe(401);
  expect(await runCommand(bundle, ['agent-tokens', 'revoke', id])).toMatchObject({ code: 2 });
  const lines = await bundle.database`
    select action, object_name as name from audit_log where object_id = ${id} order by id`;
  expect(lines).toEqual([
    { action: 'agent-token.create', name: 'Short' },
    { action: 'agent-token.revoke', name: 'Short' },
  ]);
});
