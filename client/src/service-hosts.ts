/** Origins of the service, without a trailing slash: a data center has three hosts. */
export type ServiceHosts = { tokens: string; push: string; api: string };

/** The hosts of a data center below a service domain: `oauth2-01.…`, `pushapi-01.…` and `api-01.…`. */
export function hostsOfDataCenter(named: { serviceDomain: string; dataCenter: string }): ServiceHosts {
  const host = (name: string): string => `https://${name}-${named.dataCenter}.${named.serviceDomain}`;
  return { tokens: host('oauth2'), push: host('pushapi'), api: host('api') };
}

/** Returns the host for a family of operations. */
export function hostOf(hosts: string | ServiceHosts, family: string): string {
  const host =
    typeof hosts === 'string' ? hosts : family === 'Tokens' ? hosts.tokens : family === 'Push' ? hosts.push : hosts.api;
  return host.replace(/\/+$/, '');
}
