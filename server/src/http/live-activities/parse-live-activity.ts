import { defaultAppId, isAppId } from '../../domain/apps/app.ts';
import { maxLiveTokensPerRequest } from '../../domain/live-activities/limits.ts';
import { liveEventKinds } from '../../domain/live-activities/live-event.ts';
import type { LiveEvent } from '../../domain/live-activities/live-event.ts';
import { isObject } from '../../domain/request-reader/request-reader.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { refuseOwnFaults } from '../own-body.ts';

// The end of the century: a number beyond is milliseconds.
const maxEpochSeconds = 4_102_444_800;
const maxNameCharacters = 64;

type Named = { appId: string; activityId: string };

/** @throws ServiceError PARAMETER_INVALID */
export function parseLiveEvent(reader: RequestReader): Named & { event: LiveEvent } {
  const named = { appId: readAppId(reader), activityId: readActivityId(reader) };
  const kind = reader.requires('event') ? reader.choice('event', liveEventKinds) : undefined;
  const isStart = kind === 'start';
  const alert = isStart || !reader.isAbsent('alert') ? readAlert(reader) : undefined;
  const epochSeconds = (name: string) => reader.integer(name, { minimum: 1, maximum: maxEpochSeconds });
  const [staleDate, dismissalDate] = [epochSeconds('staleDate'), epochSeconds('dismissalDate')];
  const event = {
    kind: kind!,
    contentState: readObject(reader, 'contentState'),
    ...(isStart
      ? { attributesType: reader.requiredText('attributesType'), attributes: readObject(reader, 'attributes') }
      : {}),
    ...(alert === undefined ? {} : { alert }),
    ...(staleDate === undefined ? {} : { staleDate }),
    ...(dismissalDate === undefined ? {} : { dismissalDate }),
    priority: reader.choice('priority', [5, 10]) ?? 10,
  } as LiveEvent;
  if (kind !== undefined && !isStart)
    for (const name of ['attributesType', 'attributes'])
      if (!reader.isAbsent(name)) reader.invalid(name, 'is of a start');
  refuseOwnFaults(reader);
  return { ...named, event };
}

export type LiveTokens = { appId: string; tokens: string[]; startTokens: string[] };

/** @throws ServiceError PARAMETER_INVALID */
export function parseLiveTokens(reader: RequestReader): LiveTokens {
  const appId = readAppId(reader);
  const [tokens, startTokens] = [readTokens(reader, 'tokens'), readTokens(reader, 'startTokens')];
  if (tokens.length + startTokens.length === 0 && reader.faults.length === 0) reader.missing('tokens');
  refuseOwnFaults(reader);
  return { appId, tokens, startTokens };
}

/** An activity's name as it stands in an address. */
export const isActivityId = (text: string): boolean => /^[A-Za-z0-9._-]{1,64}$/.test(text);

function readActivityId(reader: RequestReader): string {
  const id = reader.requiredText('activityId', maxNameCharacters);
  if (id !== '' && !isActivityId(id)) reader.invalid('activityId', 'takes 1 to 64 letters, digits, dots, - and _');
  return id;
}

function readAppId(reader: RequestReader): string {
  const appId = reader.text('app_id') ?? defaultAppId;
  if (!isAppId(appId)) reader.invalid('app_id', 'must be the id of an app');
  return appId;
}

function readAlert(reader: RequestReader): { title: string; body: string } {
  if (!reader.requires('alert')) return { title: '', body: '' };
  const alert = reader.part('alert');
  return { title: alert.requiredText('title'), body: alert.requiredText('body') };
}

/** Passed on unread: the app's own types decode it. */
function readObject(reader: RequestReader, name: string): Record<string, unknown> {
  if (!reader.requires(name)) return {};
  const value = reader.get(name);
  if (isObject(value)) return value;
  reader.invalid(name, 'must be an object');
  return {};
}

/** In one form, so that equal ones are equal. */
function readTokens(reader: RequestReader, name: string): string[] {
  const given = reader.texts(name, { maxItems: maxLiveTokensPerRequest, maxCharacters: 200 }) ?? [];
  const wrong = given.findIndex((token) => !/^[0-9a-fA-F]{16,200}$/.test(token));
  if (wrong >= 0) reader.invalid(name, 'must hold tokens of Apple (hexadecimal)');
  return [...new Set(given.map((token) => token.toLowerCase()))];
}
