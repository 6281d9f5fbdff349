import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeId } from '../../src/domain/ids.ts';
import { operationReport } from '../../src/domain/segments/file-operations.ts';
import type { OperationReportInput } from '../../src/domain/segments/file-operations.ts';
import { makeSendEmails, makeSmtpClient } from '../../src/engine/outbox/emails.ts';
import {
  claimDueEmails,
  findMessage,
  insertEmail,
  listEmailAttempts,
  listMessages,
  resendMessage,
  settleMessage,
} from '../../src/storage/outbox/outbox.ts';
import type { NewEmail } from '../../src/storage/outbox/outbox.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const outcomes = makeOutcomeBuffer({ log: makeLog({ level: 'silent', pretty: false }), pause: async () => {} });
const start = new Date('2026-03-01T12:00:00Z');
const second = 1000;

type Received = { from: string; to: string[]; headers: string[]; text: string };
type Refusal = { command: 'RCPT' | 'DATA'; responseCode: number; message: string; only?: string };

/** A real SMTP server in this process that keeps what it takes and refuses what it is told to. */
function makeSmtpServer() {
  const received: Received[] = [];
  let refusal: Refusal | undefined;
  const refuse = (command: Refusal['command'], address?: string) => {
    if (refusal?.command !== command || (refusal.only !== undefined && refusal.only !== address)) return undefined;
    return Object.assign(new Error(refusal.message), { responseCode: refusal.responseCode });
  };
  let server: SMTPServer | undefined;
  let port = 0;
  return {
    received,
    refuse(next: Refusal | undefined) {
      refusal = next;
    },
    port: () => port,
    /** Starts on the port it had before, if any. */
    async up(): Promise<void> {
      server = new SMTPServer({
        disabledCommands: ['STARTTLS', 'AUTH'],
        logger: false,
        onRcptTo: (address, _session, done) => done(refuse('RCPT', address.address)),
        onData(stream, session, done) {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            const problem = refuse('DATA');
            if (!problem) {
              const message = Buffer.concat(chunks).toString('utf8');
              const end = message.indexOf('\r\n\r\n');
              const { mailFrom: sender, rcptTo } = session.envelope;
              received.push({
                from: sender ? sender.address : '',
                to: rcptTo.map((to) => to.address),
                // Unfolded: a long header goes on in a line that starts with a space.
                headers: message
                  .slice(0, end)
                  .replace(/\r\n[ \t]/g, ' ')
                  .split('\r\n'),
                text: message.slice(end + 4).replaceAll('\r\n', '\n'),
              });
            }
            done(problem);
          });
        },
      });
      await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve));
      port = (server.server.address() as AddressInfo).port;
    },
    down: () => new Promise<void>((resolve) => server!.close(() => resolve())),
  };
}

async function makeEmailBundle() {
  const { database, drop } = await createTestDatabase();
  const clock = makeManualClock(start);
  const workspaceId = await insertTestWorkspace(database, start);
  const smtp = makeSmtpServer();
  await smtp.up();
  const smtpClient = makeSmtpClient({
    url: `smtp://127.0.0.1:${smtp.port()}`,
    from: 'Carillon <reports@carillon.example>',
  });
  const job = makeSendEmails({ database, clock, smtpClient, outcomes });
  return {
    database,
    clock,
    workspaceId,
    smtp,
    smtpClient,
    async insert(email: Partial<NewEmail> = {}): Promise<string> {
      const id = makeId(clock.now());
      await insertEmail(database, {
        id,
        workspaceId,
        operationId: null,
        recipients: ['ann@customer.example'],
        subject: 'Segment "Lapsed": created',
        body: 'Users: 3\n',
        state: 'PENDING',
        at: clock.now(),
        ...email,
      });
      return id;
    },
    run: () => job.runOnce(clock.now()),
    async runAfter(seconds: number): Promise<void> {
      clock.advance(seconds * second - 1);
      expect(await job.runOnce(clock.now())).toBe(0);
      clock.advance(1);
      expect(await job.runOnce(clock.now())).toBe(1);
    },
    find: async (id: string) =>
      (await listMessages(database, { channel: 'emails', workspaceId, limit: 100 })).find((email) => email.id === id)!,
    async drop(): Promise<void> {
      smtpClient.close();
      await smtp.down();
      await drop();
    },
  };
}

