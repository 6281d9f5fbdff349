import type { FastifyInstance } from 'fastify';
import type { TObject } from 'typebox';
import { makeAgentData, presentUntrusted } from './agent-data.ts';
import { makeDocsSearch } from './docs-search.ts';
import { isObject } from './protocol.ts';
import type { ToolResult } from './protocol.ts';
import { consoleTools, docsTools, perPage } from './tools.ts';
import type { ConsoleTool, ToolArguments, ToolDocuments } from './tools.ts';

type CallTool = (name: string, args: Record<string, unknown>) => Promise<ToolResult | undefined>;

/**
 * Returns the function that runs a tool for the agent of the current call. It calls the routes of this node in this
 * process: the guard of the console checks the permission, and the route makes the same answer as for the console.
 */
export function makeCallTool(server: FastifyInstance): CallTool {
  const readDocs = async (path: string): Promise<string | undefined> => {
    const { statusCode, body } = await server.inject({ method: 'GET', url: `/docs/${path}` });
    return statusCode === 200 ? body : undefined;
  };
  const searchDocs = makeDocsSearch(readDocs);
  const docs: Record<(typeof docsTools)[number]['name'], (args: ToolArguments) => Promise<ToolResult>> = {
    search_docs: async ({ text }) => {
      const sections = await searchDocs(text!);
      return sections ? makeResult({ sections }) : notBuilt;
    },
    read_docs_page: async ({ page, cursor = '0' }) => {
      const markdown = await readDocs(`${page}.md`);
      if (markdown === undefined) return makeFault(`There is no page ${page}. Use search_docs to find pages.`);
      const from = Number(cursor);
      const end = from + docsCharacters;
      const next = end < markdown.length ? String(end) : null;
      const structured = { page, markdown: markdown.slice(from, end), next_cursor: next };
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
    },
  };
  return async (name, args) => {
    const tool = [...consoleTools, ...docsTools].find((one) => one.name === name);
    if (!tool) return undefined;
    const fault = findFault(tool.input, args);
    if (fault !== undefined) return makeFault(fault);
    if ('route' in tool) return await callRoute(server, { tool, args: args as ToolArguments });
    return await docs[tool.name](args as ToolArguments);
  };
}

const docsCharacters = 16_000;

async function callRoute(
  server: FastifyInstance,
  { tool, args }: { tool: ConsoleTool; args: ToolArguments },
): Promise<ToolResult> {
  const { path = {}, query = {}, body } = tool.call(args, args as unknown as ToolDocuments);
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const address = tool.route.url.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(path[part]!));
  const answer = await server.inject({
    method: tool.route.method,
    url: named.length === 0 ? address : `${address}?${new URLSearchParams(named)}`,
    ...(body && { payload: body }),
  });
  const parsed: unknown = answer.body === '' ? {} : JSON.parse(answer.body);
  if (answer.statusCode >= 400) return makeRefusal(parsed);
  if (!isObject(parsed)) return makeResult({ data: parsed });
  const { shown, next } = cutPage(parsed, { tool, args });
  const { data, omitted } = makeAgentData(shown);
  return makeResult({ data, omitted, next_cursor: next });
}

function cutPage(
  answer: Record<string, unknown>,
  { tool, args }: { tool: ConsoleTool; args: ToolArguments },
): { shown: Record<string, unknown>; next: string | null } {
  if (tool.paged === undefined) return { shown: answer, next: tool.next?.(answer, args) ?? null };
  const all = answer[tool.paged] as unknown[];
  const from = Number(args['cursor'] ?? '0');
  const end = from + perPage;
  const shown = { ...answer, [tool.paged]: all.slice(from, end) };
  return { shown, next: end < all.length ? String(end) : null };
}

function makeResult(structured: object): ToolResult {
  return { content: [{ type: 'text', text: presentUntrusted(structured) }], structuredContent: structured };
}

/** The problem of the route, without the detail that only the log has. */
function makeRefusal(problem: unknown): ToolResult {
  const { data } = makeAgentData(problem);
  return { ...makeResult({ error: data }), isError: true };
}

function makeFault(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

const notBuilt = makeFault('The documentation has not been built on this node. Try again in a minute.');

type TextSchema = { type?: string; minLength?: number; maxLength?: number; pattern?: string };

/** An argument of a tool is a text, an object or a list; the route checks what is in the latter. Pure. @returns the fault as a sentence */
function findFault(schema: TObject, args: Record<string, unknown>): string | undefined {
  const { properties } = schema;
  const required: readonly string[] = schema.required ?? [];
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) return `${missing} is required.`;
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(properties, name)) return `${name.slice(0, 100)} is not an argument of this tool.`;
    const { type, minLength = 0, maxLength = Infinity, pattern = '' } = properties[name] as TextSchema;
    if (type === 'object' || type === 'array') {
      if (type === 'object' ? isObject(value) : Array.isArray(value)) continue;
      return `${name} must be ${type === 'object' ? 'an object' : 'a list'}.`;
    }
    if (typeof value !== 'string') return `${name} must be a text.`;
    if (value.length < minLength || value.length > maxLength) return `${name} is too short or too long.`;
    if (!new RegExp(pattern).test(value)) return `${name} must match ${pattern}.`;
  }
  return undefined;
}
