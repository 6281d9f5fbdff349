import type { CampaignStatsRequest } from '../../app/stats.ts';
import { attributionTypes } from '../../domain/campaigns/conversions.ts';
import type { FigureMetric } from '../../domain/campaigns/figures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { maxReportDays, maxStatsCampaigns, maxStatsDays } from '../../domain/limits/campaigns.ts';
import { parseIsoTime } from '../../domain/timing/iso-time.ts';
import { choice, list, passing, readWith, required, text, whole, wholeFrom, word } from '../../fields/combinators.ts';
import { readMembers, schemaOf } from '../../fields/field.ts';
import type { Infer, MemberOrder } from '../../fields/field.ts';
import { plainRules } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { isBlank } from '../route/json-body.ts';

export type StatsAsked = Omit<CampaignStatsRequest, 'workspaceId'> & {
  requestId: string;
  metric: FigureMetric;
};

export type ReportAsked = Omit<StatsAsked, 'offset' | 'limit'>;

type Body = Record<string, unknown>;

const maxRequestIdCharacters = 256;
const dayMilliseconds = 86_400_000;
// More than any number of campaigns; a page after the last is empty.
const maxOffset = 1_000_000_000;

const day = (description: string) =>
  required(passing(text({ description }), { is: isDay, reason: 'must be a date (YYYY-MM-DD)' }));

/** The members of a request for figures of up to `maxDays` days (fact 7). */
function makeReportMembers(maxDays: number) {
  const members = {
    request_id: required(text({ max: maxRequestIdCharacters, description: 'Echoed as response_id' })),
    campaign_ids: readWith(list(text(), { minItems: 1, maxItems: maxStatsCampaigns }), readCampaignIds),
    start_date: day('YYYY-MM-DD in the zone of the workspace'),
    end_date: day(`YYYY-MM-DD, included; at most ${maxDays} days after start_date`),
    attribution_type: required(
      word(
        attributionTypes,
        'What must come before an event for it to count as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (it was clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (it was sent) or CLICK_CONVERSIONS (it was sent and has been clicked)',
      ),
    ),
    metric_type: required(choice(['TOTAL', 'UNIQUE'])),
  };
  const order: MemberOrder<typeof members> = {
    first: ['request_id', 'campaign_ids', 'start_date', 'end_date'],
    check(part, { start_date: startDate = '', end_date: endDate = '' }) {
      const days = (Date.parse(endDate) - Date.parse(startDate)) / dayMilliseconds;
      if (days < 0) part.invalid('end_date', 'must not be before start_date');
      if (days > maxDays) part.invalid('end_date', `must be at most ${maxDays} days after start_date`);
    },
  };
  return {
    members,
    /** Invalid members are undefined; the reader has noted them. */
    read(reader: RequestReader): ReportAsked {
      const sent = readMembers(reader, members, order) as Infer<typeof members>;
      return {
        requestId: sent.request_id,
        campaignIds: sent.campaign_ids,
        startDate: sent.start_date,
        endDate: sent.end_date,
        attribution: sent.attribution_type,
        metric: sent.metric_type,
      };
    },
  };
}

const ofStats = makeReportMembers(maxStatsDays);
const ofReport = makeReportMembers(maxReportDays);
const page = {
  offset: wholeFrom(0, { max: maxOffset, description: 'Campaigns to skip; default 0' }),
  limit: whole(1, maxStatsCampaigns, `Default ${maxStatsCampaigns}`),
};

export const statsBody = schemaOf({ ...ofStats.members, ...page }, { title: 'StatsRequest' });
export const reportBody = schemaOf(ofReport.members, { title: 'ReportFileRequest' });

/** @throws ServiceError STATS_FIELD_INVALID for the first invalid field */
export function parseStats(body: Body): StatsAsked {
  const reader = new RequestReader(body, { rules: statsRules });
  const report = ofStats.read(reader);
  const { offset = 0, limit = maxStatsCampaigns } = readMembers(reader, page);
  refuseFirstFault(reader);
  return { ...report, offset, limit };
}

/** @throws ServiceError STATS_FIELD_INVALID for the first invalid field */
export function parseReport(body: Body): ReportAsked {
  const reader = new RequestReader(body, { rules: statsRules });
  const report = ofReport.read(reader);
  refuseFirstFault(reader);
  return report;
}

export function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('STATS_FIELD_INVALID', { field, reason });
}

function refuseFirstFault({ faults: [fault] }: RequestReader): void {
  if (fault) throw invalid(fault.field, fault.reason);
}

/** Returns the ids without duplicates. */
function readCampaignIds(part: RequestReader, name: string): string[] | undefined {
  if (part.get(name) === undefined) return undefined;
  const ids = part.list(name, maxStatsCampaigns);
  if (!ids.every((id) => typeof id === 'string' && isId(id)))
    part.invalid(name, 'must hold ids of 24 hexadecimal characters');
  return [...new Set(ids as string[])];
}

function isDay(value: unknown): value is string {
  // Years that both a database and a time-zone calendar support.
  return (
    typeof value === 'string' && parseIsoTime(value)?.kind === 'day' && value >= '1970-01-02' && value <= '9998-12-31'
  );
}

/** An empty text counts as not sent where a member is required. */
const statsRules: ReadingRules = {
  ...plainRules,
  isAbsent: isBlank,
  missing: 'is required',
  textFault: (sent, max) => (sent.isWellFormed() && sent.length <= max ? undefined : faultOfText(max)),
  notTextFault: faultOfText,
  choiceFault: (_value, words) => `must be one of ${words.join(', ')}`,
  listFault: (value, maxItems) =>
    Array.isArray(value) && value.length > 0 && value.length <= maxItems
      ? undefined
      : `must be a list of 1 to ${maxItems} ids`,
};

function faultOfText(maxCharacters: number): string {
  return `must be a text of at most ${maxCharacters} characters`;
}
