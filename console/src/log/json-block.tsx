import { Box, Code } from '@mantine/core';
import copyable from '../parts/copyable.module.css';
import { CopyTextButton } from '../parts/copyable.tsx';
import styles from './json-block.module.css';

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(\btrue\b|\bfalse\b|\bnull\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** Shows JSON with one member per line and colours. Other text is shown unchanged. */
export function JsonBlock({ text, label }: { text: string; label: string }) {
  const pretty = prettyJson(text);
  return (
    <Box className={copyable.block}>
      <Code block tabIndex={0} role="region" aria-label={label} className={copyable.lines}>
        {pretty === undefined ? text : [...colourTokens(pretty)]}
      </Code>
      <Box className={copyable.button}>
        <CopyTextButton text={pretty ?? text} label={label} />
      </Box>
    </Box>
  );
}

/** Returns undefined for text that is not JSON, such as a truncated body. */
function prettyJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

function* colourTokens(text: string) {
  let last = 0;
  for (const match of text.matchAll(token)) {
    const [whole, string, colon] = match;
    yield text.slice(last, match.index);
    const kind = string === undefined ? styles.value : colon === undefined ? styles.text : styles.name;
    yield (
      <span key={match.index} className={kind}>
        {string ?? whole}
      </span>
    );
    if (colon !== undefined) yield colon;
    last = match.index + whole.length;
  }
  yield text.slice(last);
}
