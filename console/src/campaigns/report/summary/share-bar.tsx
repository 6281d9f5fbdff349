import styles from './share-bar.module.css';

type ShareBarProps = { percent: number | undefined; width?: number; isBad?: boolean };

/** A share as a bar. The number is next to it. */
export function ShareBar({ percent = 0, width, isBad }: ShareBarProps) {
  return (
    <span className={styles.bar} aria-hidden style={width === undefined ? undefined : { width }}>
      <span className={styles.filled} data-bad={isBad} style={{ width: `${percent}%` }} />
    </span>
  );
}
