import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { flag, optional, part, required, text, whole, word } from '../../fields/combinators.ts';
import { readMembers, schemaOf } from '../../fields/field.ts';
import type { Field, Fields } from '../../fields/field.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { makeDocumentReader } from '../campaign-document/campaign.ts';
import { maxEntriesAtATime, maxJourneySteps } from '../limits/journeys.ts';
import { findUnstorable, unstorable } from '../storable-text.ts';
import { shapeFaults } from './check-shape.ts';
import type { EventFilter, JourneyEntry, JourneyGraph, JourneyStep, Reentry } from './graph.ts';
import { duration, events, readStep, refuseUnknown, stepSchema } from './read-step.ts';
import type { StepRules } from './read-step.ts';
import { messageFaults } from './step-campaigns.ts';

/** A graph as it is sent and stored. */
export type GraphDocument = Record<string, unknown>;

const entryMembers = {
  type: required(word(['event', 'api'], 'event: an event of the person, or the route; api: only the route')),
  included_filters: events,
  from_apps: flag('Events that apps report through /v1/app/events let people enter too. Absent: false'),
};
const entry = part(entryMembers, { title: 'JourneyEntry' });

const reentryMembers = {
  type: required(
    word(
      ['never', 'after', 'always'],
      'never: once per person; after: when a time has passed since the last entry; always: also while inside',
    ),
  ),
  after: optional(duration),
  at_a_time: whole(1, maxEntriesAtATime, 'With always: entries of a person that are inside together; default 1'),
};
const reentry = part(reentryMembers, { title: 'JourneyReentry', description: 'Default: never' });

const endMembers = { included_filters: required(events) };
const goal = part(endMembers, { title: 'JourneyGoal', description: 'An event that ends the journey as converted' });
const exitEvents = part(endMembers, { title: 'JourneyExit', description: 'An event that ends the journey' });

const steps: Field<unknown> = {
  read: (reader, name) => reader.get(name),
  schema: Type.Array(stepSchema, { maxItems: maxJourneySteps }),
};

export const graphMembers = {
  entry: required(entry),
  first_step: required(text({ description: 'Id of the step where an entry begins' })),
  steps: required(steps),
  goal,
  exit_events: exitEvents,
  reentry,
};

export const graphSchema: TSchema = schemaOf(graphMembers, { title: 'JourneyGraph' });

export type ReadGraph = { graph: JourneyGraph | undefined; faults: RequestFault[] };

export type GraphRules = StepRules & {
  /** The name of the journey, which the names of its messages contain. */
  name: string;
};

/** Reads a graph with the content of its messages, and reports all faults at once; each names its step. */
export function readGraph(document: unknown, rules: GraphRules): ReadGraph {
  if (!isObject(document)) return { graph: undefined, faults: [{ field: 'graph', reason: 'must be an object' }] };
  const place = findUnstorable(document);
  if (place !== undefined) return { graph: undefined, faults: [{ field: place || 'graph', reason: unstorable }] };
  const read = readStructure(document, rules);
  const faults = [...read.faults, ...read.sends.flatMap((sent) => messagesFaults(sent, rules))];
  return { graph: faults.length === 0 ? read.graph : undefined, faults };
}

/** Reads a published graph, which the same reader accepted before: a fault throws an error. Contents are not read again. */
export function readStoredGraph(document: unknown): JourneyGraph {
  const { graph, faults } = readStructure(isObject(document) ? document : {}, { prefixes: [] });
  if (!graph) throw new Error(`a stored graph cannot be read: ${JSON.stringify(faults)}`);
  return graph;
}

type Send = { id: string; name: string | undefined; message: Record<string, unknown> };

function messagesFaults({ message, ...step }: Send, { name }: GraphRules): RequestFault[] {
  return messageFaults({ journey: name, step, message }, `steps.${step.id}.message`);
}

/** Lists the send steps of a graph with their messages. The graph was read before. */
export function sendsOf(document: GraphDocument): Send[] {
  return (document.steps as Record<string, unknown>[])
    .filter(({ type }) => type === 'send')
    .map(({ id, name, message }) => ({
      id: id as string,
      name: typeof name === 'string' && name !== '' ? name : undefined,
      message: message as Record<string, unknown>,
    }));
}

/** Lists the filter trees of branches on users, with the paths of their members. The graph was read before. */
export function userFiltersOf(document: GraphDocument): { field: string; sent: unknown }[] {
  return (document.steps as Record<string, unknown>[]).flatMap(({ id, type, condition }) => {
    if (type !== 'branch' || !isObject(condition) || condition.type !== 'user') return [];
    return [{ field: `steps.${String(id)}.condition.included_filters`, sent: condition.included_filters }];
  });
}

type Structure = ReadGraph & { sends: Send[] };

