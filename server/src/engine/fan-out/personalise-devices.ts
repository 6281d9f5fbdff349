import { setImmediate } from 'node:timers/promises';
import { unknownUser } from '../../domain/users/user-source.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import type { BadgeSetting } from '../../domain/content-options/content-options.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { chooseLanguage, hasLocales, languageAttribute, makeContentIn } from '../../domain/locales/localize-content.ts';
import type { KnownLanguages } from '../../domain/locales/localize-content.ts';
import { makePersonaliser } from '../../domain/template/personalise.ts';
import type { Personal, Personaliser } from '../../domain/template/personalise.ts';
import type { Database } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { findDeviceLocales } from '../../storage/devices/device-locales.ts';
import { listTriggeredUsers } from '../../storage/triggers/triggered-audience.ts';
import { findUsers } from '../../storage/users/users.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** A device with the message rendered for its user; absent if all users get the same. */
export type Recipient = AudienceDevice & {
  personal?: Personal;
  /** Texts in a language of the user's, the same for all who read it. */
  localized?: LocalizedContent;
  /** What the icon of the app is to show, counted for this device. */
  badge?: BadgeSetting;
  /** What was thrown when the message was rendered for the user. */
  fault?: Error;
};

export type LocalizedContent = { language: string; content: OwnContent[Platform] };

/** A recipient with the number of the attempt, counted from 1. */
export type Addressee = { device: Recipient; attempt: number };

export type PersonaliseDevices = <Device extends AudienceDevice>(
  run: RunToSend,
  devices: Device[],
) => Promise<(Device & Recipient)[]>;

// The worst message takes 0.3 ms (docs/decisions/0019): 20 ms at most before the process does something else.
const messagesAtOnce = 64;

type Prepared = { personaliser: Personaliser | undefined; localize: Localize | undefined };
type Localize = (place: KnownLanguages & { platform: Platform }) => LocalizedContent | undefined;

/**
 * Makes the messages of a run for a page of its devices. The attributes that its templates read are fetched in one
 * statement, and what is known of the devices' languages in another; a run without templates and locales costs nothing.
 * Templates are read once for all pages of a chunk, and each language's content is made once.
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
      // Erased since the page was read: nothing is known of this person any more.
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

/** What started the run: one event for all, or each user's own. Nothing is read that no template reads. */
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

/** Undefined if all users get the content in one language. One object for each language, so that its messages are known to be alike. */
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
