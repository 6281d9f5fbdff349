import type { AndroidContent } from '../../../domain/campaigns/content.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import type { Message } from '../../../domain/campaigns/message.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

// Keys and values of notification and data together (delivery 1).
const maxPayloadBytes = 4096;

/**
 * The request for one Android device: a notification, so that the system shows it with nobody's help, and data with
 * what the app needs for buttons, deep links and reporting. Data members carry the names that device code of this
 * interface's family reads (fact 3.9). Pure.
 *
 * @param origin scheme and host of the FCM service
 */
export function planFcmRequest(
  { message, device, credential }: PlanInput<FcmCredential>,
  origin: string,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'ANDROID') throw new Error(`FCM serves Android, not ${message.platform}`);
  const data = makeData(message, message.content);
  const notification = makeNotification(message, message.content);
  const { bytes } = measure(data, notification);
  if (bytes > maxPayloadBytes) {
    const detail = `${bytes} bytes of keys and values; FCM takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  const body = {
    message: {
      token: device.pushId,
      data,
      android: {
        collapse_key: message.identity.collapseId,
        priority: message.priority,
        ttl: `${message.ttlSeconds}s`,
        notification,
      },
    },
  };
  return {
    plan: {
      origin,
      path: `/v1/projects/${encodeURIComponent(credential.projectId)}/messages:send`,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: Buffer.from(JSON.stringify(body)),
    },
  };
}

/** What FCM counts of a message, and the most it takes. */
export function measureFcmMessage(message: AndroidMessage): { bytes: number; most: number } {
  return measure(makeData(message, message.content), makeNotification(message, message.content));
}

function measure(data: Record<string, string>, notification: Record<string, string>) {
  return { bytes: payloadBytes(data) + payloadBytes(notification), most: maxPayloadBytes };
}

type AndroidMessage = Extract<Message, { platform: 'ANDROID' }>;
type Content = Omit<AndroidContent, 'fallback'>;

function makeNotification(message: Message, content: Content): Record<string, string> {
  const image = content.richContent.find(({ type }) => type === 'image')?.value;
  const sound = content.richContent.find(({ type }) => type === 'sound')?.value;
  return {
    title: content.title,
    body: content.message,
    // A repeat after a crash has the same tag and replaces the first on the screen.
    tag: message.identity.collapseId,
    ...(content.channelId === undefined ? {} : { channel_id: content.channelId }),
    ...(image === undefined ? {} : { image }),
    ...(sound === undefined ? {} : { sound }),
  };
}

/** FCM takes strings only in `data`; lists and objects travel as JSON text. */
function makeData(message: Message, content: Content): Record<string, string> {
  const coupon = content.richContent.find(({ type }) => type === 'coupon')?.value;
  const data: Record<string, string> = {
    push_from: 'carillon',
    gcm_title: content.title,
    gcm_alert: content.message,
    gcm_campaign_id: message.campaignId,
    gcm_notificationType: 'normal notification',
    svc_app_id: message.workspaceId,
    svc_push_service: 'fcm',
    svc_cid_attr: JSON.stringify({
      svc_campaign_id: message.campaignId,
      svc_campaign_channel: 'PUSH',
      svc_run_id: message.runId,
    }),
    svc_message_id: message.identity.id,
  };
  if (message.inboxExpiresAt) data.svc_inbox_expiry = String(Math.floor(message.inboxExpiresAt.getTime() / 1000));
  if (message.report) data.svc_report_token = message.report.token;
  if (message.report?.clickProof !== undefined) data.svc_click_proof = message.report.clickProof;
  if (content.summary !== undefined) data.gcm_subtext = content.summary;
  if (content.channelId !== undefined) data.svc_channel_id = content.channelId;
  if (content.groupKey !== undefined) data.svc_group_key = content.groupKey;
  if (coupon !== undefined) data.coupon_code = coupon;
  if (content.additionalActions.length > 0) data.gcm_actions = JSON.stringify(content.additionalActions);
  if (content.defaultAction) {
    data.gcm_action_type = content.defaultAction.type;
    data.gcm_activityName = content.defaultAction.value;
    for (const [name, value] of Object.entries(content.defaultAction.keyValuePairs)) {
      // FCM refuses these names in data; the app reads the pair under a prefix then.
      const isReserved =
        name === 'from' || name === 'message_type' || name.startsWith('google.') || name.startsWith('gcm.');
      data[isReserved || name in data ? `kv_${name}` : name] = value;
    }
  }
  return data;
}

function payloadBytes(members: Record<string, string>): number {
  return Object.entries(members).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
}
