import type { PlatformPreview } from '../../api/generated/composer.ts';
import type { InboxMessage } from '../../api/generated/overview.ts';
import type { Platform } from '../../api/generated/shape-parts.ts';

/** The parts of a message that a device shows. */
export type PhoneMessage = {
  platform: Platform;
  /** The name of the app, or the host of the site. */
  sender: string;
  title: string;
  subtitle?: string;
  message: string;
  /** Next to the app's name on Android. */
  summary?: string;
  image?: string;
  /** The icon of a site. An app's icon is unknown to the console. */
  icon?: string;
  buttons: string[];
};

export type PhoneView = 'collapsed' | 'expanded';

export type NotificationProps = { message: PhoneMessage; view: PhoneView };

type Texts = Record<string, string | undefined>;
type Button = { btn_name?: string; button_category?: string };
type Rendered = { platform: Platform; content: NonNullable<PlatformPreview['content']>; appName: string };

/** Returns the message of a campaign's content, from the preview route or a campaign record. */
export function messageOfContent({ platform, content, appName }: Rendered): PhoneMessage {
  const details = content.basic_details as Texts;
  const advanced = (content.advanced ?? {}) as Texts;
  const { title = '', message = '' } = details;
  const image = platform === 'IOS' ? pictureOf(details) : details.image_url;
  return {
    platform,
    sender: platform === 'WEB' ? hostOf(details.redirect_url) : appName,
    title,
    message,
    ...given('subtitle', platform === 'IOS' ? details.subtitle : undefined),
    ...given('summary', platform === 'ANDROID' ? details.summary : undefined),
    ...given('image', image),
    ...given('icon', platform === 'WEB' ? advanced.icon_url : undefined),
    buttons: ((content.buttons ?? []) as Button[]).flatMap(captionOf),
  };
}

/** Returns the message that a sandbox device received. */
export function messageOfInbox(message: InboxMessage, appName: string): PhoneMessage {
  const { platform, title, body, screen, payload } = message;
  const web = (platform === 'WEB' ? payload : {}) as { redirectURL?: string; iconURL?: string };
  const phone = (platform === 'IOS' ? payload : {}) as { aps?: { alert?: { subtitle?: string } | string } };
  const alert = phone.aps?.alert;
  return {
    platform,
    sender: platform === 'WEB' ? hostOf(web.redirectURL) : appName,
    title: screen.title ?? title,
    message: screen.body ?? body,
    ...given('subtitle', typeof alert === 'object' ? alert.subtitle : undefined),
    ...given('image', screen.image),
    ...given('icon', web.iconURL),
    buttons: screen.buttons ?? [],
  };
}

/** The app on an iPhone knows the captions of a category; the message contains only its name. */
function captionOf({ btn_name: name, button_category: category }: Button): string[] {
  return [name ?? category].filter((caption): caption is string => caption !== undefined && caption !== '');
}

function pictureOf({ rich_media_type: kind, rich_media_value: address }: Texts): string | undefined {
  return kind === 'Image' || kind === 'GIF' ? address : undefined;
}

function hostOf(address: string | undefined): string {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : 'your site';
}

function given<Name extends string>(name: Name, value: string | undefined): { [N in Name]?: string } {
  return (value === undefined || value === '' ? {} : { [name]: value }) as { [N in Name]?: string };
}