let bundle: Awaited<ReturnType<typeof makeEmailBundle>>;
const header = (email: Received, name: string) =>
  email.headers.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));

/** Bytes written as =C3=AB (RFC 2045 §6.7), read as UTF-8. */
const unquote = (text: string) =>
  decodeURIComponent(
    text
      .replaceAll('=\n', '')
      .replaceAll('%', '=25')
      .replace(/=([0-9A-F]{2})/g, '%$1'),
  );

/** The subject as a mail reader shows it: encoded words (RFC 2047 §4), the space between two dropped. */
const subjectsOf = (email: Received) =>
  header(email, 'Subject').map((line) =>
    line
      .slice('Subject: '.length)
      .replaceAll('?= =?', '?==?')
      .replace(/=\?UTF-8\?Q\?([^?]*)\?=/g, (_, text: string) => unquote(text.replaceAll('_', ' ')))
      .replace(/=\?UTF-8\?B\?([^?]*)\?=/g, (_, text: string) => Buffer.from(text, 'base64').toString('utf8')),
  );

describe('emails', () => {
  beforeEach(async () => {
    bundle = await makeEmailBundle();
  });
  afterEach(() => bundle.drop());

  test('sends a waiting email once, with its subject and text', async () => {
    const id = await bundle.insert({ recipients: ['ann@customer.example', 'ben@customer.example'] });
    expect(await bundle.run()).toBe(1);
    const [email] = bundle.smtp.received;
    expect(email).toMatchObject({
      from: 'reports@carillon.example',
      to: ['ann@customer.example', 'ben@customer.example'],
      text: 'Users: 3\n',
    });
    expect(subjectsOf(email!)).toEqual(['Segment "Lapsed": created']);
    expect(header(email!, 'From')).toEqual(['From: Carillon <reports@carillon.example>']);
    expect(header(email!, 'Message-ID')).toEqual([`Message-ID: <${id}@carillon.example>`]);
    expect(header(email!, 'Auto-Submitted')).toEqual(['Auto-Submitted: auto-generated']);
    expect(header(email!, 'Content-Type')).toEqual(['Content-Type: text/plain; charset=utf-8']);
    expect(await bundle.find(id)).toMatchObject({
      state: 'SENT',
      attempts: 1,
      nextAt: null,
      error: null,
      endedAt: start,
    });
    bundle.clock.advance(86_400 * second);
    expect(await bundle.run()).toBe(0);
  });

  test('keeps the characters of a subject and text in other scripts', async () => {
    await bundle.insert({ subject: 'Segment "Zoë ✓ 日本"', body: 'Segment: Zoë ✓ 日本\n' });
    await bundle.run();
    const [email] = bundle.smtp.received;
    expect(subjectsOf(email!)).toEqual(['Segment "Zoë ✓ 日本"']);
    expect(header(email!, 'Content-Transfer-Encoding')).toEqual(['Content-Transfer-Encoding: quoted-printable']);
    expect(unquote(email!.text)).toBe('Segment: Zoë ✓ 日本\n');
  });

  test('shows a kept email and never sends it', async () => {
    const id = await bundle.insert({ state: 'KEPT' });
    expect(await bundle.run()).toBe(0);
    expect(await bundle.find(id)).toMatchObject({ state: 'KEPT', nextAt: null, endedAt: start, body: 'Users: 3\n' });
    const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 1));
    expect(await listMessages(bundle.database, { channel: 'emails', workspaceId: other, limit: 10 })).toEqual([]);
  });

  test('fails an email immediately, with the reason, if the server permanently rejects its recipient', async () => {
    bundle.smtp.refuse({ command: 'RCPT', responseCode: 550, message: 'No such user here' });
    const id = await bundle.insert();
    await bundle.run();
    const email = await bundle.find(id);
    expect(email).toMatchObject({ state: 'FAILED', attempts: 1, nextAt: null });
    expect(email.error).toContain('550 No such user here');
    expect(bundle.smtp.received).toEqual([]);
  });

  test('sends an email to the accepted one of two recipients once, and shows the rejection of the other', async () => {
    bundle.smtp.refuse({
      command: 'RCPT',
      responseCode: 550,
      message: 'No such user here',
      only: 'ann@customer.example',
    });
    const id = await bundle.insert({ recipients: ['ann@customer.example', 'ben@customer.example'] });
    await bundle.run();
    expect(bundle.smtp.received.map((email) => email.to)).toEqual([['ben@customer.example']]);
    const email = await bundle.find(id);
    expect(email.state).toBe('SENT');
    expect(email.error).toContain('550 No such user here');
    bundle.clock.advance(86_400 * second);
    expect(await bundle.run()).toBe(0);
  });

  test('fails a permanently rejected message immediately, and retries a temporarily rejected one', async () => {
    bundle.smtp.refuse({ command: 'DATA', responseCode: 554, message: 'Spam' });
    const refused = await bundle.insert();
    await bundle.run();
    expect((await bundle.find(refused)).state).toBe('FAILED');
    bundle.smtp.refuse({ command: 'DATA', responseCode: 451, message: 'Come back later' });
    const deferred = await bundle.insert();
    await bundle.run();
    const email = await bundle.find(deferred);
    expect(email).toMatchObject({ state: 'PENDING', attempts: 1, nextAt: new Date(start.getTime() + 60 * second) });
    expect(email.error).toContain('451 Come back later');
    bundle.smtp.refuse(undefined);
    await bundle.runAfter(60);
    expect(await bundle.find(deferred)).toMatchObject({ state: 'SENT', attempts: 2, error: null });
  });

  test('sends an email after the server returns, with the same Message-ID', async () => {
    await bundle.smtp.down();
    const id = await bundle.insert();
    expect(await bundle.run()).toBe(1);
    expect(await bundle.find(id)).toMatchObject({ state: 'PENDING', attempts: 1 });
    expect((await bundle.find(id)).error).toContain('ECONNREFUSED');
    await bundle.runAfter(60);
    await bundle.smtp.up();
    await bundle.runAfter(600);
    expect(await bundle.find(id)).toMatchObject({ state: 'SENT', attempts: 3, error: null });
    expect(bundle.smtp.received.map((email) => header(email, 'Message-ID'))).toEqual([
      [`Message-ID: <${id}@carillon.example>`],
    ]);
  });

  test('fails an email after four attempts over 60 s, 10 min and 1 h', async () => {
    await bundle.smtp.down();
    const id = await bundle.insert();
    await bundle.run();
    for (const seconds of [60, 600, 3_600]) await bundle.runAfter(seconds);
    const email = await bundle.find(id);
    expect(email).toMatchObject({ state: 'FAILED', attempts: 4, nextAt: null, endedAt: bundle.clock.now() });
    expect(email.error).toContain('ECONNREFUSED');
    bundle.clock.advance(365 * 86_400 * second);
    expect(await bundle.run()).toBe(0);
    await bundle.smtp.up();
  });

  test('keeps every attempt with the response of the server, and restarts the schedule when an email is resent', async () => {
    const { database, workspaceId, clock, smtp } = bundle;
    smtp.refuse({ command: 'DATA', responseCode: 451, message: 'come back later' });
    const id = await bundle.insert();
    await bundle.run();
    const again = () => resendMessage(database, { channel: 'emails', workspaceId, id, at: clock.now() });
    expect(await again()).toBe(false);
    smtp.refuse({ command: 'DATA', responseCode: 550, message: 'not for us' });
    await bundle.runAfter(60);
    expect((await bundle.find(id)).state).toBe('FAILED');
    smtp.refuse(undefined);
    expect(await resendMessage(database, { channel: 'emails', workspaceId: 'other', id, at: clock.now() })).toBe(false);
    expect(await again()).toBe(true);
    expect(await again()).toBe(false);
    await bundle.run();
    expect(await findMessage(database, { channel: 'emails', workspaceId, id })).toMatchObject({
      state: 'SENT',
      error: null,
    });
    const attempts = await listEmailAttempts(database, id);
    expect(attempts.map(({ number, isTaken }) => [number, isTaken])).toEqual([
      [1, false],
      [2, false],
      [11, true],
    ]);
    expect(attempts.map(({ answer }) => answer)).toEqual([
      expect.stringContaining('451 come back later'),
      expect.stringContaining('550 not for us'),
      expect.stringMatching(/^250 /),
    ]);
    expect(attempts[0]!.at).toEqual(start);
  });

  test('reports a missing mail server when a kept email is resent, and keeps the email', async () => {
    const { database, workspaceId, clock } = bundle;
    const id = await bundle.insert({ state: 'KEPT' });
    expect(await resendMessage(database, { channel: 'emails', workspaceId, id, at: clock.now() })).toBe(true);
    await makeSendEmails({ database, clock, smtpClient: undefined, outcomes }).runOnce(clock.now());
    expect(await bundle.find(id)).toMatchObject({
      state: 'KEPT',
      error: 'no mail server is set (CARILLON_SMTP_URL)',
    });
    expect(await listEmailAttempts(database, id)).toMatchObject([{ number: 11, isTaken: false }]);
  });

  test('sends each email once from two concurrent nodes', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => bundle.insert()));
    const { database, clock, smtpClient } = bundle;
    const nodes = [
      makeSendEmails({ database, clock, smtpClient, outcomes }),
      makeSendEmails({ database, clock, smtpClient, outcomes }),
    ];
    await Promise.all(nodes.map((node) => node.runOnce(clock.now())));
    await bundle.run();
    const sent = bundle.smtp.received.map((email) => /<(\w+)@/.exec(header(email, 'Message-ID')[0]!)![1]);
    expect(sent.toSorted()).toEqual(ids.toSorted());
  });

  test('sends an email again after the lease of a crashed worker, and ignores its late outcome', async () => {
    const { database } = bundle;
    const id = await bundle.insert();
    const leaseUntil = new Date(start.getTime() + 120 * second);
    const [lost] = await claimDueEmails(database, {
      at: start,
      leasedAt: start,
      leaseUntil,
      limit: 1,
    });
    const late = { state: 'FAILED', endedAt: start, error: 'late' } as const;
    const settleLate = () =>
      settleMessage(database, { channel: 'emails', id, attempts: lost!.attempts, outcome: late });
    bundle.smtp.refuse({ command: 'DATA', responseCode: 451, message: 'Come back later' });
    await bundle.runAfter(120);
    expect(await settleLate()).toBe(false);
    expect(await bundle.find(id)).toMatchObject({ state: 'PENDING', attempts: 2 });
    bundle.smtp.refuse(undefined);
    await bundle.runAfter(600);
    expect(await settleLate()).toBe(false);
    expect(await bundle.find(id)).toMatchObject({ state: 'SENT', attempts: 3 });
  });

  test('fails an email that kills its worker on every attempt', async () => {
    const { database, clock } = bundle;
    const id = await bundle.insert();
    for (let count = 1; count <= 4; count += 1) {
      const at = clock.now();
      await claimDueEmails(database, {
        at,
        leasedAt: at,
        leaseUntil: new Date(at.getTime() + 120 * second),
        limit: 1,
      });
      clock.advance(120 * second);
    }
    await bundle.run();
    expect(await bundle.find(id)).toMatchObject({ state: 'FAILED', error: 'the last attempt did not end' });
    expect(bundle.smtp.received).toEqual([]);
  });

  test('prevents line breaks in a segment name from injecting a header, a recipient or a line of the report', async () => {
    const segmentName = 'Lapsed\r\nBcc: eve@evil.example\r\n\r\nUsers: 999999\n.\r\nRCPT TO:<eve@evil.example>';
    const report = operationReport({ ...success, segmentName });
    await bundle.insert(report);
    await bundle.run();
    const [email] = bundle.smtp.received;
    expect(email!.to).toEqual(['ann@customer.example']);
    expect(header(email!, 'Bcc')).toEqual([]);
    expect(subjectsOf(email!)).toEqual([
      'Segment "Lapsed Bcc: eve@evil.example Users: 999999 . RCPT TO:<eve@evil.example>": created',
    ]);
    expect(email!.text.match(/^Users: .*$/gm)).toEqual(['Users: 7']);
  });

  test('prevents injection by an unclean subject or recipient, too', async () => {
    await bundle.insert({ subject: 'Hi\r\nBcc: eve@evil.example\r\n\r\nbody' });
    await bundle.insert({ recipients: ['ann@customer.example\r\nRCPT TO:<eve@evil.example>'] });
    await bundle.insert({ recipients: ['ann@customer.example, eve@evil.example'] });
    await bundle.run();
    expect(bundle.smtp.received.flatMap((email) => email.to)).toEqual(['ann@customer.example']);
    expect(bundle.smtp.received.flatMap((email) => header(email, 'Bcc'))).toEqual([]);
  });
});

