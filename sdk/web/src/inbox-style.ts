/** The look of the inbox. Custom properties set its colours and measures, and `::part()` reaches everything else. */
export const inboxStyle = `
:host {
  display: block;
  color: var(--carillon-inbox-color, #1c1c1c);
  background: var(--carillon-inbox-background, #fff);
  font: var(--carillon-inbox-font, inherit);
  border: 1px solid var(--carillon-inbox-border, #d0d0d0);
  border-radius: var(--carillon-inbox-radius, 8px);
  overflow: hidden;
}
:host([hidden]) { display: none; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: var(--carillon-inbox-space, 12px); }
h2, h3, p { margin: 0; font-size: 1em; }
h2 { font-size: 1.1em; }
header > button { margin-inline-start: auto; }
[part=count], time, [part=note] { color: var(--carillon-inbox-muted, #595959); font-size: .9em; }
[part=note] { padding: var(--carillon-inbox-space, 12px); }
article { padding: var(--carillon-inbox-space, 12px); border-top: 1px solid var(--carillon-inbox-border, #d0d0d0); }
article:not([part~=unread]) h3 { font-weight: 500; }
[part~=unread] { background: var(--carillon-inbox-unread, #eef4ff); }
[part=dot] {
  display: inline-block; width: 8px; height: 8px; margin-inline-end: 8px; border-radius: 50%;
  background: var(--carillon-inbox-accent, #0b57d0);
}
a { color: inherit; text-underline-offset: 2px; }
p { overflow-wrap: anywhere; white-space: pre-line; }
img { display: block; max-width: 100%; height: auto; margin-block: 8px; border-radius: var(--carillon-inbox-radius, 8px); }
[part=actions] { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 8px; }
button {
  min-height: 32px; padding: 4px 10px; font: inherit; font-size: .9em; cursor: pointer;
  color: var(--carillon-inbox-accent, #0b57d0); background: transparent;
  border: 1px solid var(--carillon-inbox-border, #d0d0d0); border-radius: var(--carillon-inbox-radius, 8px);
}
[part=feed] + button { display: block; margin: var(--carillon-inbox-space, 12px); }
:focus-visible { outline: 2px solid var(--carillon-inbox-accent, #0b57d0); outline-offset: -2px; }
`;
