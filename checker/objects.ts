import { isPush, isSuccess, withoutRepeats } from './history.ts';
import type { Anomaly, Call, History } from './history.ts';
import { changing, checkObject, reading } from './linearize.ts';
import type { Operation } from './linearize.ts';
import { groupBy, listAt, textAt } from './values.ts';

/** The objects whose answers must have one order: names of campaigns, segments, keys and idempotency keys. */
export function checkObjects(history: History): Anomaly[] {
  return [...checkNames(history), ...checkIdempotencyKeys(history), ...checkSegments(history), ...checkKeys(history)];
}

/** `?`: the id is not known, because the caller that made it got no answer. */
type Name = { id: string; audience: string } | null;

/** A name makes one campaign. A push to named users joins the campaign of such a push; any other push is a duplicate. */
function checkNames({ calls }: History): Anomaly[] {
  const pushes = withoutRepeats(calls.filter(isPush));
  const byName = groupBy(pushes, (call) => JSON.stringify([call.workspace, textAt(call.body, 'campaignName')]));
  return [...byName].flatMap(([object, own]) =>
    checkObject<Name>({ rule: 'name', object, initial: null, operations: own.flatMap(operationOfPush) }),
  );
}

function operationOfPush(call: Call): Operation<Name>[] {
  const audience = textAt(call.body, 'targetAudience').toLowerCase();
  const id = isSuccess(call) ? textAt(call.reply, 'cid') : '?';
  const accept = (state: Name): Name[] => {
    if (state === null) return [{ id, audience }];
    if (audience !== 'user' || state.audience !== 'user') return [];
    if (state.id === '?') return [{ id, audience }];
    return id === '?' || id === state.id ? [state] : [];
  };
  if (call.isUnsure || isSuccess(call)) return [changing(call, accept)];
  const reason = textAt(call.reply, 'Error_Message');
  if (/duplicate/i.test(reason))
    return [reading(call, (state) => state !== null && (audience !== 'user' || state.audience !== 'user'))];
  return /campaign of this name is/.test(reason) ? [reading(call, (state) => state !== null)] : [];
}

type Keyed = { body: string; reply: string } | null;

/** Until a key is a day old, its first answer is repeated for the same body, and refused for another one. */
function checkIdempotencyKeys({ calls }: History): Anomaly[] {
  const keyed = calls.filter((call) => call.idempotencyKey !== undefined);
  const byKey = groupBy(keyed, (call) => JSON.stringify([call.workspace, call.path, call.idempotencyKey]));
  return [...byKey].flatMap(([object, own]) => {
    const first = Math.min(...own.map(({ at }) => at));
    const young = own.filter(({ at }) => at - first < keyLifeMilliseconds);
    const operations = young.flatMap(operationOfKeyed);
    return checkObject<Keyed>({ rule: 'idempotency', object, initial: null, operations });
  });
}

const keyLifeMilliseconds = 23 * 3_600_000;

function operationOfKeyed(call: Call): Operation<Keyed>[] {
  const body = JSON.stringify(call.body);
  const isDone = call.status < 300 && textAt(call.reply, 'status') !== 'Fail';
  const reply = call.isUnsure ? '?' : JSON.stringify(call.reply);
  if (call.isUnsure || isDone)
    return [
      changing<Keyed>(call, (state) => {
        if (state === null) return [{ body, reply }];
        if (state.body !== body) return [];
        if (state.reply === '?') return [{ body, reply }];
        return reply === '?' || reply === state.reply ? [state] : [];
      }),
    ];
  if (/idempotency/i.test(JSON.stringify(call.reply)))
    return [reading(call, (state) => state !== null && state.body !== body)];
  // A refused request leaves no key, and what a key answered once it answers again.
  if (call.status === 429 || call.status === 401) return [];
  return [reading(call, (state) => state === null || state.body !== body)];
}

type Segment = { id: string; state: 'active' | 'archived' } | null;

function checkSegments({ calls }: History): Anomaly[] {
  const named = new Map<string, string>();
  for (const call of calls) {
    const [id, name] = idAndName(call);
    if (id !== '' && name !== '') named.set(id, name);
  }
  const bySegment = groupBy(calls, (call) => {
    const name = segmentNameOf(call, named);
    return name === undefined || name === '' ? undefined : JSON.stringify([call.workspace, name]);
  });
  return [...bySegment].flatMap(([object, own]) =>
    checkObject<Segment>({ rule: 'segment', object, initial: null, operations: own.flatMap(operationOfSegment) }),
  );
}

function idAndName({ path, body, reply }: Call): [id: string, name: string] {
  if (/^\/v3\/custom-segments$/.test(path)) return [textAt(reply, 'data', 'id'), textAt(body, 'name')];
  return [textAt(reply, 'cs_id'), textAt(reply, 'cs_name')];
}

