import styles from './skip-link.module.css';

/** First in the order of the keyboard: past the navigation to the screen. */
export function SkipLink({ target }: { target: string }) {
  return (
    <a
      className={styles.link}
      href={`#${target}`}
      onClick={(event) => {
        event.preventDefault();
        document.getElementById(target)?.focus();
      }}
    >
      Skip to content
    </a>
  );
}
