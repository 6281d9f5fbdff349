import type { RequestFault } from '../fields/reading-rules.ts';
import { accessRegistry, accountRegistry } from './errors/access.ts';
import { campaignRegistry } from './errors/campaigns.ts';
import { dataRegistry } from './errors/data.ts';
import { installationRegistry } from './errors/installations.ts';
import { journeyRegistry } from './errors/journeys.ts';
import { pictureRegistry } from './errors/pictures.ts';
import { pushRegistry } from './errors/push.ts';
import { requestRegistry } from './errors/requests.ts';
import { segmentRegistry } from './errors/segments.ts';
import { topicRegistry } from './errors/topics.ts';

/**
 * The closed registry of errors that this service can return. The key is the name that all code below `http` uses. The
 * dialects in `http` add their codes, and their statuses where they differ. docs/errors.md lists the errors in this order.
 */
export const errorRegistry = {
  ...accessRegistry,
  ...pushRegistry,
  ...dataRegistry,
  ...installationRegistry,
  ...segmentRegistry,
  ...campaignRegistry,
  ...journeyRegistry,
  ...accountRegistry,
  ...pictureRegistry,
  ...topicRegistry,
  ...requestRegistry,
} satisfies Record<string, ErrorDeclaration>;

type ErrorDeclaration = {
  /** The HTTP status, unless a dialect has another one for this error. */
  status: number;
  /** Public: what is wrong. `<field>` and `<reason>` are replaced by those of the context. */
  text: string;
  /** What a caller can do about it. The API log shows it next to the error. */
  advice: string;
};

export type ErrorName = keyof typeof errorRegistry;

export type ErrorContext = {
  /** Private: goes to the log, never to the caller. */
  detail?: string;
  /** Public: the field concerned. */
  field?: string;
  /** Public: what is wrong with the field. */
  reason?: string;
  /** Public: everything that is wrong with a request, for families that list it. */
  faults?: RequestFault[];
  /** Public: whole seconds until the same request would pass (429 and 503). */
  retryAfterSeconds?: number;
  /** Public: members of the response in addition to its text. */
  members?: Record<string, string | number>;
  cause?: unknown;
};

/** An expected rejection of a request. Unexpected faults are thrown as ordinary errors and become `INTERNAL` at the edge. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorName;
  readonly context: ErrorContext;

  constructor(code: ErrorName, context: ErrorContext = {}) {
    super(publicText(code, context), context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.context = context;
  }
}

function publicText(code: ErrorName, context: ErrorContext): string {
  return errorRegistry[code].text
    .replace('<field>', () => context.field ?? '')
    .replace('<reason>', () => context.reason ?? '');
}
