import { defaultAppId } from '../apps.ts';
import type { App } from '../apps.ts';
import type { PayloadMode, CampaignContent, Platform, AndroidContent } from '../content/content.ts';
import type { BusinessAttribute } from '../events/events.ts';
import { namedContents } from '../experiments/variants.ts';
import type { Variants } from '../experiments/variants.ts';
import { makePersonaliser } from '../template/personalise.ts';
import { localDate, localTime } from '../timing/local-time.ts';
import { unknownCase } from '../unknown-case.ts';
import { presentFrequencyCap, quietUntil } from '../workspace-controls.ts';
import type { WorkspaceControls } from '../workspace-controls.ts';
import type { DeliverySettings } from './delivery-settings.ts';

/** An effect that may surprise the sender of a campaign. A warning never prevents the campaign from going live. */
export type CampaignWarning = {
  code:
    | 'NO_CREDENTIAL'
    | 'SIMULATED'
    | 'TEMPLATE_CAN_FAIL'
    | 'QUIET_HOURS'
    | 'FREQUENCY_CAP'
    | 'MINIMUM_DELAY'
    | 'SHORT_LIVED'
    | 'PAYLOAD_MODE'
    | 'VARIATION_UNUSED'
    | 'LEARNS_LATE';
  /** A note describes an effect; a warning means that some or all users will receive nothing. */
  tone: 'warning' | 'note';
  /** The composer step in which the cause can be changed. */
  part: 'audience' | 'content' | 'schedule';
  message: string;
};

export type WarnedCampaign = {
  platforms: readonly Platform[];
  content: CampaignContent;
  /** Null: all users get `content`. */
  variants: Variants | null;
  settings: DeliverySettings;
  /** True if it is sent more than once. */
  recurs: boolean;
  /** The times at which it will be sent, as far as they are known. */
  occurrences: readonly Date[];
  controls: WorkspaceControls;
  credentials: Partial<Record<Platform, 'real' | 'simulated'>>;
  eventAttributes: readonly BusinessAttribute[];
  androidMode: PayloadMode;
  /** The apps other than the default ones. */
  apps: readonly App[];
};

const names: Record<Platform, string> = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Web' };

/** Returns the warnings about a campaign. Pure: the same campaign and workspace give the same warnings. */
export function warnOfCampaign(campaign: WarnedCampaign): CampaignWarning[] {
  return [
    ...credentialWarnings(campaign),
    ...contentsOf(campaign).flatMap((one) => [...templateWarnings(one), ...modeWarnings(one)]),
    ...variationWarnings(campaign),
    ...learningWarnings(campaign),
    ...quietWarnings(campaign),
    ...controlNotes(campaign),
  ];
}

function credentialWarnings({ platforms, credentials }: WarnedCampaign): CampaignWarning[] {
  const namesOf = (credential: 'simulated' | undefined): string =>
    platforms
      .filter((platform) => credentials[platform] === credential)
      .map((platform) => names[platform])
      .join(' and ');
  const [lacking, simulated] = [namesOf(undefined), namesOf('simulated')];
  const warnings: CampaignWarning[] = [];
  if (lacking !== '')
    warnings.push({
      code: 'NO_CREDENTIAL',
      tone: 'warning',
      part: 'audience',
      message: `There is no provider credential for ${lacking}: the campaign pauses before the first message.`,
    });
  if (simulated !== '')
    warnings.push({
      code: 'SIMULATED',
      tone: 'note',
      part: 'audience',
      message: `Providers are simulated here (${simulated}): no real device gets it.`,
    });
  return warnings;
}

/** One content of a campaign, with a display name if there are several. */
type NamedContent = WarnedCampaign & { name: string };

function contentsOf(campaign: WarnedCampaign): NamedContent[] {
  const { variants } = campaign;
  if (!variants) return [{ ...campaign, name: '' }];
  return namedContents(variants).map(({ name, content }) => ({ ...campaign, name: `${name}: `, content }));
}

function variationWarnings({ variants }: WarnedCampaign): CampaignWarning[] {
  return (variants?.percents ?? []).flatMap((percent, index) =>
    percent > 0
      ? []
      : [
          {
            code: 'VARIATION_UNUSED' as const,
            tone: 'note' as const,
            part: 'content' as const,
            message: `Variation ${index + 1} has a share of 0 %: no one gets it.`,
          },
        ],
  );
}