function readStructure(document: GraphDocument, rules: StepRules): Structure {
  const reader = makeDocumentReader(document);
  refuseUnknown(reader, graphMembers as Fields);
  const sent = readMembers(reader, graphMembers as Fields) as {
    first_step?: string;
    goal?: { included_filters?: EventFilter[] };
    exit_events?: { included_filters?: EventFilter[] };
  };
  for (const [name, members] of Object.entries({ entry: entryMembers, reentry: reentryMembers, goal: endMembers }))
    if (isObject(document[name])) refuseUnknown(reader.part(name), members as Fields);
  if (isObject(document.exit_events)) refuseUnknown(reader.part('exit_events'), endMembers as Fields);
  const [enters, again] = [readEntry(reader), readReentry(reader)];
  const { found, sends, faults: ofSteps } = readSteps(document.steps, rules);
  const faults = [...reader.faults, ...ofSteps];
  const firstStep = sent.first_step;
  if (faults.length > 0 || !enters || !again || firstStep === undefined) return { graph: undefined, faults, sends };
  const shape = shapeFaults({ steps: found, firstStep });
  if (shape.length > 0) return { graph: undefined, faults: shape, sends };
  const { goal: aim, exit_events: exits } = sent;
  const ends = { goal: aim?.included_filters, exitEvents: exits?.included_filters };
  return { graph: { entry: enters, firstStep, steps: found, ...ends, reentry: again }, faults, sends };
}

function readEntry(reader: RequestReader): JourneyEntry | undefined {
  const silent = makeDocumentReader({ entry: reader.get('entry') });
  const { type, included_filters: filters, from_apps: apps } = entry.read(silent, 'entry') ?? {};
  if (type === 'event') {
    if (reader.part('entry').requires('included_filters') && filters)
      return { kind: 'event', events: filters, acceptsApps: apps === true };
    return undefined;
  }
  if (type !== 'api') return undefined;
  for (const name of ['included_filters', 'from_apps'])
    if (reader.part('entry').get(name) !== undefined)
      reader.part('entry').invalid(name, 'is for entries of type event');
  return { kind: 'api' };
}

function readReentry(reader: RequestReader): Reentry | undefined {
  if (reader.get('reentry') === undefined) return { kind: 'never' };
  const silent = makeDocumentReader({ reentry: reader.get('reentry') });
  const { type, after, at_a_time: atATime } = reentry.read(silent, 'reentry') ?? {};
  const found = reader.part('reentry');
  if (type !== 'after' && found.get('after') !== undefined) found.invalid('after', 'needs the type after');
  if (type !== 'always' && found.get('at_a_time') !== undefined) found.invalid('at_a_time', 'needs the type always');
  if (type === 'never') return { kind: type };
  if (type === 'always') return { kind: type, atATime: atATime ?? 1 };
  if (type !== 'after') return undefined;
  return found.requires('after') && after !== undefined ? { kind: type, milliseconds: after } : undefined;
}

type ReadSteps = { found: Map<string, JourneyStep>; sends: Send[]; faults: RequestFault[] };

function readSteps(sent: unknown, rules: StepRules): ReadSteps {
  const read: ReadSteps = { found: new Map(), sends: [], faults: [] };
  // An absent list is reported by its field.
  if (sent === undefined || sent === null || (Array.isArray(sent) && sent.length === 0)) return read;
  if (!Array.isArray(sent) || sent.length > maxJourneySteps) {
    read.faults.push({ field: 'steps', reason: `must be a list of 1 to ${maxJourneySteps} steps` });
    return read;
  }
  const ids = new Set<string>();
  for (const [index, item] of (sent as unknown[]).entries()) {
    const id = isObject(item) && typeof item.id === 'string' && /^[\w-]{1,64}$/.test(item.id) ? item.id : undefined;
    const path = id === undefined ? `steps[${index}]` : `steps.${id}`;
    if (!isObject(item)) {
      read.faults.push({ field: path, reason: 'must be an object' });
      continue;
    }
    const reader = makeDocumentReader(item, path);
    const step = readStep(reader, rules);
    if (id !== undefined && ids.has(id)) reader.invalid('id', 'is the id of another step');
    if (id !== undefined) ids.add(id);
    read.faults.push(...reader.faults);
    if (step) read.found.set(step.id, step);
    if (item.type === 'send' && id !== undefined && isObject(item.message))
      read.sends.push({ id, name: typeof item.name === 'string' ? item.name : undefined, message: item.message });
  }
  return read;
}

/** Names of events that let people enter, and of those that people inside are watched for. */
export function eventNamesOf(graph: JourneyGraph): { entry: string[]; watched: string[] } {
  const names = (filters: readonly EventFilter[] = []) => filters.map(({ eventName }) => eventName);
  const waits = [...graph.steps.values()].flatMap((step) => (step.kind === 'wait_for_event' ? names(step.events) : []));
  const enters = graph.entry.kind === 'event' ? names(graph.entry.events) : [];
  return {
    entry: [...new Set(enters)],
    watched: [...new Set([...waits, ...names(graph.goal), ...names(graph.exitEvents)])],
  };
}
