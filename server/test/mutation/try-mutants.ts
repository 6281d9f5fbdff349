import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { TestRunner } from 'vitest';
import { isInSample, readAssignment } from './assignment.ts';
import type { Finding } from './assignment.ts';

/** What the code that Stryker changed reads and writes. */
type Switches = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
};
type Task = Parameters<TestRunner['onAfterRetryTask']>[0];
type Suite = Parameters<TestRunner['onAfterRunSuite']>[0];

/** How often a mutant may run for once that the code ran without it, before it counts as an endless loop. */
const loopFactor = 20;
/**
 * What a test is given for all its mutants: so long, or so many times what it takes by itself where that is longer (one with a
 * database). Those that it has not tried by then are noted.
 */
const maxTest = { ms: 15_000, times: 200 };
/**
 * A mutant that so many tests of a file, for so long, came through unharmed is left, and one on which so long was spent; that can
 * only lower the score.
 */
const enough = { tries: 40, ms: 1_000, msInAll: 8_000 };
const tried = new Map<string, { tries: number; ms: number }>();

const assignment = readAssignment();
const decided = new Set(assignment.decided);
const global = globalThis as unknown as { __stryker__?: Switches };
const switches: Switches = (global.__stryker__ ??= {});
if (assignment.mutant !== undefined) switches.activeMutant = assignment.mutant;

function note(finding: Finding): void {
  appendFileSync(assignment.findings, `${JSON.stringify(finding)}\n`);
}

type Progress = {
  id: string;
  stage: 'first' | 'again' | 'mutants' | 'last';
  hits: Record<string, number>;
  waiting: string[];
  mutant?: string | undefined;
  triedAt?: number;
  /** A try has begun, and nothing is known of its end. */
  isOpen: boolean;
  killed: Finding[];
  beganAt: number;
  maxMs: number;
};

/**
 * Tries every mutant that a test runs into at once, in the process that has loaded everything: the test is repeated, with its hooks,
 * once for each mutant that no test has killed. A process for each would take a second; this takes what the test takes.
 */
class TryMutants extends TestRunner {
  #progress: Progress | undefined;

  override async onBeforeRunTask(test: Task): Promise<void> {
    await super.onBeforeRunTask(test);
    if (assignment.mutant === undefined) test.retry = Number.MAX_SAFE_INTEGER;
  }

  override onBeforeTryTask(test: Task, options: { retry: number; repeats: number }): void {
    if (assignment.mutant === undefined) this.#prepare(test);
    super.onBeforeTryTask(test, options);
  }

