import type { JourneyGraph } from '../../domain/journeys/graph.ts';
import { readStoredGraph } from '../../domain/journeys/read-graph.ts';
import type { Queryable } from '../database.ts';
import { listVersions } from './versions.ts';
import type { VersionKey } from './versions.ts';

export type PublishedGraph = { graph: JourneyGraph; campaigns: Readonly<Record<string, string>> };

export type GraphOf = (key: VersionKey) => PublishedGraph;

// A graph with the contents of its messages may have hundreds of kilobytes.
const maxGraphs = 300;
const known = new Map<string, PublishedGraph>();

const nameOf = ({ journeyId, version }: VersionKey): string => `${journeyId}/${version}`;

/**
 * Reads published graphs, each once per process while it is in use: a published graph never changes, and every batch of people
 * and every event that a journey watches needs it.
 */
export async function findGraphs(tx: Queryable, keys: readonly VersionKey[]): Promise<GraphOf> {
  const wanted = new Map(keys.map((key) => [nameOf(key), key]));
  const found = new Map<string, PublishedGraph>();
  for (const name of wanted.keys()) {
    const graph = known.get(name);
    if (graph) found.set(name, graph);
  }
  const missing = [...wanted.values()].filter((key) => !found.has(nameOf(key)));
  for (const { graph, campaigns, ...key } of await listVersions(tx, missing))
    found.set(nameOf(key), { graph: readStoredGraph(graph), campaigns });
  for (const [name, graph] of found) {
    // Moved to the end, so that the first ones are those not used for longest.
    known.delete(name);
    known.set(name, graph);
  }
  for (const name of known.keys()) if (known.size > maxGraphs) known.delete(name);
  return (key) => {
    const graph = found.get(nameOf(key));
    if (!graph) throw new Error(`no version ${key.version} of journey ${key.journeyId}`);
    return graph;
  };
}
