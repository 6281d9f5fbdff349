import type { Screen } from '../../../domain/sandbox/screen.ts';

/** What a browser with client/browser/carillon-service-worker.js shows. */
export function screenOfBrowser(payload: Record<string, unknown>): Screen {
  const actions = (payload.actions ?? []) as { title?: unknown }[];
  return {
    shownBy: 'worker',
    title: String(payload.title ?? ''),
    body: String(payload.message ?? ''),
    ...(typeof payload.imageURL === 'string' ? { image: payload.imageURL } : {}),
    buttons: actions.map(({ title }) => String(title ?? '')),
    reports: payload.report_token === undefined ? [] : ['impression', 'click', 'close'],
  };
}
