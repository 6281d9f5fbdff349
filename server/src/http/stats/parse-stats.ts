import { attributionTypes } from '../../domain/campaigns/conversions.ts';
import type { CampaignStatsRequest } from '../../app/stats.ts';
import type { FigureMetric } from '../../domain/campaigns/figures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { parseIsoTime } from '../../domain/timing/iso-time.ts';
import { maxStatsCampaigns, maxStatsDays } from '../../domain/limits/campaigns.ts';
import { isAbsent, isBlank } from '../route/json-body.ts';

export type StatsAsked = Omit<CampaignStatsRequest, 'workspaceId'> & {
  requestId: string;
  metric: FigureMetric;
};

export type ReportAsked = Omit<StatsAsked, 'offset' | 'limit'>;

type Body = Record<string, unknown>;

const maxRequestId = 256;
const dayMilliseconds = 86_400_000;
// More than any number of campaigns; a page after the last is empty.
const maxOffset = 1_000_000_000;

/** @throws ServiceError STATS_FIELD_INVALID for the first invalid field */
export function parseStats(body: Body): StatsAsked {
  return {
    ...parseReport(body, maxStatsDays),
    offset: readInteger(body, 'offset', { minimum: 0, maximum: maxOffset }) ?? 0,
    limit: readInteger(body, 'limit', { minimum: 1, maximum: maxStatsCampaigns }) ?? maxStatsCampaigns,
  };
}

/**
 * Parses a request for figures of up to `maxDays` days.
 *
 * @throws ServiceError STATS_FIELD_INVALID for the first invalid field
 */
export function parseReport(body: Body, maxDays: number): ReportAsked {
  const requestId = readRequestId(body);
  const campaignIds = readCampaignIds(body.campaign_ids);
  const startDate = readDate(body, 'start_date');
  const endDate = readDate(body, 'end_date');
  const days = (Date.parse(endDate) - Date.parse(startDate)) / dayMilliseconds;
  if (days < 0) throw invalid('end_date', 'must not be before start_date');
  if (days > maxDays) throw invalid('end_date', `must be at most ${maxDays} days after start_date`);
  const attribution = readChoice(body, 'attribution_type', attributionTypes);
  const metric = readChoice(body, 'metric_type', ['TOTAL', 'UNIQUE']);
  return { requestId, campaignIds, startDate, endDate, attribution, metric };
}

export function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('STATS_FIELD_INVALID', { field, reason });
}

function required(body: Body, field: string): unknown {
  if (isBlank(body[field])) throw invalid(field, 'is required');
  return body[field];
}

function readRequestId(body: Body): string {
  const value = required(body, 'request_id');
  if (typeof value === 'string' && value.isWellFormed() && value.length <= maxRequestId) return value;
  throw invalid('request_id', `must be a text of at most ${maxRequestId} characters`);
}

function readCampaignIds(value: unknown): string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > maxStatsCampaigns)
    throw invalid('campaign_ids', `must be a list of 1 to ${maxStatsCampaigns} ids`);
  if (!value.every((item) => typeof item === 'string' && isId(item)))
    throw invalid('campaign_ids', 'must hold ids of 24 hexadecimal characters');
  return [...new Set(value as string[])];
}

function readDate(body: Body, field: string): string {
  const value = required(body, field);
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  // Years that both a database and a time-zone calendar support.
  const isDay = time?.kind === 'day' && typeof value === 'string' && value >= '1970-01-02' && value <= '9998-12-31';
  if (!isDay) throw invalid(field, 'must be a date (YYYY-MM-DD)');
  return value as string;
}

function readChoice<const Choice extends string>(body: Body, field: string, choices: readonly Choice[]): Choice {
  const value = required(body, field);
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw invalid(field, `must be one of ${choices.join(', ')}`);
  return found;
}

function readInteger(
  body: Body,
  field: string,
  { minimum, maximum }: { minimum: number; maximum: number },
): number | undefined {
  const value = body[field];
  if (isAbsent(value)) return undefined;
  if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum) return value as number;
  throw invalid(field, `must be a whole number from ${minimum} to ${maximum}`);
}
