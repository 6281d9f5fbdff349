import { Tooltip, UnstyledButton } from '@mantine/core';
import { glossary } from './glossary.ts';
import type { GlossaryWord } from './glossary.ts';

/** A term whose definition appears on hover, focus and touch. */
export function Definition({ word }: { word: GlossaryWord }) {
  const means = glossary[word];
  return (
    <Tooltip label={means} multiline w={280} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton
        component="span"
        tabIndex={0}
        role="note"
        aria-label={`${word}: ${means}`}
        style={{ textDecoration: 'underline dotted', textUnderlineOffset: 3, cursor: 'help', fontSize: 'inherit' }}
      >
        {word}
      </UnstyledButton>
    </Tooltip>
  );
}
