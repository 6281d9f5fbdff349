import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { makeControlGroupOf } from '../../domain/experiments/control-groups.ts';
import type { ControlGroupOf, ControlShares } from '../../domain/experiments/control-groups.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** In which control group of a run a user is; undefined of a run that is for everybody, as each test of a campaign is. */
export function makeRunControlGroupOf(run: RunToSend): ControlGroupOf | undefined {
  return run.isTest ? undefined : makeControlGroupOf(controlSharesOf(run, run.globalControlPercent));
}

/** The share of the workspace that a run which begins now leaves out. */
export function globalControlPercentNow({ settings, controls }: RunToSend): number | null {
  return deliverySettings(settings).leavesOutGlobalControlGroup ? controls.controlGroupPercent : null;
}

export function controlSharesOf(
  { workspaceId, canonicalCampaignId, settings }: RunToSend,
  globalPercent: number | null,
): ControlShares {
  const campaignPercent = deliverySettings(settings).controlGroupPercent ?? null;
  return { workspaceId, canonicalCampaignId, globalPercent, campaignPercent };
}
