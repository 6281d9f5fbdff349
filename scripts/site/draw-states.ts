import { Graph, layout } from '@dagrejs/dagre';

type Arrow = { from: string; to: string; words: string };
type Point = { x: number; y: number };

// The maximum width of a letter in the fonts of site.css.
const [stateLetterWidth, wordLetterWidth, lineHeight, maxLineLetters] = [8.2, 6.6, 16, 17];
const dot = 14;

/**
 * Draws the state diagrams of the pages as SVG, from the small part of Mermaid's language that `scripts/render-states.ts`
 * writes. They are drawn when the site is built, so that a page needs neither a script nor additional styles.
 */
export function drawStates(source: string): string {
  const { title, arrows } = parse(source);
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 16, edgesep: 12, ranksep: 26, marginx: 6, marginy: 6 });
  for (const { from, to, words } of arrows) {
    for (const state of [from, to]) graph.setNode(state, sizeOf(state));
    const lines = wrap(words);
    const width = Math.max(...lines.map((line) => line.length)) * wordLetterWidth;
    graph.setEdge(from, to, { lines, width, height: lines.length * lineHeight, labelpos: 'c' });
  }
  layout(graph);
  const { width, height } = graph.graph() as { width: number; height: number };
  const states = graph.nodes().map((state: string) => drawState(state, graph.node(state) as Point & Size));
  const drawn = graph.edges().map((edge: object): Drawn => drawArrow(graph.edge(edge) as DrawnArrow));
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  return (
    `<div class="states" tabindex="0"><svg role="img" aria-label="${escape(describe(title, arrows))}" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">` +
    `${drawn.map(({ line }: Drawn) => line).join('')}${states.join('')}${drawn.map(({ words }: Drawn) => words).join('')}</svg></div>\n`
  );
}

/** Describes the diagram in a sentence, for screen readers. */
function describe(title: string, arrows: readonly Arrow[]): string {
  const told = arrows.map(({ from, to, words }) => `${from} to ${to} by ${words}`);
  return `${title}. ${told.join('; ')}.`;
}

function parse(source: string): { title: string; arrows: Arrow[] } {
  const [, title] = /^ *accTitle: (.+)$/m.exec(source) ?? [];
  const arrows = [...source.matchAll(/^ *(\S+) --> (\S+) : ([^:;\n]+)$/gm)].map(([, from, to, words]): Arrow => ({
    from: from === '[*]' ? 'begin' : from!,
    to: to === '[*]' ? 'end' : to!,
    words: words!,
  }));
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  if (title === undefined || lines.length !== arrows.length + 2) throw new Error(`no diagram of states: ${source}`);
  return { title, arrows };
}

type Size = { width: number; height: number };
const sizeOf = (state: string): Size =>
  state === 'begin' || state === 'end'
    ? { width: dot, height: dot }
    : { width: state.length * stateLetterWidth + 28, height: 34 };

function wrap(words: string): string[] {
  const lines = [''];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= maxLineLetters) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter((line) => line !== '');
}

function drawState(state: string, { x, y, width, height }: Point & Size): string {
  if (state === 'begin') return `<circle class="begin" cx="${round(x)}" cy="${round(y)}" r="6"/>`;
  if (state === 'end')
    return `<circle class="end" cx="${round(x)}" cy="${round(y)}" r="6"/><circle class="begin" cx="${round(x)}" cy="${round(y)}" r="3"/>`;
  const corner = `x="${round(x - width / 2)}" y="${round(y - height / 2)}"`;
  return `<rect ${corner} width="${round(width)}" height="${height}" rx="8"/><text class="state" x="${round(x)}" y="${round(y + 4.5)}">${escape(state)}</text>`;
}

type DrawnArrow = Point & { points: Point[]; lines: string[] };
type Drawn = { line: string; words: string };

function drawArrow({ points, lines, x, y }: DrawnArrow): Drawn {
  const top = y - ((lines.length - 1) * lineHeight) / 2 + 4;
  const spans = lines.map(
    (line, index) => `<tspan x="${round(x)}" y="${round(top + index * lineHeight)}">${escape(line)}</tspan>`,
  );
  return { line: `<path d="${curve(points)}"/>${head(points)}`, words: `<text>${spans.join('')}</text>` };
}

/**
 * The curve is vertical at each point, so that it passes through the middle of its label and enters a state from above or
 * below.
 */
function curve(points: Point[]): string {
  const pieces = points.slice(1).map((point, index) => {
    const before = points[index]!;
    const middle = (before.y + point.y) / 2;
    return `C${at({ x: before.x, y: middle })} ${at({ x: point.x, y: middle })} ${at(point)}`;
  });
  return `M${at(points[0]!)}${pieces.join('')}`;
}

function head(points: Point[]): string {
  const [before, tip] = points.slice(-2) as [Point, Point];
  const back = Math.sign(before.y - tip.y) * 8;
  return `<polygon points="${at(tip)} ${at({ x: tip.x - 4, y: tip.y + back })} ${at({ x: tip.x + 4, y: tip.y + back })}"/>`;
}

const round = (number: number): number => Math.round(number * 10) / 10;
const at = ({ x, y }: Point): string => `${round(x)},${round(y)}`;
const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
