import type { AndroidOptions, BadgeChange } from '../../../domain/content-options/content-options.ts';

/** Members of FCM's `android` beside data and notification. */
export function carryOptions(options: AndroidOptions = {}): Record<string, unknown> {
  const { directBootOk, bandwidthConstrainedOk, restrictedSatelliteOk, analyticsLabel } = options;
  return {
    ...(directBootOk === undefined ? {} : { direct_boot_ok: directBootOk }),
    ...(bandwidthConstrainedOk === undefined ? {} : { bandwidth_constrained_ok: bandwidthConstrainedOk }),
    ...(restrictedSatelliteOk === undefined ? {} : { restricted_satellite_ok: restrictedSatelliteOk }),
    ...(analyticsLabel === undefined ? {} : { fcm_options: { analytics_label: analyticsLabel } }),
  };
}

/** Members of `android.notification`, for the system. It cannot clear a badge, nor take a notification away by itself. */
export function notificationOptions(options: AndroidOptions = {}): Record<string, unknown> {
  const { visibility, color, icon, sticky, badge, locKeys } = options;
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility: visibility.toUpperCase() }),
    ...(sticky === undefined ? {} : { sticky }),
    ...(badge === undefined || badge.operation === 'clear' ? {} : { notification_count: badge.value }),
    ...(locKeys?.titleLocKey === undefined ? {} : { title_loc_key: locKeys.titleLocKey }),
    ...(locKeys?.titleLocArgs === undefined ? {} : { title_loc_args: locKeys.titleLocArgs }),
    ...(locKeys?.bodyLocKey === undefined ? {} : { body_loc_key: locKeys.bodyLocKey }),
    ...(locKeys?.bodyLocArgs === undefined ? {} : { body_loc_args: locKeys.bodyLocArgs }),
  };
}

/** The same for the app, which shows the message itself; under these names behind the prefix, all of them texts. */
export function dataOptions(options: AndroidOptions = {}): Record<string, string> {
  const { visibility, color, icon, sticky, timeoutSeconds, badge, locKeys } = options;
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(sticky === true ? { ongoing: '1' } : {}),
    ...(timeoutSeconds === undefined ? {} : { timeout_s: String(timeoutSeconds) }),
    ...(badge === undefined ? {} : { badge: JSON.stringify(badgeForApp(badge)) }),
    ...(locKeys === undefined ? {} : { loc: JSON.stringify(locKeys) }),
  };
}

function badgeForApp(badge: BadgeChange): object {
  return badge.operation === 'clear' ? { op: 'clear' } : { op: 'set', value: badge.value };
}
