export const dataCenters = ['01', '02', '03', '04', '05', '06', '101'] as const;

export type DataCenter = (typeof dataCenters)[number];

/**
 * The data center that a host names, such as `01` for `oauth2-01.example.com` (decision D1). Undefined for every other
 * host and when no service domain is configured: then the one origin serves all workspaces.
 *
 * @param host name without port
 */
export function dataCenterOfHost(host: string, serviceDomain: string | undefined): DataCenter | undefined {
  if (serviceDomain === undefined) return undefined;
  const suffix = `.${serviceDomain.toLowerCase()}`;
  const name = host.toLowerCase();
  if (!name.endsWith(suffix)) return undefined;
  const found = /^(?:oauth2|api|pushapi)-(\d{2,3})$/.exec(name.slice(0, -suffix.length))?.[1];
  return dataCenters.find((dataCenter) => dataCenter === found);
}
