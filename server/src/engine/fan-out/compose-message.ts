import { setImmediate } from 'node:timers/promises';
import { contentForApp, payloadOfApp } from '../../domain/apps.ts';
import type { AppSettings } from '../../domain/apps.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { settlePayload } from '../../domain/content/content.ts';
import type {
  PhoneDefaults,
  SettledPayload,
  Platform,
  BadgeSetting,
  AndroidPayload,
} from '../../domain/content/content.ts';
import { chooseLanguage, hasLocales, languageAttribute, makeContentIn } from '../../domain/content/locales.ts';
import type { KnownLanguages } from '../../domain/content/locales.ts';
import { messageIdentity, withBadge } from '../../domain/content/message.ts';
import { withUtm } from '../../domain/content/utm.ts';
import type { Message } from '../../domain/content/message.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import { makeInteractionTokens } from '../../domain/events/interactions.ts';
import type { InteractionTokens, ReportPass } from '../../domain/events/interactions.ts';
import { unknownUser, makePersonaliser } from '../../domain/template/personalise.ts';
import type { Personal, Personaliser } from '../../domain/template/personalise.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { MessageParts } from '../../providers/batch.ts';
import { measureMessage } from '../../providers/deliver.ts';
import type { MessageSize } from '../../providers/deliver.ts';
import { listTriggeredUsers } from '../../storage/campaigns/audience.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { Database } from '../../storage/database.ts';
import { findDeviceLocales } from '../../storage/devices/devices.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findUsers } from '../../storage/users/users.ts';

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
  /** The settings of the device's app. */
  app?: AppSettings | undefined;
};

/**
 * Composes the message of a run for one device. Returns undefined if the run has no content for the device's platform. Pure:
 * the same run and recipient give the same message on every attempt of every worker.
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
      const address = content.redirectUrl === '' ? undefined : content.redirectUrl;
      const report = passTo(address, { run, device, tokens });
      const link = address === undefined ? {} : linkOf(address, { report, publicUrl: phoneDefaults.publicUrl });
      return { ...base, platform: 'WEB', content, identity, report, ttlSeconds, urgency: settings.webUrgency, ...link };
    }
    default:
      return unknownCase(device.platform);
  }
}

/**
 * Returns a function that makes the device-specific parts of a run's messages to phones of one platform. All phones share the
 * same content, except for texts rendered per user. Undefined if each message must be composed separately.
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
  // The parameters are added to the links of each message.
  if (settings.utm) return undefined;
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

/** Texts that identity and report depend on. */
const partFields = ['collapseReplaceKey', 'defaultAction.value'];

type Phone = Omit<Composed, 'phoneDefaults'> & {
  content: Pick<OwnContent['ANDROID' | 'IOS'], 'collapseReplaceKey' | 'defaultAction'>;
  settings: DeliverySettings;
};

