/**
 * oidc-provider with its memory adapter and client credentials of this many clients. Prints its origin, and ends when its input
 * does. Argument: clients, which are `client-0` and on, each with the secret `secret-of-client-0` and on.
 */
import { requirePeer } from '../kit/peers.ts';

type Provider = new (issuer: string, configuration: object) => { listen(port: number, host: string): Server };
type Server = { address(): { port: number }; on(event: 'listening', listener: () => void): void };

const { Provider } = requirePeer('oidc-provider') as { Provider: Provider };
const clients = Array.from({ length: Number(process.argv[2]) }, (_, number) => ({
  client_id: `client-${number}`,
  client_secret: `secret-of-client-${number}`,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
}));
const provider = new Provider('http://127.0.0.1', {
  clients,
  clientAuthMethods: ['client_secret_post'],
  clientDefaults: { token_endpoint_auth_method: 'client_secret_post' },
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
});
const server = provider.listen(0, '127.0.0.1');
server.on('listening', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
