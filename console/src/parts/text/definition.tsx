import { Tooltip, UnstyledButton } from '@mantine/core';
import { glossary } from './glossary.ts';
import type { GlossaryWord } from './glossary.ts';

/** A word with what it means here: on pointing at it, on reaching it by keyboard, on touching it. */
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
