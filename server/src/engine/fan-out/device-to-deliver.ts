import type { AudienceDevice } from '../../storage/campaigns/audience.ts';

/** `attempt` counts from 1. */
export type DeviceToDeliver = { device: AudienceDevice; attempt: number };
