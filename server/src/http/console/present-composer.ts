import type { CheckedCampaign } from '../../app/campaigns/check-campaign.ts';
import type { CountAnswer, readComposerResources } from '../../app/console/console-composer.ts';
import { presentFrequencyCap } from '../../domain/eligibility/workspace-controls.ts';
import type { RequestFault } from '../../domain/errors.ts';
import type { DescribedOccurrence } from '../../domain/timing/describe-occurrences.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type Resources = Awaited<ReturnType<typeof readComposerResources>>;

export function presentResources({ controls, now, ...resources }: Resources) {
  const { caps, quietHours, minimumDelayMinutes, timeZone } = controls;
  return {
    ...resources,
    controls: { frequencyCaps: caps.map(presentFrequencyCap), quietHours, minimumDelayMinutes, timeZone },
    now: now.toISOString(),
  };
}

export function presentCheck({ faults, timing, occurrences, audienceText, warnings }: CheckedCampaign) {
  return {
    faults: faults.map(presentFault),
    schedule: timing === undefined ? null : { kind: timing.kind, occurrences: occurrences.map(presentTimelineEntry) },
    audienceText: audienceText ?? null,
    warnings,
  };
}

export function presentCount(answer: CountAnswer) {
  switch (answer.kind) {
    case 'counted':
      return { state: 'COUNTED', ...answer.count };
    case 'too slow':
      return { state: 'TOO_SLOW', afterSeconds: answer.afterSeconds };
    case 'unreadable':
      return { state: 'UNREADABLE', faults: answer.faults.map(presentFault) };
    default:
      return unknownCase(answer);
  }
}

/** As V5's validate says it. */
function presentFault({ field, reason }: RequestFault) {
  return { field, issue: reason === 'missing' ? 'is required' : reason };
}

function presentTimelineEntry({ at, clockChange, ...occurrence }: DescribedOccurrence) {
  return { ...occurrence, at: at.toISOString(), clockChange: clockChange ?? null };
}
