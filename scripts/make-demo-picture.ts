/**
 * Draws the animated picture of the README (docs/pictures/first-push.svg): sends a push to a sandbox as the page describes, and
 * draws the typed command, the response and the message. Plain SVG with styles: sharp at any size, light and dark, and still
 * for readers who prefer reduced motion. Usage: npm run demo:picture
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTestServer } from '../server/src/testing/create-test-server.ts';

const file = join(import.meta.dirname, '..', 'docs', 'pictures', 'first-push.svg');
const message = { title: 'Order 17', message: 'Ready. See you soon, Ada!' };
const body = {
  campaignName: 'Order is ready',
  targetPlatform: ['ANDROID'],
  targetAudience: 'User',
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ada' },
  payload: { ANDROID: message },
  campaignDelivery: { type: 'soon' },
};

const { answer, shown } = await send();
// The shown curl command, without the parts that every push has.
const typed = [
  '$ curl http://127.0.0.1:8080/v2.1/transaction/sendpush \\',
  "    -H 'X-SVC-APPKEY: …' -H 'X-SVC-PushAPI-Signature: …' \\",
  "    -H 'X-SVC-Query-Type: user' -d '{",
  `      "campaignName": "${body.campaignName}",`,
  '      "targetUserAttributes": { … "ada" },',
  `      "payload": { "ANDROID": { "title": "${message.title}",`,
  `        "message": "${message.message}" } }, …`,
  "    }'",
];
await mkdir(dirname(file), { recursive: true });
await writeFile(file, draw(typed, { answer: `{"status":"${answer}", …}`, ...shown }));
process.stdout.write(`${file}\n`);

async function send(): Promise<{ answer: string; shown: { title: string; text: string } }> {
  await using server = await createTestServer();
  const text = `${server.workspaceId}|${body.campaignName}|${server.keys.push}`;
  const reply = await fetch(`${server.url}/v2.1/transaction/sendpush`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-appkey': server.workspaceId,
      'x-svc-pushapi-signature': createHash('sha256').update(text).digest('hex'),
      'x-svc-query-type': 'user',
    },
    body: JSON.stringify(body),
  });
  const { status } = (await reply.json()) as { status: string };
  const inbox = (await (await fetch(`${server.inbox}?wait=10000`)).json()) as {
    messages: { title: string; body: string }[];
  };
  const [first] = inbox.messages;
  if (status !== 'Success' || first === undefined) throw new Error(`the push was not shown: ${status}`);
  return { answer: status, shown: { title: first.title, text: first.body } };
}

function draw(lines: string[], { answer, title, text }: { answer: string; title: string; text: string }): string {
  const rows = lines.map((line, index) => row(line, index, 'typed'));
  rows.push(row(answer, lines.length + 0.5, 'answer'));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 300" width="860" height="300" role="img" aria-label="A push is sent by curl, and shown on a simulated phone">
<style>
  .page { fill: #f8f9fb; stroke: #d5dae1 } .phone { fill: #fff; stroke: #98a2b3 } .bar { fill: #d5dae1 }
  text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1d2939; white-space: pre }
  .answer { fill: #067647 } .card { fill: #eef2ff; stroke: #c7d2fe } .icon { fill: #4338ca }
  .title { font: 600 14px -apple-system, 'Segoe UI', Roboto, Arial, sans-serif } .text { font: 13px -apple-system, 'Segoe UI', Roboto, Arial, sans-serif }
  @media (prefers-color-scheme: dark) {
    .page { fill: #151b25; stroke: #2b3342 } .phone { fill: #10151d; stroke: #667085 } .bar { fill: #2b3342 }
    text { fill: #d3d8e2 } .answer { fill: #75e0a7 } .card { fill: #1f2445; stroke: #4338ca } .icon { fill: #6366f1 }
  }
  @media (prefers-reduced-motion: no-preference) {
    .typed, .answer, .shown { animation: 9s linear infinite both }
${lines.map((_line, index) => `    .row${index} { animation-name: row${index} }`).join('\n')}
    .answer { animation-name: answer } .shown { animation-name: shown }
${lines.map((_line, index) => `    @keyframes row${index} { 0%, ${4 + index * 4}% { opacity: 0 } ${5 + index * 4}%, 97% { opacity: 1 } 100% { opacity: 0 } }`).join('\n')}
    @keyframes answer { 0%, 42% { opacity: 0 } 43%, 97% { opacity: 1 } 100% { opacity: 0 } }
    @keyframes shown { 0%, 50% { opacity: 0; transform: translateY(-14px) } 54%, 97% { opacity: 1; transform: none } 100% { opacity: 0 } }
  }
</style>
<rect class="page" x="1" y="1" width="598" height="298" rx="12"/>
${[22, 40, 58].map((x) => `<circle class="bar" cx="${x}" cy="22" r="6"/>`).join('')}
${rows.join('\n')}
<rect class="phone" x="631" y="1" width="208" height="298" rx="26" stroke-width="2"/>
<rect class="bar" x="705" y="14" width="60" height="7" rx="3.5"/>
<g class="shown"><rect class="card" x="643" y="44" width="184" height="84" rx="14"/><circle class="icon" cx="664" cy="66" r="9"/>
<text class="title" x="681" y="71">${escape(title)}</text>
${wrap(text, 24)
  .map((part, index) => `<text class="text" x="657" y="${97 + index * 17}">${escape(part)}</text>`)
  .join('')}</g>
</svg>
`;
}

function row(line: string, index: number, kind: 'typed' | 'answer'): string {
  const name = kind === 'typed' ? `typed row${index}` : kind;
  return `<text class="${name}" x="22" y="${62 + index * 24}">${escape(line)}</text>`;
}

/** Wraps words into lines of this many characters. */
function wrap(text: string, characters: number): string[] {
  return text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= characters) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
