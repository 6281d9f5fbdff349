import { Text } from '@mantine/core';
import { useState } from 'react';

type PictureProps = { src: string | undefined; className: string; name: string };

/** A picture from wherever the campaign says; one that does not load says so. */
export function Picture({ src, className, name }: PictureProps) {
  const [failed, setFailed] = useState<string>();
  if (src === undefined || src === '') return null;
  // The console's own policy lets in what travels encrypted alone.
  if (!src.startsWith('https:') || failed === src)
    return (
      <Text size="xs" c="gray.7">
        {failed === src ? `The ${name} does not load here.` : `The ${name} is shown from https alone here.`}
      </Text>
    );
  return <img src={src} alt="" className={className} referrerPolicy="no-referrer" onError={() => setFailed(src)} />;
}
