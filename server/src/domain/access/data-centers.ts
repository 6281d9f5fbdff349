export const dataCenters = ['01', '02', '03', '04', '05', '06', '101'] as const;

export type DataCenter = (typeof dataCenters)[number];

/**
 * Returns the data center that a host names, such as `01` for `oauth2-01.example.com` (decision D1). Undefined for every
 * other host, and if no service domain is configured: then the one origin serves all workspaces.
 *
 * @param host name without port
 */
export function dataCenterOfHost(host: string, serviceDomain: string | undefined): DataCenter | undefined {
  const named = nameOfDataCenter(host, serviceDomain);
  return dataCenters.find((dataCenter) => dataCenter === named);
}

/** True if a host of the service domain names a data center that is not in the list, such as `oauth2-07`. */
export function namesUnknownDataCenter(host: string, serviceDomain: string | undefined): boolean {
  const named = nameOfDataCenter(host, serviceDomain);
  return named !== undefined && !dataCenters.some((dataCenter) => dataCenter === named);
}

/** Returns the `{dc}` part of a host of the service domain, whether or not that data center exists. */
function nameOfDataCenter(host: string, serviceDomain: string | undefined): string | undefined {
  if (serviceDomain === undefined) return undefined;
  const suffix = `.${serviceDomain.toLowerCase()}`;
  // A trailing dot only marks the name as complete (RFC 3986 §3.2.2).
  const name = host.toLowerCase().replace(/\.$/, '');
  return name.endsWith(suffix) ? /^(?:oauth2|api|pushapi)-(.*)$/.exec(name.slice(0, -suffix.length))?.[1] : undefined;
}
