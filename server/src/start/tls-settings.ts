/** TLS ended by the node itself, where no reverse proxy does. */
export const tlsSettings = {
  tlsCert: {
    kind: 'text',
    variable: 'CARILLON_TLS_CERT',
    default: undefined,
    sentence:
      'File (PEM) with the certificate of this server and those between it and its authority: the API and the console are then served by https alone ([TLS](operations.md#tls-by-the-node-itself)). Read again when it changes.',
  },
  tlsKey: {
    kind: 'text',
    variable: 'CARILLON_TLS_KEY',
    default: undefined,
    sentence: 'File (PEM) with the private key of that certificate, without a passphrase.',
  },
} as const;
