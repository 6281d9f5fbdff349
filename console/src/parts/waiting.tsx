import styles from './waiting.module.css';

/** In the place of what is on its way, about as high as it will be. */
export function Waiting({ rows = 4 }: { rows?: number }) {
  return (
    <div role="progressbar" aria-label="Loading" className={styles.lines}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles.line} style={{ width: row === 0 ? '40%' : `${96 - ((row * 7) % 20)}%` }} />
      ))}
    </div>
  );
}
