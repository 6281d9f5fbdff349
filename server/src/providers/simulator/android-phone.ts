import type { Screen } from '../../domain/sandbox/screen.ts';

export type ReceivedByAndroid = { data: Record<string, unknown>; notification: Record<string, unknown> | undefined };

/**
 * Returns what an Android phone shows. The system shows a notification; data alone goes to the app, which is started for it.
 */
export function screenOfAndroid({ data, notification }: ReceivedByAndroid): Screen {
  const hasToken = own(data, 'report_token') !== undefined;
  if (notification)
    return {
      shownBy: 'system',
      title: text(notification.title),
      body: text(notification.body),
      ...imageOf(notification.image),
      // The system shows no buttons of a sender.
      buttons: [],
      // No code of the app ran; data becomes extras of the intent with which a tap starts the app.
      reports: hasToken ? ['click'] : [],
    };
  if (own(data, 'silent') === '1') return { shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] };
  return {
    shownBy: 'app',
    title: text(data.gcm_title),
    body: text(data.gcm_alert),
    ...imageOf(own(data, 'image')),
    buttons: buttonsOf(data.gcm_actions),
    reports: hasToken ? ['impression', 'click', 'close'] : [],
  };
}

/** Returns the value of an app's own key, whatever abbreviation the app was built with. */
export function own(data: Record<string, unknown>, name: string): string | undefined {
  const key = Object.keys(data).find((candidate) => /^[a-z][a-z0-9]*_/.exec(candidate)?.[0] + name === candidate);
  return key === undefined || key.startsWith('gcm_') || key.startsWith('kv_') ? undefined : text(data[key]);
}

function buttonsOf(actions: unknown): string[] {
  if (typeof actions !== 'string') return [];
  return (JSON.parse(actions) as { name: string; type: string }[]).map(({ name, type }) => name || type);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function imageOf(value: unknown): { image?: string } {
  return typeof value === 'string' ? { image: value } : {};
}
