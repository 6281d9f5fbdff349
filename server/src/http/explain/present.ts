import type { Explanation } from '../../app/explain/explain-delivery.ts';
import { tellTrigger } from '../../domain/triggers/told-trigger.ts';
import type { ToldTrigger } from '../../domain/triggers/told-trigger.ts';
import type { DeviceExplanation } from '../../domain/explain/explain-run.ts';
import { nobodyOfThatId, tellNoRun, tellDevice, tellRun } from '../../domain/explain/tell.ts';

/** The step of the newest run speaks for the campaign. */
export function presentExplanation({ campaign, customerId, runs, triggers }: Explanation) {
  const [newest] = runs ?? [];
  return {
    campaign_id: campaign.id,
    campaign_name: campaign.name,
    campaign_status: campaign.status,
    next_send: campaign.nextAt?.toISOString() ?? null,
    customer_id: customerId,
    step: newest?.step ?? (runs ? 'NO_RUN' : 'UNKNOWN_PERSON'),
    explanation: newest ? tellRun(newest) : runs ? tellNoRun(triggers) : nobodyOfThatId,
    runs: (runs ?? []).map((run) => ({
      id: run.runId,
      status: run.runStatus,
      created_at: run.createdAt.toISOString(),
      step: run.step,
      explanation: tellRun(run),
      devices: run.devices.map(presentDevice),
    })),
    ...(triggers && { triggers: triggers.map(presentTrigger) }),
  };
}

function presentTrigger(trigger: ToldTrigger) {
  return {
    event_name: trigger.eventName,
    occurred_at: trigger.occurredAt.toISOString(),
    due_at: trigger.dueAt?.toISOString() ?? null,
    state: trigger.state,
    reason: trigger.reason,
    run_id: trigger.runId,
    explanation: tellTrigger(trigger),
  };
}

function presentDevice(device: DeviceExplanation) {
  return {
    device_id: device.deviceId,
    platform: device.platform,
    step: device.step,
    explanation: tellDevice(device),
    code: device.code,
    attempts: device.attempts,
    at: device.at?.toISOString() ?? null,
    until: device.until?.toISOString() ?? null,
    variation: device.variation,
    locale: device.locale,
  };
}
