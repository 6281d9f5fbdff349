import type { TraceParent } from './traceparent.ts';

export type SpanAttributes = Record<string, string | number | undefined>;

/** A step that is under way. Attributes are kept only if it is sampled. */
export type Span = {
  readonly context: TraceParent;
  set(attributes: SpanAttributes): void;
  /** `fault`: why it failed, in a word that tells nothing of a user. */
  end(ended?: { name?: string; fault?: string | undefined }): void;
};

export type SpanStart = {
  /** `server`: a call of ours that was answered; `consumer`: work that waited; `client`: a call of ours. */
  kind: 'server' | 'consumer' | 'client';
  /** The step it is part of; without one it begins a trace. */
  parent?: TraceParent | undefined;
  /** What it came of without being part of it: a fan-out has many steps of one request. */
  link?: TraceParent | undefined;
  attributes?: SpanAttributes;
};

/** There is one where the settings ask for traces; whoever has none does nothing. */
export type Tracing = { startSpan(name: string, start: SpanStart): Span };
