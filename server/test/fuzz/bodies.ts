import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { bodyOf } from '../http/body-arbitrary.ts';
import type { Shape } from '../http/body-arbitrary.ts';
import { shapeFamilies } from '../http/shape-families.ts';
import type { ShapeFamily } from '../http/shape-families.ts';
import type { Operation } from './answers.ts';
import { validBodyOf } from './caller.ts';
import type { Caller } from './caller.ts';
import type { Choices } from './choices.ts';
import { hostileBodies, hostileLiterals, hostileTexts } from './hostile-values.ts';
import { plain } from './requests.ts';
import type { AboutBody } from './requests.ts';

type Body = { body: string | Buffer | undefined } & Omit<AboutBody, 'choices' | 'hasBody'>;

export function makeBody(operation: Operation, caller: Caller, choices: Choices): Body {
  const { body, companions = {} } = textFor(operation, caller, choices);
  const type = choices.isSpoiled('mediaType') ? choices.pick(mediaTypes) : usualType(operation);
  if (!choices.isSpoiled('coding') || body === undefined) return { body, type, coding: undefined, companions };
  return { ...choices.pick(codings)(body), type, companions };
}

const usualType = ({ isForm }: Operation): string =>
  isForm ? 'application/x-www-form-urlencoded' : 'application/json';

const mediaTypes = [
  ...['text/plain', 'application/xml', 'application/json; charset=utf-16', 'application/json;', 'APPLICATION/JSON'],
  ...['*/*', 'multipart/form-data; boundary=a', 'multipart/form-data', 'application/x-www-form-urlencoded'],
  ...[
    'application/json, text/plain',
    'application/problem+json',
    '',
    'a',
    '/',
    'a'.repeat(4_000),
    '__proto__',
    undefined,
  ],
];

/** Codings that are told and not used, used and not told, and a megabyte of nothing in a kilobyte. */
const codings: readonly ((body: string | Buffer) => { body: string | Buffer; coding: string | undefined })[] = [
  (body) => ({ body, coding: 'gzip' }),
  (body) => ({ body: gzipSync(body), coding: 'gzip' }),
  (body) => ({ body: gzipSync(body), coding: undefined }),
  (body) => ({ body: deflateSync(body), coding: 'deflate' }),
  (body) => ({ body: gzipSync(body).subarray(0, -9), coding: 'gzip' }),
  () => ({ body: gzipSync(`"${' '.repeat(1_000_000)}"`), coding: 'gzip' }),
  (body) => ({ body, coding: 'identity' }),
  (body) => ({ body, coding: 'br, gzip' }),
];

type Text = { body: string | Buffer | undefined; companions?: Record<string, string> };

function textFor(operation: Operation, caller: Caller, choices: Choices): Text {
  if (choices.isSpoiled('text')) {
    // In every other broken text there is a body that would be taken.
    if (choices.chance(0.5) || operation.isForm) return { body: choices.pick(hostileBodies) };
    const { body } = jsonFor(operation, caller, choices);
    return { body: breakText(body ?? '{}', choices) };
  }
  if (operation.isForm) return { body: formFor(operation, caller, choices) };
  return jsonFor(operation, caller, choices);
}

