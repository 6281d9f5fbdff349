/**
 * A download that did not succeed. `detail` is for the owner of the segment and holds no address; `cause` is private.
 */
export class DownloadFailedError extends Error {
  override readonly name = 'DownloadFailedError';
  readonly kind: DownloadFault;
  readonly detail: string;
  /** Whether another try may end differently. */
  readonly isRepeatable: boolean;

  constructor(kind: DownloadFault, detail: string, options?: ErrorOptions) {
    super(`the download failed: ${detail}`, options);
    this.kind = kind;
    this.detail = detail;
    this.isRepeatable = repeatable.has(kind);
  }
}

export type DownloadFault =
  | 'unreachable'
  | 'status'
  | 'too-large'
  | 'content-type'
  | 'encoding'
  | 'truncated'
  | 'stalled'
  | 'too-slow'
  | 'redirects'
  | 'refused';

const repeatable: ReadonlySet<DownloadFault> = new Set(['unreachable', 'status', 'truncated', 'stalled', 'too-slow']);
