import type { CampaignBody } from '@carillon/client';
import { useEffect, useRef } from 'react';
import { platformPath, platformsOf, textAt } from './campaign-body.ts';
import type { Step } from './steps.ts';

const namePath = 'basic_details.name';
/** The limit of the server (domain/limits). */
const maxNameCharacters = 256;

type Named = { body: CampaignBody; step: Step; write: (changes: Record<string, unknown>) => void };

/** Names a campaign without a name after its title when a step begins, and keeps that name equal to the title until it is changed. */
export function useNameFromTitle({ body, step, write }: Named): void {
  const given = useRef<string>(undefined);
  const latest = useRef({ body, write });
  latest.current = { body, write };
  useEffect(() => {
    const { body: present, write: change } = latest.current;
    const name = textAt(present, namePath).trim();
    if (name !== '' && name !== given.current) return;
    const title = nameOf(present);
    if (title === '' || title === name) return;
    given.current = title;
    change({ [namePath]: title });
  }, [step]);
}

/** The title of the first platform, without templates, as the name of a campaign. */
export function nameOf(body: CampaignBody): string {
  const [first] = platformsOf(body);
  if (first === undefined) return '';
  const title = textAt(body, `${platformPath({ body }, first)}.basic_details.title`);
  const plain = title.replace(/\{\{.*?\}\}|\{%.*?%\}/g, ' ').replace(/\s+/g, ' ');
  return [...plain.replace(/^[\s,;:–-]+|[\s,;:–-]+$/g, '')].slice(0, maxNameCharacters).join('');
}
