import type { Finding } from './assignment.ts';
import type { FirstRunResult } from './stryker-shapes.ts';

/** How a process of tests ended. */
export type Ended = { findings: Finding[]; stop?: 'stalled' | 'too large' };
type Test = Extract<Finding, { kind: 'test' }>;

/** A mutant that so long was tried in vain is left by the files that come later; that can only lower the score. */
const enoughMs = 6_000;

/** What the test files say of the mutants. */
export type FirstRun = {
  tests: Test[];
  coverage: FirstRunResult['mutantCoverage'];
  killed: Record<string, { by: string; failure: string }>;
  /** An endless loop, or the end of the process: nothing after it can be trusted. */
  timedOut: string[];
  /** What a reader of the score must know. */
  remarks: string[];
};

/**
 * Tries the mutants that each test file runs into. Every file has a process of its own, so that one which ends before its time
 * takes no other along. A mutant that ended the process is found and the file goes on without it, not found where the process was
 * ended for its size, which others may have brought about; where none was tried the file is
 * tried once more, and then named in the remarks, since the mutants that it alone runs into look "not run".
 */
export async function tryTestFiles({
  files,
  processes,
  run,
}: {
  files: string[];
  processes: number;
  run(name: string, assignment: { file: string; decided: string[] }): Promise<Ended>;
}): Promise<FirstRun> {
  const found: FirstRun = {
    tests: [],
    coverage: { static: {}, perTest: {} },
    killed: {},
    timedOut: [],
    remarks: [],
  };
  const waiting = [...files];
  const left: string[] = [];
  const spentMs = new Map<string, number>();
  const tests = new Map<string, Test>();
  const work = async (name: string): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      for (let failures = 0; failures < 2;) {
        const decided = [
          ...Object.keys(found.killed),
          ...found.timedOut,
          ...left,
          ...[...spentMs].flatMap(([mutant, ms]) => (ms >= enoughMs ? [mutant] : [])),
        ];
        const { findings, stop } = await run(name, { file, decided });
        for (const finding of findings) {
          if (finding.kind === 'test') tests.set(finding.id, finding);
          if (finding.kind === 'file')
            for (const [mutant, ms] of Object.entries(finding.spentMs))
              spentMs.set(mutant, (spentMs.get(mutant) ?? 0) + ms);
          take(finding, found);
        }
        if (findings.some(({ kind }) => kind === 'file')) break;
        const mutant = findMutant(findings);
        if (mutant !== undefined && stop === 'too large') {
          left.push(mutant);
          found.remarks.push(`too large: ${file}: when mutant ${mutant} was tried, which is left`);
        } else if (mutant !== undefined) found.timedOut.push(mutant);
        else if (++failures === 2) found.remarks.push(`ended early: ${file}: ${reasonOf(findings, stop)}`);
      }
  };
  await Promise.all(Array.from({ length: processes }, (_, index) => work(`first-${index}`)));
  return { ...found, tests: [...tests.values()] };
}

/** The mutant that was in force when the last line was written. */
export function findMutant(findings: Finding[]): string | undefined {
  const last = findings.findLast(({ kind }) => kind !== 'error');
  return last?.kind === 'trying' ? last.mutant : undefined;
}

function take(finding: Finding, { coverage, killed, remarks }: FirstRun): void {
  switch (finding.kind) {
    case 'covered':
      coverage.perTest[finding.id] = finding.mutants;
      break;
    case 'killed':
      killed[finding.mutant] ??= { by: finding.id, failure: finding.failure };
      break;
    case 'unrepeatable':
    case 'spoiled':
      remarks.push(`${finding.kind}: ${finding.id}: ${finding.failure}`);
      break;
    case 'untried':
      remarks.push(`no time left: ${finding.id}: for ${finding.count} mutants`);
      break;
    case 'file':
      Object.assign(coverage.static, finding.loaded);
      break;
    case 'test':
    case 'trying':
    case 'error':
      break;
    default:
      finding satisfies never;
  }
}

const reasons = { stalled: 'nothing happened any more', 'too large': 'its process took too much memory' };

function reasonOf(findings: Finding[], stop: Ended['stop']): string {
  const error = findings.findLast((finding) => finding.kind === 'error');
  return error?.failure ?? (stop === undefined ? 'its process ended' : reasons[stop]);
}
