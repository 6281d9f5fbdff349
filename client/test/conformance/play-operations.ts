import type { CarillonBundle } from '../../../server/test/carillon-bundle.ts';
import examples from '../../../server/src/http/openapi/examples.json' with { type: 'json' };
import { operations } from '../../src/generated/operations.ts';
import { startProgram } from './start-program.ts';
import type { ProgramStart } from './start-program.ts';
import { startRecorder } from './start-recorder.ts';
import type { Recorded } from './start-recorder.ts';

type OperationId = keyof typeof operations;
type Row = { family: string; path: string; query: readonly string[] };
type Example = { parameters?: Record<string, string>; body?: unknown };

/** What a client sent for an operation, without values that differ between runs, and what the node replied. */
export type CalledOperation = { id: string; request: object | undefined; status: number; code: string | undefined };

// Operations of the sandbox come last, and of them the reset: it changes the keys of the demo workspace.
const rankOf = (id: OperationId): number => (id === 'resetSandbox' ? 2 : Number(operations[id].family === 'Sandbox'));
/** Without those that the libraries of Segment call, with a key in their own way. */
export const operationIds = (Object.keys(operations) as OperationId[])
  .filter((id) => !operations[id].path.startsWith('/segment/'))
  .sort((one, other) => rankOf(one) - rankOf(other));

/**
 * Calls every operation of the document once with the program of a client, with the parameters and the body of its recorded
 * example. The ids of the examples are of another workspace, so a refusal by the family is a reply.
 */
export async function playOperations(start: ProgramStart, bundle: CarillonBundle): Promise<CalledOperation[]> {
  const recorder = await startRecorder(bundle.url);
  const program = startProgram(start);
  try {
    const { data, push, campaigns } = bundle.keys;
    const keys = { dataKey: data, pushKey: push, campaignsKey: campaigns };
    const { workspaceId } = bundle;
    const named = { baseUrl: recorder.url, workspaceId, dbName: bundle.block.dbName! };
    await program.ask({ do: 'client', options: { ...named, ...keys } });
    const called: CalledOperation[] = [];
    for (const id of operationIds) {
      // No integration makes this many calls in a minute.
      await bundle.database`delete from limit_windows`;
      recorder.expectCalls([]);
      const outcome = await program.ask({ do: 'call', operation: id, ...givenOf(id) });
      const { status, code } = outcome.error ?? outcome.result;
      called.push({ id, request: describe(recorder.recorded.at(-1), workspaceId), status, code });
    }
    return called;
  } finally {
    program.stop();
    await recorder.stop();
  }
}

function givenOf(id: OperationId): Example {
  const { parameters = {}, body } = (examples as Record<string, Example>)[id]!;
  const { path, query } = operations[id] as Row;
  const own = Object.entries(parameters).filter(
    ([name]) => name !== 'app_id' && name !== 'workspace_id' && (query.includes(name) || path.includes(`{${name}}`)),
  );
  return { parameters: Object.fromEntries(own), body };
}

function describe(recorded: Recorded | undefined, workspaceId: string): object | undefined {
  if (recorded === undefined) return undefined;
  const { line, headers, body } = recorded;
  const [method, target] = line.split(' ') as [string, string];
  const url = new URL(target, 'http://node.example');
  return {
    method,
    path: url.pathname.replace(workspaceId, '{workspace}'),
    query: Object.fromEntries(
      [...url.searchParams].map(([name, value]) => [name, value.replace(workspaceId, '{workspace}')]),
    ),
    credentials: headers.authorization?.split(' ')[0],
    type: body === '' ? undefined : headers['content-type']?.split(';')[0],
    named: Object.keys(headers)
      .filter((name) => /appkey$|dbname$|^idempotency-key$|^x-request-id$/.test(name))
      .sort(),
    body: body === '' ? undefined : readBody(body),
  };
}

function readBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