function phoneParts({ run, device, tokens, content, settings }: Phone): MessageParts {
  const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
  // Silent messages carry no report token.
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

/** The content's delivery mode takes precedence. The app's mode is passed along for content that sets none. */
function settleMode({ run, content, app, phoneDefaults }: Settling): SettledPayload {
  const payload = settlePayload(payloadOfApp(run.androidPayload, app), phoneDefaults);
  const { deliveryMode: mode = payload.mode } = content.options ?? {};
  return { ...payload, mode, ...(app?.mode === undefined ? {} : { appMode: app.mode }) };
}

type Counted = { report: ReportPass; publicUrl: string | undefined };

/** Returns the address of this service that counts the click and redirects to the given address. */
function linkOf(address: string, { report, publicUrl }: Counted): { link?: string } {
  if (publicUrl === undefined || report.clickProof === undefined) return {};
  return { link: `${publicUrl}/v1/click/${report.token}.${report.clickProof}?to=${encodeURIComponent(address)}` };
}

/** The general fallback has no language. */
function languageOf({ run, device: { personal, localized } }: Contents): Pick<Message, 'language'> {
  // The fallback of a language's own content is in that language.
  if (run.language !== undefined) return { language: run.language };
  const isFallback = personal !== undefined && 'instead' in personal && personal.instead !== undefined;
  return localized === undefined || isFallback ? {} : { language: localized.language };
}

type Contents = Pick<Composed, 'run' | 'device' | 'app'>;

function contentOf<P extends Platform>(platform: P, { run, device, app }: Contents): OwnContent[P] | undefined {
  const { isSilent, utm } = deliverySettings(run.settings);
  const texts = textsOf(platform, { run, device });
  const own = texts && utm && !isSilent ? withUtm<P>(texts, { platform, utm }) : texts;
  // A silent message shows nothing, so the app's appearance settings do not apply.
  const isLooked = own !== undefined && (app !== undefined || platform === 'IOS') && !isSilent;
  const content = isLooked ? contentForApp(own, { platform, settings: app ?? {} }) : own;
  return content && device.badge ? withBadge(content, device.badge) : content;
}

/**
 * Returns the texts to show: rendered for the user, localized, or the same content for all. Removes the fallback and the
 * locales.
 */
function textsOf<P extends Platform>(platform: P, { run, device }: Contents): OwnContent[P] | undefined {
  if (device.personal && 'content' in device.personal) return device.personal.content as OwnContent[P];
  if (device.localized) return device.localized.content as OwnContent[P];
  const content = run.content[platform];
  if (!content) return undefined;
  const { fallback: _fallback, locales: _locales, ...own } = content;
  return own as OwnContent[P];
}

/** Returns what the inbox keeps of a message: its texts and links as a push would show them, without the settings of an app. */
export function contentToKeep<P extends Platform>(
  platform: P,
  { run, device }: Pick<Contents, 'run' | 'device'>,
): OwnContent[P] | undefined {
  return contentOf(platform, { run, device });
}

/** A device with the message rendered for its user. `personal` is absent if all users get the same content. */
export type Recipient = AudienceDevice & {
  personal?: Personal;
  /** Texts in one of the user's languages, the same for all users with that language. */
  localized?: LocalizedContent;
  /** The number for the app's icon, counted for this device. */
  badge?: BadgeSetting;
  /** The error thrown while rendering the message for the user. */
  fault?: Error;
};

export type LocalizedContent = { language: string; content: OwnContent[Platform] };

/** A recipient with the number of the attempt, counted from 1. */
export type Addressee = { device: Recipient; attempt: number };

export type PersonaliseDevices = <Device extends AudienceDevice>(
  run: RunToSend,
  devices: Device[],
) => Promise<(Device & Recipient)[]>;

// The slowest message takes 0.3 ms (docs/decisions/0019): at most 20 ms until the process can do other work.
const messagesAtOnce = 64;

type Prepared = { personaliser: Personaliser | undefined; localize: Localize | undefined };
type Localize = (place: KnownLanguages & { platform: Platform }) => LocalizedContent | undefined;

/**
 * Renders the messages of a run for a page of its devices. One statement fetches the attributes that its templates read, and
 * another fetches the devices' languages. A run without templates and locales makes no query. Templates are parsed once for all
 * pages of a chunk, and the content of each language is made once.
 */
export function makePersonaliseDevices({ database }: { database: Database }): PersonaliseDevices {
  const known = new WeakMap<RunToSend['content'], Prepared>();
  const prepare = (run: RunToSend): Prepared => {
    const found = known.get(run.content);
    if (found) return found;
    const personaliser = makePersonaliser(run.content, deliverySettings(run.settings).templates);
    const prepared = { personaliser, localize: makeLocalize(run.content) };
    known.set(run.content, prepared);
    return prepared;
  };

  return async (run, devices) => {
    const { personaliser, localize } = prepare(run);
    if ((!personaliser && !localize) || devices.length === 0) return devices;
    const { workspaceId } = run;
    const users = await findUsers(database, {
      workspaceId,
      users: devices.map(({ bucket, userId }) => ({ bucket, userId })),
      names: namesRead(personaliser, localize),
    });
    const languages = localize ? await findDeviceLocales(database, { workspaceId, devices }) : undefined;
    const eventOf = await findEvents(database, { run, personaliser, devices });
    const recipients: ((typeof devices)[number] & Recipient)[] = [];
    for (const device of devices) {
      if (recipients.length % messagesAtOnce === messagesAtOnce - 1) await setImmediate();
      const { platform } = device;
      if (!run.content[platform]) {
        recipients.push(device);
        continue;
      }
      // The user was erased after the page was read, so no attributes are known.
      const user = users.get(device.userId) ?? unknownUser;
      const event = eventOf(device);
      try {
        const spoken = { ofDevice: languages?.get(device.id) ?? null, ofUser: user.attributes.locale };
        const localized = localize?.({ platform, ...spoken });
        const own = localized ? { ...device, localized } : device;
        const language = localized?.language;
        recipients.push(
          personaliser ? { ...own, personal: personaliser.render({ platform, user, event, language }) } : own,
        );
      } catch (error) {
        recipients.push({ ...device, fault: new Error('the message cannot be rendered', { cause: error }) });
      }
    }
    return recipients;
  };
}

type Reading = { run: RunToSend; personaliser: Personaliser | undefined; devices: readonly AudienceDevice[] };

/**
 * Returns the event that started the run: one event for all users, or each user's event. Makes no query unless a template reads
 * it.
 */
async function findEvents(
  database: Database,
  { run, personaliser, devices }: Reading,
): Promise<(device: AudienceDevice) => Record<string, unknown>> {
  const ofAll = run.businessEvent?.attributes ?? {};
  if (run.deliveryType !== 'EVENT_TRIGGERED' || !personaliser?.userEventReads.length) return () => ofAll;
  const users = [...new Map(devices.map(({ bucket, userId }) => [userId, { bucket, userId }])).values()];
  const { workspaceId, id: runId } = run;
  const own = await listTriggeredUsers(database, { workspaceId, runId, users });
  const byUser = new Map(own.map(({ userId, attributes }) => [userId, attributes]));
  return ({ userId }) => byUser.get(userId) ?? ofAll;
}

function namesRead(personaliser: Personaliser | undefined, localize: Localize | undefined): readonly string[] | 'all' {
  const reads = personaliser?.reads ?? [];
  return reads === 'all' || !localize ? reads : [...reads, languageAttribute];
}

/**
 * Undefined if all users get the content in one language. Returns the same object per language, so that its messages are
 * recognised as identical.
 */
function makeLocalize(content: RunToSend['content']): Localize | undefined {
  if (!hasLocales(content)) return undefined;
  const contentIn = makeContentIn(content);
  const made = new Map<OwnContent[Platform], LocalizedContent>();
  return ({ platform, ...known }) => {
    const language = chooseLanguage(content, { platform, ...known });
    if (language === undefined) return undefined;
    const own = contentIn(platform, language);
    const localized = made.get(own) ?? { language, content: own };
    made.set(own, localized);
    return localized;
  };
}

export type MeasuredContent = { workspaceId: string; androidPayload: AndroidPayload } & {
  [P in Platform]: { platform: P; content: OwnContent[P] };
}[Platform];

// Ids, times and tokens have a fixed length, so placeholders give the true size.
const anyId = '0'.repeat(24);
const anyTime = new Date(0);
const tokens = makeInteractionTokens(new Uint8Array(32));

/** Returns the size of the message for a rendered content, as a run would send it, with ids of their true length. Pure. */
export function measureContent(
  { workspaceId, androidPayload, platform, content }: MeasuredContent,
  phoneDefaults: PhoneDefaults,
): MessageSize {
  const message = composeMessage({
    run: {
      id: anyId,
      workspaceId,
      campaignId: anyId,
      settings: {},
      content: { [platform]: content },
      createdAt: anyTime,
      androidPayload,
    },
    device: { id: anyId, bucket: 0, platform },
    tokens,
    phoneDefaults,
    // The setting that makes the content longest.
    app: { criticalAlerts: true },
  });
  return measureMessage(message!);
}