/** A campaign that is sent within minutes ends before users click. */
function learningWarnings({ variants, settings, recurs }: WarnedCampaign): CampaignWarning[] {
  if (!variants?.learning || recurs || settings.devicesPerMinute !== null) return [];
  const message =
    'Variations are learned while it is sent, which may be over before anybody reacts: campaign_throttle_rpm makes it last.';
  return [{ code: 'LEARNS_LATE', tone: 'note', part: 'content', message }];
}

function modeWarnings({
  platforms,
  content,
  settings,
  androidMode: mode,
  apps,
  name,
}: NamedContent): CampaignWarning[] {
  if (!platforms.includes('ANDROID') || !content.ANDROID) return [];
  return lostInApps(content.ANDROID, { mode, apps, settings }).map((found) => {
    const which = found.apps.length === 0 ? 'the app' : `app ${found.apps.join(' or ')}`;
    const lost = found.lost.map(({ words }) => words).join(', ');
    const message = `${name}Android: while ${which} is in the background, mode ${found.mode} loses ${lost}.`;
    return { code: 'PAYLOAD_MODE', tone: 'warning', part: 'content', message };
  });
}

/** A user with only an id shows whether a template needs attributes that not every user has. */
const stranger = { customerId: '0', attributes: {} };

function templateWarnings({ platforms, content, settings, eventAttributes, name }: NamedContent): CampaignWarning[] {
  const personaliser = makePersonaliser(content, settings.templates);
  if (!personaliser) return [];
  const event = Object.fromEntries(eventAttributes.map(({ name, type }) => [name, sampleOf(type)]));
  const failing = new Map<string, Platform[]>();
  for (const platform of platforms) {
    if (!content[platform]) continue;
    const rendered = personaliser.render({ platform, user: stranger, event });
    if ('content' in rendered) continue;
    const { field, reason } = rendered.fault;
    const way = content[platform].fallback
      ? 'and so does the fallback'
      : 'and there is no fallback and no default filter';
    const what = `the template of ${field} fails for people with too few known attributes (${reason}), ${way}`;
    failing.set(what, [...(failing.get(what) ?? []), platform]);
  }
  // The same fault on several platforms is reported once.
  return [...failing].map(([what, where]) => ({
    code: 'TEMPLATE_CAN_FAIL',
    tone: 'warning',
    part: 'content',
    message: `${name}${where.map((platform) => names[platform]).join(' and ')}: ${what}: they get nothing.`,
  }));
}

function sampleOf(type: BusinessAttribute['type']): unknown {
  switch (type) {
    case 'string':
      return 'text';
    case 'int':
    case 'float':
      return 1;
    case 'array':
      return ['text'];
    case 'date':
      return '2026-01-01';
    default:
      return unknownCase(type);
  }
}

function quietWarnings({ platforms, settings, occurrences, controls }: WarnedCampaign): CampaignWarning[] {
  const { quietHours, timeZone } = controls;
  if (!quietHours || settings.bypassesQuietHours) return [];
  const at = occurrences.find((occurrence) => quietUntil(quietHours, { at: occurrence, timeZone }));
  const span = `${quietHours.from}-${quietHours.to}`;
  if (!at)
    return [
      {
        code: 'QUIET_HOURS',
        tone: 'note',
        part: 'schedule',
        message: `Quiet hours (${span}) hold in each person's zone; in ${timeZone} it is sent outside of them.`,
      },
    ];
  const until = quietUntil(quietHours, { at, timeZone })!;
  const when = `${localDate(at, timeZone)} ${localTime(at, timeZone).slice(0, 5)} is in the quiet hours (${span}) of people in ${timeZone}`;
  const livesMinutes = Math.min(...platforms.map((platform) => settings.ttlMinutes[platform]));
  const queueMinutes = (settings.queueHours ?? 0) * 60;
  const waitsMinutes = quietHours.mode === 'DROP' ? queueMinutes : livesMinutes + queueMinutes;
  if (at.getTime() + waitsMinutes * 60_000 < until.getTime()) {
    const reason =
      quietHours.mode === 'DROP' ? 'they do not get it' : 'it lives no longer than they last, so they do not get it';
    return [{ code: 'QUIET_HOURS', tone: 'warning', part: 'schedule', message: `${when}: ${reason}.` }];
  }
  const message = `${when}: they get it at ${localTime(until, timeZone)}, when they are over.`;
  return [{ code: 'QUIET_HOURS', tone: 'warning', part: 'schedule', message }];
}

