import styles from './skip-link.module.css';

/** The first element of the tab order. It skips the navigation. */
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
