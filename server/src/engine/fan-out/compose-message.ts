import { settlePayload } from '../../domain/campaigns/android-payload.ts';
import type { PhoneDefaults, SettledPayload } from '../../domain/campaigns/android-payload.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { contentForApp, payloadOfApp } from '../../domain/apps/app-settings.ts';
import type { AppSettings } from '../../domain/apps/app-settings.ts';
import { messageIdentity } from '../../domain/campaigns/message.ts';
import { withBadge } from '../../domain/content-options/badge-of.ts';
import type { Message } from '../../domain/campaigns/message.ts';
import type { InteractionTokens, ReportPass } from '../../domain/interactions/interaction-token.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { MessageParts } from '../delivery/delivery-batch.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Recipient } from './personalise-devices.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type ComposedRun = Pick<
  RunToSend,
  'id' | 'workspaceId' | 'campaignId' | 'content' | 'settings' | 'createdAt' | 'androidPayload' | 'variant' | 'language'
>;
type ComposedDevice = Pick<Recipient, 'id' | 'bucket' | 'platform' | 'personal' | 'localized' | 'badge'>;

type Composed = {
  run: ComposedRun;
  device: ComposedDevice;
  tokens: InteractionTokens;
  phoneDefaults: PhoneDefaults;
  /** What the device's app has of its own. */
  app?: AppSettings | undefined;
};

/**
 * The message of a run for one device, or undefined when the run has no content for the device's platform. Pure: the
 * same run and recipient give the same message on every attempt of every worker.
 */
export function composeMessage({ run, device, tokens, phoneDefaults, app }: Composed): Message | undefined {
  const settings = deliverySettings(run.settings);
  const base = {
    workspaceId: run.workspaceId,
    campaignId: run.campaignId,
    runId: run.id,
    ...languageOf({ run, device }),
    ...(settings.inboxExpiryHours === null
      ? {}
      : { inboxExpiresAt: new Date(run.createdAt.getTime() + settings.inboxExpiryHours * 3_600_000) }),
  };
  switch (device.platform) {
    case 'ANDROID': {
      const content = contentOf('ANDROID', { run, device, app });
      if (!content) return undefined;
      const ttlSeconds = settings.ttlMinutes.ANDROID * 60;
      return {
        ...base,
        ...phoneParts({ run, device, tokens, content, settings }),
        platform: 'ANDROID',
        content,
        ttlSeconds,
        priority: settings.androidPriority,
        payload: settleMode({ run, content, app, phoneDefaults }),
        isSilent: settings.isSilent,
      };
    }
    case 'IOS': {
      const content = contentOf('IOS', { run, device, app });
      if (!content) return undefined;
      const ttlSeconds = settings.ttlMinutes.IOS * 60;
      const { iosPriority: priority, isSilent } = settings;
      const parts = phoneParts({ run, device, tokens, content, settings });
      const { dataPrefix } = settlePayload(payloadOfApp(run.androidPayload, app), phoneDefaults);
      return { ...base, ...parts, platform: 'IOS', content, ttlSeconds, priority, dataPrefix, isSilent };
    }
    case 'WEB': {
      const content = contentOf('WEB', { run, device, app });
      if (!content) return undefined;
      const identity = messageIdentity(run.id, device.id, content.options?.tag);
      const ttlSeconds = settings.ttlMinutes.WEB * 60;
      const report = passTo(content.redirectUrl, { run, device, tokens });
      const link = linkOf(content.redirectUrl, { report, publicUrl: phoneDefaults.publicUrl });
      return { ...base, platform: 'WEB', content, identity, report, ttlSeconds, urgency: settings.webUrgency, ...link };
    }
    default:
      return unknownCase(device.platform);
  }
}

/**
 * What of a run's messages to phones of one platform is each phone's own, when all get the same content but for their users'
 * texts; undefined when each message is to be composed by itself.
 */