function controlNotes({ settings, controls }: WarnedCampaign): CampaignWarning[] {
  const { queueHours } = settings;
  const outcome = queueHours === undefined ? 'are left out' : `wait, ${queueHours} hours at most`;
  const notes: CampaignWarning[] = [];
  const note = (code: CampaignWarning['code'], message: string) =>
    notes.push({ code, tone: 'note', part: 'schedule', message });
  if (controls.caps.length > 0 && !settings.ignoresCap)
    note(
      'FREQUENCY_CAP',
      `Frequency caps hold (${controls.caps.map(presentFrequencyCap).join(', ')}): people who have had as many ${outcome}.`,
    );
  if (controls.minimumDelayMinutes !== null && !settings.ignoresMinimumDelay)
    note(
      'MINIMUM_DELAY',
      `People who got another campaign in the last ${controls.minimumDelayMinutes} minutes ${outcome}.`,
    );
  if (settings.ttlMinutes.ANDROID === 0)
    note('SHORT_LIVED', 'It lives for no time: devices that are not connected at that moment never get it.');
  return notes;
}

/** A member of an Android content that its mode does not show: its name in a push, and a description. */
export type LostMember = { field: string; words: string };

/**
 * Returns the parts of a message that a user does not get while the app is in the background. Notifications that the system
 * shows have no buttons, group, summary or coupon, and a tap starts the app as its icon does. Pure.
 */
function lostInMode(content: Omit<AndroidContent, 'fallback'>, mode: PayloadMode): LostMember[] {
  if (mode === 'data') return [];
  const lost: LostMember[] = [];
  const lose = (isUsed: boolean, field: string, words: string): void => {
    if (isUsed) lost.push({ field, words });
  };
  lose(content.additionalActions.length > 0, 'additionalActions', 'buttons');
  lose(content.groupKey !== undefined, 'groupKey', 'the group');
  lose(content.summary !== undefined, 'summary', 'the summary');
  lose(
    content.richContent.some(({ type }) => type === 'coupon'),
    'richContent',
    'the coupon',
  );
  lose(content.defaultAction !== undefined, 'defaultAction', 'what a tap opens');
  const { options = {} } = content;
  lose(options.timeoutSeconds !== undefined, 'options.timeoutSeconds', 'the time after which it goes away');
  lose(options.badge?.operation === 'clear', 'options.badge', 'the cleared badge');
  return lost;
}

type ReachedApps = {
  /** The workspace's mode, which applies to apps without their own. */
  mode: PayloadMode;
  apps: readonly App[];
  settings: Pick<DeliverySettings, 'appIds' | 'isSilent'>;
};

/** `apps`: the apps with this mode; empty for the workspace's mode. */
export type LostInApps = { mode: PayloadMode; apps: string[]; lost: LostMember[] };

/** Returns the same for the apps that a message is for, by mode; the workspace's mode comes first. Pure. */
export function lostInApps(
  content: Omit<AndroidContent, 'fallback'>,
  { mode: usual, apps, settings: { appIds, isSilent } }: ReachedApps,
): LostInApps[] {
  // A silent message is data in every mode.
  if (isSilent) return [];
  const chosen = content.options?.deliveryMode;
  const isFor = (appId: string): boolean => appIds === undefined || appIds.includes(appId);
  const reached = apps.filter(({ platform, appId }) => platform === 'ANDROID' && isFor(appId));
  const own = chosen === undefined ? reached.filter(({ settings }) => settings?.mode !== undefined) : [];
  const isUsual = chosen !== undefined || isFor(defaultAppId) || own.length < reached.length;
  const byMode = Map.groupBy(own, ({ settings }) => settings!.mode!);
  return [
    ...(isUsual ? [{ mode: chosen ?? usual, apps: [] }] : []),
    ...[...byMode].map(([mode, those]) => ({ mode, apps: those.map(({ appId }) => appId) })),
  ]
    .map((one) => ({ ...one, lost: lostInMode(content, one.mode) }))
    .filter(({ lost }) => lost.length > 0);
}