function segmentNameOf(call: Call, named: ReadonlyMap<string, string>): string | undefined {
  const { method, path, query, body } = call;
  if (isPush(call)) return textAt(body, 'customSegmentName');
  if (path === '/v1/integrations/cohortsync') return textAt(body, 'parameters', 'cohort_name');
  if (path === '/v3/custom-segments') return method === 'GET' ? (query.get('name') ?? undefined) : textAt(body, 'name');
  if (path.startsWith('/v2/custom-segments/')) return textAt(body, 'name');
  const [, id] = /^\/v3\/custom-segments\/(\w+)$/.exec(path) ?? [];
  return id === undefined ? undefined : named.get(id);
}

const isSame = (state: Segment, id: string): boolean =>
  state !== null && (id === '' || state.id === '?' || state.id === id);
const identified = (state: Segment, id: string): Segment[] =>
  state !== null && isSame(state, id) ? [{ ...state, id: id === '' ? state.id : id }] : [];

function operationOfSegment(call: Call): Operation<Segment>[] {
  const { method, path, status, reply, isUnsure } = call;
  const create = (id: string) =>
    changing<Segment>(call, (state) => (state === null ? [{ id: id === '' ? '?' : id, state: 'active' }] : []));
  const move = (to: 'active' | 'archived') =>
    changing<Segment>(call, (state) =>
      identified(state, textAt(reply, 'cs_id')).map((same) => ({ ...same!, state: to })),
    );
  if (isPush(call)) return operationOfSegmentPush(call);
  switch (`${method} ${path}`) {
    case 'POST /v3/custom-segments':
      if (isUnsure || status === 201) return [create(textAt(reply, 'data', 'id'))];
      return status === 409 ? [reading(call, (state) => state !== null)] : [];
    case 'POST /v2/custom-segments/file-segment':
      return isUnsure || status < 300 ? [create(textAt(reply, 'cs_id'))] : [];
    case 'PATCH /v2/custom-segments/archive':
    case 'PATCH /v2/custom-segments/unarchive':
      if (isUnsure || status === 200) return [move(path.endsWith('/archive') ? 'archived' : 'active')];
      return status === 404 ? [reading(call, (state) => state === null)] : [];
    case 'POST /v1/integrations/cohortsync':
      return operationOfCohort(call);
    case 'GET /v3/custom-segments': {
      if (status !== 200) return [];
      const ids = listAt(reply, 'data').map((one) => textAt(one, 'id'));
      const none = (state: Segment): Segment[] => (state === null ? [null] : []);
      return [changing(call, (state) => (ids.length === 0 ? none(state) : identified(state, ids[0]!)))];
    }
  }
  if (status !== 200 || !/^\/v3\/custom-segments\/\w+$/.test(path)) return [];
  const isArchived = textAt(reply, 'data', 'status') === 'ARCHIVED';
  return [reading(call, (state) => state !== null && (state.state === 'archived') === isArchived)];
}

function operationOfCohort(call: Call): Operation<Segment>[] {
  const isAdding = textAt(call.body, 'action') === 'add_members';
  if (call.isUnsure || call.status === 200)
    return [
      changing(call, (state) => {
        if (state === null) return isAdding ? [{ id: '?', state: 'active' }] : [null, { id: '?', state: 'active' }];
        return state.state === 'active' ? [state] : [];
      }),
    ];
  return /archived/.test(JSON.stringify(call.reply)) ? [reading(call, (state) => state?.state === 'archived')] : [];
}

function operationOfSegmentPush(call: Call): Operation<Segment>[] {
  if (isSuccess(call) && call.idempotencyKey === undefined)
    return [reading(call, (state) => state?.state === 'active')];
  const reason = textAt(call.reply, 'Error_Message');
  if (/segment is archived/.test(reason)) return [reading(call, (state) => state?.state === 'archived')];
  return /customSegmentName: not found/.test(reason) ? [reading(call, (state) => state === null)] : [];
}

type Key = 'absent' | 'active' | 'ended';

/** A key works from its creation until it is archived, and not for one call longer. */
function checkKeys({ calls }: History): Anomaly[] {
  const keyOf = (call: Call) =>
    call.method === 'OPERATOR' && call.path.startsWith('/keys/') ? textAt(call.body, 'name') : call.credential;
  const isRefused = (call: Call) =>
    call.status === 401 || (isPush(call) && /signature/i.test(textAt(call.reply, 'Error_Message')));
  return [...groupBy(calls, keyOf)].flatMap(([object, own]) => {
    const operations = own.flatMap((call): Operation<Key>[] => {
      if (call.path === '/keys/create') return [changing(call, () => ['active'])];
      if (call.path === '/keys/archive') return [changing(call, () => ['ended'])];
      if (call.isUnsure) return [];
      return [reading(call, (state) => (state === 'active') !== isRefused(call))];
    });
    // Keys that never change need no search.
    const changes = own.filter(({ method }) => method === 'OPERATOR').length;
    if (changes <= 1 && !own.some(isRefused)) return [];
    return checkObject<Key>({ rule: 'key', object, initial: 'absent', operations });
  });
}
