import { Group, SegmentedControl, Stack } from '@mantine/core';
import { IconBattery3, IconWifi } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { Platform } from '../../api/generated/shape-parts.ts';
import { AndroidNotification } from './android-notification.tsx';
import { BrowserNotification } from './browser-notification.tsx';
import { IosNotification } from './ios-notification.tsx';
import type { PhoneMessage, PhoneView } from './phone-message.ts';
import styles from './phone.module.css';

const notifications = { ANDROID: AndroidNotification, IOS: IosNotification, WEB: BrowserNotification };

/** Where each is met first: the shade of an Android phone, the lock screen of an iPhone, the corner of a desktop. */
const placeNames: Record<Platform, string> = {
  ANDROID: 'Android notification',
  IOS: 'iPhone lock screen',
  WEB: 'Browser notification',
};

type PhoneProps = {
  message: PhoneMessage;
  /** Above the picture, beside the switch. */
  caption?: ReactNode;
};

/** A message as a device draws it, before and after it is pulled open. The device is as light or dark as the console. */
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
        {/* A message in another script runs in its own direction. */}
        <div className={styles.notification} data-view={view} dir="auto">
          <Notification message={message} view={view} />
        </div>
      </div>
    </Stack>
  );
}

/** What makes it a phone or a desktop to the eye. */
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
        {/* The lock screen has a clock of its own. */}
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
