/** How a message travels, from `advancedSettings` (facts 3.4). Stored with the campaign, defaults filled in. */
export type DeliverySettings = {
  /** How long a provider keeps trying; 0 = not at all. */
  ttlMinutes: { ANDROID: number; IOS: number; WEB: number };
  androidPriority: 'HIGH' | 'NORMAL';
  iosPriority: 1 | 5 | 10;
  webUrgency: 'normal' | 'high';
};

/** 36 hours (facts 3.4). */
export const defaultTtlMinutes = 2160;

export const defaultDeliverySettings: DeliverySettings = {
  ttlMinutes: { ANDROID: defaultTtlMinutes, IOS: defaultTtlMinutes, WEB: defaultTtlMinutes },
  androidPriority: 'HIGH',
  iosPriority: 10,
  webUrgency: 'normal',
};

/** The stored settings, completed: a row of an older version may lack a member. */
export function deliverySettings(stored: Record<string, unknown>): DeliverySettings {
  return { ...defaultDeliverySettings, ...(stored as Partial<DeliverySettings>) };
}

/**
 * The instant after which nothing of a run is sent any more: the longest time to live, but at least an hour, because a
 * message that may not be stored at the provider may still wait its turn here.
 */
export function sendUntil(settings: DeliverySettings, at: Date): Date {
  const { ANDROID, IOS, WEB } = settings.ttlMinutes;
  return new Date(at.getTime() + Math.max(60, ANDROID, IOS, WEB) * 60_000);
}
