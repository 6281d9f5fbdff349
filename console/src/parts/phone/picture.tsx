import { IconPhotoOff } from '@tabler/icons-react';
import { useState } from 'react';
import styles from './phone.module.css';

type PictureProps = { src: string | undefined; className: string | undefined; name: string };

/** A picture from wherever the message says; one that does not load says so. */
export function Picture({ src, className = '', name }: PictureProps) {
  const [failed, setFailed] = useState<string>();
  if (src === undefined || src === '') return null;
  // The console's own policy lets in what travels encrypted alone.
  if (src.startsWith('https:') && failed !== src)
    return <img src={src} alt="" className={className} referrerPolicy="no-referrer" onError={() => setFailed(src)} />;
  const reason = failed === src ? `The ${name} does not load here` : `The ${name} is shown here over https only`;
  return (
    <span role="img" aria-label={reason} title={reason} className={`${className} ${styles.missing}`}>
      <IconPhotoOff size={18} stroke={1.6} aria-hidden />
    </span>
  );
}