  #prepare(test: Task): void {
    const id = `${relative(process.cwd(), test.file.filepath)}#${fullName(test)}`;
    if (this.#progress?.id !== id) {
      this.#progress = {
        id,
        stage: 'first',
        hits: {},
        waiting: [],
        killed: [],
        isOpen: false,
        beganAt: performance.now(),
        maxMs: maxTest.ms,
      };
    }
    const progress = this.#progress;
    if (progress.isOpen && progress.stage === 'mutants') {
      // It failed so that vitest cannot even say how (a getter that throws while values are shown), and begins it again without end.
      progress.killed.push({ kind: 'killed', id, mutant: progress.mutant!, failure: 'failed, and cannot be shown' });
      chooseNext(progress);
    }
    progress.isOpen = true;
    switches.activeMutant = progress.mutant;
    switches.currentTestId = progress.stage === 'first' ? id : 'repeated';
    switches.hitCount = progress.mutant === undefined ? undefined : 0;
    switches.hitLimit =
      progress.mutant === undefined ? undefined : Math.max(1_000, progress.hits[progress.mutant]! * loopFactor);
    if (progress.stage === 'first') return;
    if (progress.mutant === undefined) return note({ kind: 'trying', id });
    progress.triedAt = performance.now();
    note({ kind: 'trying', id, mutant: progress.mutant });
  }

  override async onAfterRetryTask(test: Task, options: { retry: number; repeats: number }): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (assignment.mutant !== undefined) return this.#noteResult(test);
    const failure = failureOf(test);
    const progress = this.#progress!;
    progress.isOpen = false;
    switches.activeMutant = undefined;
    switches.currentTestId = undefined;
    delete switches.mutantCoverage?.perTest.repeated;
    if (test.result!.state === 'skip') return;
    if (this.#isOver(progress, { failure, test })) return;
    test.result!.state = 'fail';
    test.result!.attempts = [];
    test.result!.errors = [{ name: 'Error', message: 'once more' }];
  }

  /** Notes what a try showed, and chooses the next one. */
  #isOver(progress: Progress, { failure, test }: { failure: string | undefined; test: Task }): boolean {
    const { id } = progress;
    switch (progress.stage) {
      case 'first': {
        const ms = Date.now() - (test.result!.startTime ?? Date.now());
        progress.hits = switches.mutantCoverage?.perTest[id] ?? {};
        note({ kind: 'test', id, name: fullName(test), ms });
        if (failure !== undefined) {
          // What came before it in this process left something behind, or it fails by itself: it would be begun without end.
          note({ kind: 'spoiled', id, failure });
          passAnyway(test);
          return true;
        }
        note({ kind: 'covered', id, mutants: progress.hits });
        progress.waiting = Object.keys(progress.hits).filter(
          (mutant) => isInSample(mutant, assignment.sample) && !decided.has(mutant) && !isTriedEnough(mutant),
        );
        progress.maxMs = Math.max(maxTest.ms, maxTest.times * ms);
        if (progress.waiting.length === 0) return true;
        progress.stage = 'again';
        return false;
      }
      case 'again':
        if (failure !== undefined) {
          note({ kind: 'unrepeatable', id, failure });
          passAnyway(test);
          return true;
        }
        progress.stage = 'mutants';
        progress.mutant = progress.waiting.pop();
        return false;
      case 'mutants':
        countTry(progress.mutant!, performance.now() - progress.triedAt!);
        if (failure !== undefined) progress.killed.push({ kind: 'killed', id, mutant: progress.mutant!, failure });
        if (performance.now() - progress.beganAt > progress.maxMs && progress.waiting.length > 0) {
          note({ kind: 'untried', id, count: progress.waiting.length });
          progress.waiting = [];
        }
        chooseNext(progress);
        return false;
      case 'last':
        passAnyway(test);
        // A mutant left something behind: what came after it proves nothing.
        if (failure !== undefined) note({ kind: 'spoiled', id, failure });
        else
          for (const finding of progress.killed) {
            note(finding);
            if (finding.kind === 'killed') decided.add(finding.mutant);
          }
        return true;
    }
  }

  #noteResult(test: Task): void {
    const failure = failureOf(test);
    note({
      kind: 'test',
      id: `${relative(process.cwd(), test.file.filepath)}#${fullName(test)}`,
      name: fullName(test),
      ms: 0,
      ...(failure === undefined ? {} : { failure }),
    });
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if ('filepath' in suite)
      note({
        kind: 'file',
        path: relative(process.cwd(), suite.file.filepath),
        loaded: switches.mutantCoverage?.static ?? {},
        spentMs: Object.fromEntries(
          [...tried].flatMap(([mutant, { ms }]) => (decided.has(mutant) ? [] : [[mutant, Math.round(ms)]])),
        ),
      });
  }
}

function chooseNext(progress: Progress): void {
  progress.mutant = progress.waiting.pop();
  if (progress.mutant === undefined) progress.stage = 'last';
}

function countTry(mutant: string, ms: number): void {
  const before = tried.get(mutant) ?? { tries: 0, ms: 0 };
  tried.set(mutant, { tries: before.tries + 1, ms: before.ms + ms });
}

function isTriedEnough(mutant: string): boolean {
  const { tries, ms } = tried.get(mutant) ?? { tries: 0, ms: 0 };
  return ms >= enough.msInAll || (tries >= enough.tries && ms >= enough.ms);
}

function failureOf(test: Task): string | undefined {
  if (test.result!.state !== 'fail') return undefined;
  return String(test.result!.errors?.at(-1)?.message ?? 'failed').slice(0, 200);
}

function passAnyway(test: Task): void {
  test.result!.state = 'pass';
  delete test.result!.errors;
}

function fullName(task: { name: string; suite?: { name: string; suite?: unknown } | undefined }): string {
  const suite = task.suite as Parameters<typeof fullName>[0] | undefined;
  return suite === undefined ? task.name : `${fullName(suite)} > ${task.name}`;
}

export { TryMutants as default };