const success: OperationReportInput = {
  segmentName: 'Lapsed',
  kind: 'CREATE',
  requestId: 'a'.repeat(32),
  result: { status: 201, valuesFound: 10, valuesProcessed: 8, userCount: 7 },
  rejects: [],
};

describe('the report of a segment operation', () => {
  test('lists the counts and the rejected lines of a success', () => {
    const rejects = [
      { line: 9, reason: 'empty' },
      { line: 4, reason: 'a quote' },
    ];
    expect(operationReport({ ...success, rejects })).toEqual({
      subject: 'Segment "Lapsed": created',
      body: [
        'Segment: Lapsed',
        'Operation: create',
        `Request: ${'a'.repeat(32)}`,
        '',
        'Succeeded with status 201.',
        'Values found: 10',
        'Values processed: 8',
        'Users: 7',
        '',
        'Rejected lines of the file:',
        '  line 4: a quote',
        '  line 9: empty',
        '',
      ].join('\n'),
    });
  });

  test('states the cause of a failure', () => {
    const report = operationReport({
      ...success,
      kind: 'REPLACE',
      result: { status: 400, errorMessage: 'File download failed.' },
    });
    expect(report.subject).toBe('Segment "Lapsed": replacing users failed');
    expect(report.body).toContain('\nFailed with status 400: File download failed.\n');
    expect(report.body).not.toContain('Values');
  });

  test.each([
    ['CREATE', 'created'],
    ['ADD', 'users added'],
    ['REMOVE', 'users removed'],
    ['REPLACE', 'users replaced'],
  ] as const)('describes %s in its subject as "%s"', (kind, words) => {
    expect(operationReport({ ...success, kind }).subject).toBe(`Segment "Lapsed": ${words}`);
  });

  test('lists the first 20 rejected lines, and the number of the others', () => {
    const rejects = Array.from({ length: 50 }, (_, index) => ({ line: index + 1, reason: 'empty' }));
    const { body } = operationReport({ ...success, rejects });
    expect(body.match(/^ {2}line \d+: empty$/gm)?.length).toBe(20);
    expect(body).toContain('  line 20: empty\n  and 30 more\n');
  });

  test('removes every control character and direction override from subject and name, and keeps other characters', () => {
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => character < ' ' || character >= '\x7f',
    );
    for (const character of [...controls, '\u2028', '\u2029', '\u202e', '\u2066', '\ud800']) {
      const { subject, body } = operationReport({ ...success, segmentName: `Zoë${character}👩‍💻` });
      expect(subject).toMatch(/^Segment "Zoë[ \ufffd]👩‍💻": created$/u);
      expect(body.split('\n')[0]).toMatch(/^Segment: Zoë[ \ufffd]👩‍💻$/u);
    }
  });

  test('truncates a very long name in the subject between characters', () => {
    const { subject } = operationReport({ ...success, segmentName: '👋'.repeat(500) });
    expect(subject).toBe(`Segment "${'👋'.repeat(119)}…": created`);
    expect(subject.isWellFormed()).toBe(true);
  });
});
