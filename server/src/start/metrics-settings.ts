/** Who may read `GET /metrics`. */
export const metricsSettings = {
  metricsPort: {
    kind: 'integer',
    variable: 'CARILLON_METRICS_PORT',
    flag: 'metrics-port',
    minimum: 0,
    maximum: 65_535,
    default: undefined,
    sentence:
      'Port of its own for `GET /metrics`, for the network of the operators; 0 picks a free one. Without it, and without a token, there are no [metrics](metrics.md).',
  },
  metricsHost: {
    kind: 'text',
    variable: 'CARILLON_METRICS_HOST',
    default: undefined,
    sentence: 'Address that port listens on. Default: that of `CARILLON_HOST`.',
  },
  metricsToken: {
    kind: 'secret',
    variable: 'CARILLON_METRICS_TOKEN',
    default: undefined,
    sentence:
      'With it `GET /metrics` is also on the port of the API, for whoever sends `Authorization: Bearer` and this token (at least 16 characters); the port of its own then asks for it too.',
  },
} as const;
