import type { Explanation } from '../../app/explain/explain-delivery.ts';
import type { DeviceExplanation } from '../../domain/explain/explain-run.ts';
import { noRunYet, nobodyOfThatId, tellDevice, tellRun } from '../../domain/explain/tell.ts';

/** The step of the newest run speaks for the campaign. */
export function presentExplanation({ campaign, customerId, runs }: Explanation) {
  const [newest] = runs ?? [];
  return {
    campaign_id: campaign.id,
    campaign_name: campaign.name,
    campaign_status: campaign.status,
    next_send: campaign.nextAt?.toISOString() ?? null,
    customer_id: customerId,
    step: newest?.step ?? (runs ? 'NO_RUN' : 'UNKNOWN_PERSON'),
    explanation: newest ? tellRun(newest) : runs ? noRunYet : nobodyOfThatId,
    runs: (runs ?? []).map((run) => ({
      id: run.runId,
      status: run.runStatus,
      created_at: run.createdAt.toISOString(),
      step: run.step,
      explanation: tellRun(run),
      devices: run.devices.map(presentDevice),
    })),
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
