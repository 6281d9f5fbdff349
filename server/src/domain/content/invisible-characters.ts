/**
 * Characters that a reader does not see but a language model reads: controls, format characters such as zero-width and
 * bidirectional marks, tag characters, variation selectors, which can carry any bytes behind one emoji, and private use. Line breaks and
 * tabs are kept, and so is the selector that makes a character an emoji; a joiner inside an emoji is written out as well.
 */
const invisible =
  /(?<!\p{Emoji})\uFE0F|[^\P{Cc}\n\t]|(?!\uFE0F)[\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Writes invisible characters out, as `\u{202E}`. Pure. */
export function revealInvisible(text: string): string {
  return text.replace(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`);
}
