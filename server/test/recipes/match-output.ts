/**
 * Whether a command printed what its page shows: `…` stands for anything within a line but nothing, and a line of `…` alone
 * for any number of lines.
 */
export function matchOutput(shown: string, printed: string): boolean {
  const lines = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '…' ? anyLines : `${line.split('…').map(escapeText).join('[^\\n]+?')}\\n`));
  return new RegExp(`^${lines.join('')}$`).test(`${printed.trimEnd()}\n`);
}

const anyLines = '(?:[^\\n]*\\n)*?';

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
