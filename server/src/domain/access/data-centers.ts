export const dataCenters = ['01', '02', '03', '04', '05', '06', '101'] as const;

export type DataCenter = (typeof dataCenters)[number];

/**
 * The data center that a host names, such as `01` for `oauth2-01.example.com` (decision D1). Undefined for every other
 * host and when no service domain is configured: then the one origin serves all workspaces.
 *
 * @param host name without port
 */
export function dataCenterOfHost(host: string, serviceDomain: string | undefined): DataCenter | undefined {
  const named = nameOfDataCenter(host, serviceDomain);
  return dataCenters.find((dataCenter) => dataCenter === named);
}

/** Whether a host of the service domain names a data center that is not one of the list, such as `oauth2-07`. */
export function namesUnknownDataCenter(host: string, serviceDomain: string | undefined): boolean {
  const named = nameOfDataCenter(host, serviceDomain);
  return named !== undefined && !dataCenters.some((dataCenter) => dataCenter === named);
}

/** What stands for `{dc}` in a host of the service domain, whether there is such a data center or not. */
function nameOfDataCenter(host: string, serviceDomain: string | undefined): string | undefined {
  if (serviceDomain === undefined) return undefined;
  const suffix = `.${serviceDomain.toLowerCase()}`;
  // A dot at the end only says that the name is complete (RFC 3986 §3.2.2).
  const name = host.toLowerCase().replace(/\.$/, '');
  return name.endsWith(suffix) ? /^(?:oauth2|api|pushapi)-(.*)$/.exec(name.slice(0, -suffix.length))?.[1] : undefined;
}
