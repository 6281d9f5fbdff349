/** How this node calls the outside. */
export const outgoingSettings = {
  outgoingProxy: {
    kind: 'secret',
    variable: 'CARILLON_OUTGOING_PROXY',
    default: undefined,
    sentence:
      'Proxy through which providers, callbacks, files and the company account are called, as `http://user:password@proxy.example:3128`, or with https. Asked by CONNECT; `HTTP_PROXY` and its kin are not read.',
  },
  noProxy: {
    kind: 'list',
    variable: 'CARILLON_NO_PROXY',
    default: [],
    sentence:
      'Hosts that are called without the proxy (commas or spaces): a name stands for itself and all below it, with `:port` for that port; `*` for all. This machine never needs it.',
  },
  proxyResolves: {
    kind: 'flag',
    variable: 'CARILLON_PROXY_RESOLVES',
    default: false,
    sentence:
      'Only the proxy can resolve names: what others may name is then judged by its name, not by its address. Push services are allowed, and what `CARILLON_PROXY_HOSTS` lists.',
  },
  proxyHosts: {
    kind: 'list',
    variable: 'CARILLON_PROXY_HOSTS',
    default: [],
    sentence:
      'With `CARILLON_PROXY_RESOLVES`: hosts of callbacks and files (comma-separated, `*.example.com` for all below, `*` for any name with a dot) and of other push services.',
  },
} as const;
