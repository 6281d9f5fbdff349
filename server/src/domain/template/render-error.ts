/**
 * Why a text could not be made for a person (fact 3.8). `RESULT`: it was made, and is not what its place needs, such as
 * a web address.
 */
export type RenderCause = 'USER_ATTRIBUTE' | 'BUSINESS_EVENT_ATTRIBUTE' | 'UNDEFINED' | 'LIMIT' | 'RESULT' | 'UNKNOWN';

/** Ends one rendering. Thrown and caught in this folder alone; renderTemplate answers with a value. */
export class RenderError extends Error {
  readonly renderCause: RenderCause;

  constructor(renderCause: RenderCause, reason: string) {
    // A stack costs more than most renderings, and tells nobody anything.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(reason);
    Error.stackTraceLimit = limit;
    this.renderCause = renderCause;
  }
}