/** Cut, doubled, with a byte too many, with a byte replaced; a member twice. */
function breakText(text: string, { pick, chance }: Choices): string | Buffer {
  const at = Math.floor(text.length * pick([0.1, 0.3, 0.5, 0.7, 0.9, 1]));
  const [before, after] = [text.slice(0, at), text.slice(at)];
  if (chance(0.2))
    return Buffer.concat([
      Buffer.from(before),
      Buffer.from(pick([[0xff], [0xc3], [0xed, 0xa0, 0x80]])),
      Buffer.from(after),
    ]);
  return pick([
    before,
    `${before}${pick(['\0', '\\', '"', ',', '}', ']', '\u001f', '\\u', '\\ud800', '/**/', '\ufeff'])}${after}`,
    `${before}${after.slice(1)}`,
    `${text}${text}`,
    `[${text}]`,
    text.replace(/^\{("(?:[^"\\]|\\.)*":)/, '{$1null,$1'),
    text.replaceAll(':', ': '.padEnd(50)),
    text.replaceAll('"', "'"),
  ]);
}

function formFor({ path }: Operation, caller: Caller, choices: Choices): string {
  const { workspaceId, keys, refreshToken } = caller;
  const fields: Record<string, string> = {
    grant_type: path.endsWith('refresh') ? 'refresh_token' : 'client_credentials',
    client_id: workspaceId,
    client_secret: keys.oauth,
    ...(path.endsWith('refresh') ? { refresh_token: refreshToken } : {}),
    // Not the one the others use.
    ...(path.endsWith('revoke') ? { token: `cat_${'a'.repeat(43)}` } : {}),
  };
  if (!choices.isSpoiled('body')) return new URLSearchParams(fields).toString();
  const name = choices.pick(Object.keys(fields));
  if (choices.chance(0.8)) fields[name] = choices.pick(hostileTexts);
  const form = new URLSearchParams(fields);
  if (choices.chance(0.2)) form.append(choices.pick([name, ...hostileTexts]), choices.pick(hostileTexts));
  const text = form.toString();
  return choices.chance(0.1) ? `${text}${choices.pick(['&%', '%zz', '&a=%ff', '&&&', '&=', '&%00=%00'])}` : text;
}

/** Stands for a literal in a body until it is text. */
const literalMark = 'literal 7f3a:';
const mark = (literal: string): string => `${literalMark}${literal}`;

function jsonFor(operation: Operation, caller: Caller, choices: Choices): { body: string | undefined } & Text {
  let value = baseFor(operation, caller, choices);
  if (choices.isSpoiled('body')) {
    const times = choices.pick([1, 1, 1, 2, 3]);
    for (let time = 0; time < times; time += 1) value = breakOne(value ?? {}, choices);
  }
  if (value === undefined) return { body: undefined };
  const { value: whole, companions } = sign(operation, caller, { value, choices });
  return { body: write(whole), companions };
}

/** The clock and the faults of the sandbox are everybody's: there only what is no order is sent beside what changes nothing. */
const harmless = new Set(['/sandbox/clock', '/sandbox/faults', '/sandbox/reset']);

/** A body that the route takes, or one made from its shape, which reaches members that nobody thought of. */
function baseFor(operation: Operation, caller: Caller, choices: Choices): unknown {
  const { name, path, body: shape } = operation;
  const valid = validBodyOf(name, { caller, number: choices.number });
  if (shape === undefined || harmless.has(path)) return valid;
  return valid === undefined || choices.chance(0.3) ? generateBody(operation, caller, choices) : valid;
}

const hostileValue = (choices: Choices): string =>
  choices.chance(0.7) ? choices.pick(hostileTexts) : mark(choices.pick(hostileLiterals));

/** The same with one member, at any depth, replaced, left out or added; all members of a list or object may be one. */
function breakOne(value: unknown, choices: Choices): unknown {
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0) return hostileValue(choices);
  if (Array.isArray(value) && choices.chance(0.05)) return Array.from({ length: 2_000 }, () => (value as unknown[])[0]);
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  const name = choices.pick(Object.keys(copy));
  if (choices.chance(0.08)) delete copy[name];
  else if (choices.chance(0.08) && !Array.isArray(copy))
    Object.defineProperty(copy, choices.pick(hostileTexts), { value: hostileValue(choices), ...plain });
  else if (choices.chance(0.2)) copy[name] = hostileValue(choices);
  else copy[name] = breakOne(copy[name], choices);
  return copy;
}

function write(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.replaceAll(new RegExp(`"${literalMark}((?:[^"\\\\]|\\\\.)*)"`, 'g'), (_whole, literal: string) =>
    JSON.parse(`"${literal}"`),
  );
}

type Signing = { value: unknown; choices: Choices };

/** A push is signed mostly, whatever it says, so that what is behind the signature is reached. */
function sign(
  { tag, path }: Operation,
  { workspaceId, keys }: Caller,
  { value, choices }: Signing,
): { value: unknown; companions: Record<string, string> } {
  if (tag !== 'Push' || value === null || typeof value !== 'object' || choices.isSpoiled('credentials'))
    return { value, companions: {} };
  const body = { appId: workspaceId, ...value } as Record<string, unknown>;
  const campaignName = typeof body.campaignName === 'string' ? body.campaignName.trim() : '';
  const signature = signPush({ appId: workspaceId, campaignName, key: keys.push });
  if (!path.startsWith('/v2.1/')) return { value: { ...body, signature }, companions: {} };
  const audience = String(body.targetAudience).toLowerCase();
  return {
    value: body,
    companions: {
      'x-svc-pushapi-signature': signature,
      ...(/^[\w ]+$/.test(audience) ? { 'x-svc-query-type': audience } : {}),
    },
  };
}

/** A few for each route: to make one takes a hundred times as long as to break it. */
const bodiesARoute = 12;
const arbitraries = new Map<string, fc.Arbitrary<unknown>>();
const made = new Map<string, unknown>();

/** A body of the shape that a route publishes, with words that its reader takes where the shape cannot say which. */
function generateBody(operation: Operation, { workspaceId }: Caller, { seed, pick }: Choices): unknown {
  const bodySeed = seed * bodiesARoute + pick(Array.from({ length: bodiesARoute }, (_, index) => index));
  const name = `${operation.name} ${bodySeed}`;
  if (!made.has(name)) {
    const family = familyOf(operation.bodyName);
    const words = { app_id: [workspaceId], appId: [workspaceId], ...family?.words };
    const arbitrary =
      arbitraries.get(operation.name) ?? bodyOf((family?.shape as Shape | undefined) ?? operation.body ?? {}, words);
    arbitraries.set(operation.name, arbitrary);
    const [body] = fc.sample(arbitrary, { seed: bodySeed, numRuns: 1 });
    made.set(name, family?.agree && body !== null && typeof body === 'object' ? family.agree(body) : body);
  }
  return structuredClone(made.get(name));
}

/** The same shape bears the same name in the document and in the code. */
const families = new Map(
  Object.values(shapeFamilies).map((family) => [(family.shape as { title?: string }).title, family]),
);
const familyOf = (name: string | undefined): ShapeFamily | undefined =>
  name === undefined ? undefined : families.get(name);
