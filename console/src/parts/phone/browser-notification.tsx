import type { NotificationProps } from './phone-message.ts';
import { Picture } from './picture.tsx';
import styles from './phone.module.css';

/** Two at most: Notification.maxActions of Chromium. */
const maxButtons = 2;

/** As Chrome draws it itself on a desktop. */
export function BrowserNotification({ message, view }: NotificationProps) {
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
          {buttons.slice(0, maxButtons).map((caption, index) => (
            <span key={index}>{caption}</span>
          ))}
        </div>
      )}
    </>
  );
}
