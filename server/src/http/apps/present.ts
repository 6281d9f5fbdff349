import type { ListedApp } from '../../app/apps/manage-apps.ts';

/** Under the names of its request; what it has not of its own is left out. */
export function presentApp({ appId, restrictsPackage, settings = {}, credentialOf, ...app }: ListedApp) {
  const { defaults, ...own } = settings;
  const { channelId, ...look } = defaults ?? {};
  return {
    app_id: appId,
    platform: app.platform,
    name: app.name,
    identifier: app.identifier,
    ...(app.environment === null ? {} : { environment: app.environment }),
    ...(app.platform === 'ANDROID' ? { restrictPackage: restrictsPackage } : {}),
    ...own,
    ...(defaults === undefined
      ? {}
      : { defaults: { ...(channelId === undefined ? {} : { channel_id: channelId }), ...look } }),
    credential_of: credentialOf,
  };
}
