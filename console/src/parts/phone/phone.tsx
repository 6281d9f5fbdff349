import { Group, SegmentedControl, Stack } from '@mantine/core';
import { IconBattery3, IconWifi, IconChevronDown, IconChevronUp, IconPhotoOff } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { Platform } from '../../api/generated/shape-parts.ts';
import type { PhoneMessage, PhoneView, NotificationProps } from './phone-message.ts';
import styles from './phone.module.css';

const notifications = { ANDROID: AndroidNotification, IOS: IosNotification, WEB: BrowserNotification };

/** The place where each platform shows a message first: notification shade, lock screen, corner of the desktop. */
const placeNames: Record<Platform, string> = {
  ANDROID: 'Android notification',
  IOS: 'iPhone lock screen',
  WEB: 'Browser notification',
};

type PhoneProps = {
  message: PhoneMessage;
  /** Shown above the picture, next to the switch. */
  caption?: ReactNode;
};

/** A message as a device shows it, collapsed and expanded. The device follows the console's colour scheme. */
export function Phone({ message, caption }: PhoneProps) {
  const [view, setView] = useState<PhoneView>('collapsed');
  const Notification = notifications[message.platform];
  const place = placeNames[message.platform];
  return (
    <Stack gap={8}>
      <Group justify="space-between" gap="xs">
        {caption}
        <SegmentedControl
          size="xs"
          aria-label={`${place} view`}
          transitionDuration={0}
          value={view}
          onChange={(next) => setView(next as PhoneView)}
          data={[
            { value: 'collapsed', label: 'Collapsed' },
            { value: 'expanded', label: 'Expanded' },
          ]}
        />
      </Group>
      <div className={styles.device} data-platform={message.platform} role="group" aria-label={place}>
        <Surroundings platform={message.platform} />
        {/* A message in another script has its own direction. */}
        <div className={styles.notification} data-view={view} dir="auto">
          <Notification message={message} view={view} />
        </div>
      </div>
    </Stack>
  );
}

/** The frame of a phone or a desktop. */
function Surroundings({ platform }: { platform: Platform }) {
  if (platform === 'WEB')
    return (
      <div className={styles.window} aria-hidden>
        <i />
        <i />
        <i />
        <b />
      </div>
    );
  return (
    <div aria-hidden>
      <div className={styles.status}>
        {/* The lock screen has its own clock. */}
        <span>{platform === 'IOS' ? '' : '9:41'}</span>
        <span>
          <IconWifi size={14} stroke={2} />
          <IconBattery3 size={16} stroke={1.8} />
        </span>
      </div>
      {platform === 'IOS' && <div className={styles.clock}>9:41</div>}
    </div>
  );
}

/** Android shows at most three (Notification.Builder, MAX_ACTION_BUTTONS). */
const maxAndroidButtons = 3;

/** A notification as the receivers build it: picture, whole text and buttons appear only when expanded. */
function AndroidNotification({ message, view }: NotificationProps) {
  const { sender, summary, title, message: text, image, buttons } = message;
  const isOpen = view === 'expanded';
  const Chevron = isOpen ? IconChevronUp : IconChevronDown;
  return (
    <>
      <div className={styles.row}>
        <span className={styles.appIcon} aria-hidden>
          {sender.charAt(0).toUpperCase()}
        </span>
        <div className={styles.texts}>
          <p className={styles.about}>
            <span>{[sender, summary].filter(Boolean).join(' · ')}</span>
            <span className={styles.when}> · now</span>
            <Chevron size={14} aria-hidden className={styles.chevron} />
          </p>
          <p className={styles.title} data-shown="title">
            {title}
          </p>
          {/* A picture leaves space for one line of text. */}
          <p className={styles.message} data-shown="message" data-beside={image === undefined ? undefined : 'image'}>
            {text}
          </p>
        </div>
        {!isOpen && <Picture src={image} className={styles.thumb} name="image" />}
      </div>
      {isOpen && <Picture src={image} className={styles.image} name="image" />}
      {isOpen && buttons.length > 0 && (
        <div className={styles.actions}>
          {buttons.slice(0, maxAndroidButtons).map((caption, index) => (
            <span key={index}>{caption}</span>
          ))}
        </div>
      )}
    </>
  );
}

/** A notification on the lock screen, and expanded: picture above the texts, actions in a separate list below. */
function IosNotification({ message, view }: NotificationProps) {
  const { sender, title, subtitle, message: text, image, buttons } = message;
  const isOpen = view === 'expanded';
  return (
    <>
      <div className={styles.card}>
        {isOpen && <Picture src={image} className={styles.attachment} name="image" />}
        <div className={styles.row}>
          <span className={styles.appIcon} aria-hidden>
            {sender.charAt(0).toUpperCase()}
          </span>
          <div className={styles.texts}>
            <p className={styles.about}>
              {/* Without a title, iOS shows the name of the app. */}
              <span className={styles.title} data-shown="title">
                {title === '' ? sender : title}
              </span>
              <span className={styles.when}>now</span>
            </p>
            {subtitle !== undefined && <p className={styles.subtitle}>{subtitle}</p>}
            <p className={styles.message} data-shown="message">
              {text}
            </p>
          </div>
          {!isOpen && <Picture src={image} className={styles.thumb} name="image" />}
        </div>
      </div>
      {isOpen && buttons.length > 0 && (
        <div className={styles.menu}>
          {buttons.map((caption, index) => (
            <span key={index}>{caption}</span>
          ))}
        </div>
      )}
    </>
  );
}

/** Chromium shows at most two (Notification.maxActions). */
const maxBrowserButtons = 2;

/** A notification as Chrome shows it on a desktop. */
function BrowserNotification({ message, view }: NotificationProps) {
  const { sender, title, message: text, image, icon, buttons } = message;
  const isOpen = view === 'expanded';
  return (
    <>
      {isOpen && <Picture src={image} className={styles.attachment} name="image" />}
      <div className={styles.row}>
        {icon === undefined ? (
          <span className={styles.appIcon} aria-hidden>
            {sender.charAt(0).toUpperCase()}
          </span>
        ) : (
          <Picture src={icon} className={styles.siteIcon} name="icon" />
        )}
        <div className={styles.texts}>
          <p className={styles.title} data-shown="title">
            {title}
          </p>
          <p className={styles.message} data-shown="message">
            {text}
          </p>
          <p className={styles.about}>
            <span>{sender}</span>
          </p>
        </div>
      </div>
      {isOpen && buttons.length > 0 && (
        <div className={styles.actions}>
          {buttons.slice(0, maxBrowserButtons).map((caption, index) => (
            <span key={index}>{caption}</span>
          ))}
        </div>
      )}
    </>
  );
}

type PictureProps = { src: string | undefined; className: string | undefined; name: string };

/** A picture at the message's address. If it does not load, a text says so. */
function Picture({ src, className = '', name }: PictureProps) {
  const [failed, setFailed] = useState<string>();
  if (src === undefined || src === '') return null;
  // The console's content security policy allows only encrypted sources.
  if (src.startsWith('https:') && failed !== src)
    return <img src={src} alt="" className={className} referrerPolicy="no-referrer" onError={() => setFailed(src)} />;
  const reason = failed === src ? `The ${name} does not load here` : `The ${name} is shown here over https only`;
  return (
    <span role="img" aria-label={reason} title={reason} className={`${className} ${styles.missing}`}>
      <IconPhotoOff size={18} stroke={1.6} aria-hidden />
    </span>
  );
}
