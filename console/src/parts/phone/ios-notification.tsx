import type { NotificationProps } from './phone-message.ts';
import { Picture } from './picture.tsx';
import styles from './phone.module.css';

/** On the lock screen, and held: the picture above the texts, the actions in a list of their own below. */
export function IosNotification({ message, view }: NotificationProps) {
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
              {/* Without a title the name of the app stands there. */}
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
