import styles from './waiting.module.css';

/** A placeholder of about the height of the content that is loading. */
export function Waiting({ rows = 4 }: { rows?: number }) {
  return (
    <div role="progressbar" aria-label="Loading" className={styles.lines}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles.line} style={{ width: row === 0 ? '40%' : `${96 - ((row * 7) % 20)}%` }} />
      ))}
    </div>
  );
}