export function makePartsOf({
  run,
  platform,
  tokens,
}: Pick<Composed, 'run' | 'tokens'> & { platform: Platform }):
  ((device: ComposedDevice) => MessageParts | undefined) | undefined {
  const content = platform === 'WEB' ? undefined : run.content[platform];
  if (!content) return undefined;
  const settings = deliverySettings(run.settings);
  return (device) => {
    const { personal } = device;
    if (personal === undefined) return phoneParts({ run, device, tokens, content, settings });
    const own = 'content' in personal ? personal.own : undefined;
    if (own === undefined) return undefined;
    const { base } = own.shape;
    const shown = own.shape.isOwn(partFields) ? (personal as { content: typeof base }).content : base;
    return { ...phoneParts({ run, device, tokens, content: shown as typeof content, settings }), own };
  };
}

/** Texts on which identity and report depend. */
const partFields = ['collapseReplaceKey', 'defaultAction.value'];

type Phone = Omit<Composed, 'phoneDefaults'> & {
  content: Pick<OwnContent['ANDROID' | 'IOS'], 'collapseReplaceKey' | 'defaultAction'>;
  settings: DeliverySettings;
};

function phoneParts({ run, device, tokens, content, settings }: Phone): MessageParts {
  const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
  // Of what nobody sees there is nothing to report.
  if (settings.isSilent) return { identity };
  return { identity, report: passTo(content.defaultAction?.value, { run, device, tokens }) };
}

function passTo(
  address: string | undefined,
  { run, device, tokens }: Pick<Composed, 'run' | 'device' | 'tokens'>,
): ReportPass {
  const { platform, bucket, id: deviceId } = device;
  const { workspaceId, id: runId, variant } = run;
  return tokens.issue({ workspaceId, runId, bucket, deviceId, platform, ...(variant && { variant }) }, address);
}

type Settling = Pick<Composed, 'run' | 'app' | 'phoneDefaults'> & { content: OwnContent['ANDROID'] };

/** A content may choose for itself how it is shown, and an app for what does not. */
function settleMode({ run, content, app, phoneDefaults }: Settling): SettledPayload {
  const payload = settlePayload(payloadOfApp(run.androidPayload, app), phoneDefaults);
  const { deliveryMode: mode = payload.mode } = content.options ?? {};
  return { ...payload, mode, ...(app?.mode === undefined ? {} : { appMode: app.mode }) };
}

type Counted = { report: ReportPass; publicUrl: string | undefined };

/** The address by way of this service, which counts the click and redirects. */
function linkOf(address: string, { report, publicUrl }: Counted): { link?: string } {
  if (publicUrl === undefined || report.clickProof === undefined) return {};
  return { link: `${publicUrl}/v1/click/${report.token}.${report.clickProof}?to=${encodeURIComponent(address)}` };
}

/** A fallback is for everybody. */
function languageOf({ run, device: { personal, localized } }: Contents): Pick<Message, 'language'> {
  // The fallback of a language's own content is in that language.
  if (run.language !== undefined) return { language: run.language };
  const isFallback = personal !== undefined && 'instead' in personal && personal.instead !== undefined;
  return localized === undefined || isFallback ? {} : { language: localized.language };
}

type Contents = Pick<Composed, 'run' | 'device' | 'app'>;

function contentOf<P extends Platform>(platform: P, { run, device, app }: Contents): OwnContent[P] | undefined {
  const own = textsOf(platform, { run, device });
  // A silent message shows nothing that could have a look.
  const isLooked =
    own !== undefined && (app !== undefined || platform === 'IOS') && !deliverySettings(run.settings).isSilent;
  const content = isLooked ? contentForApp(own, { platform, settings: app ?? {} }) : own;
  return content && device.badge ? withBadge(content, device.badge) : content;
}

/** What the device shows: content rendered for the user, or the same content for all. The fallback stays here. */
function textsOf<P extends Platform>(platform: P, { run, device }: Contents): OwnContent[P] | undefined {
  if (device.personal && 'content' in device.personal) return device.personal.content as OwnContent[P];
  if (device.localized) return device.localized.content as OwnContent[P];
  const content = run.content[platform];
  if (!content) return undefined;
  const { fallback: _fallback, locales: _locales, ...own } = content;
  return own as OwnContent[P];
}
