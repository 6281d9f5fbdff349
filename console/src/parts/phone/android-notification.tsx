import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import type { NotificationProps } from './phone-message.ts';
import { Picture } from './picture.tsx';
import styles from './phone.module.css';

/** Three at most: Android draws no more (Notification.Builder, MAX_ACTION_BUTTONS). */
const maxButtons = 3;

/** As the receivers build it: a picture or the whole text when it is pulled open, buttons only then. */
export function AndroidNotification({ message, view }: NotificationProps) {
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
          {/* A picture takes the place of all but one line. */}
          <p className={styles.message} data-shown="message" data-beside={image === undefined ? undefined : 'image'}>
            {text}
          </p>
        </div>
        {!isOpen && <Picture src={image} className={styles.thumb} name="image" />}
      </div>
      {isOpen && <Picture src={image} className={styles.image} name="image" />}
      {isOpen && buttons.length > 0 && (
        <div className={styles.actions}>
          {buttons.slice(0, maxButtons).map((caption, index) => (
            <span key={index}>{caption}</span>
          ))}
        </div>
      )}
    </>
  );
}
