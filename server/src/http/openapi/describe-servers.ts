import { dataCenters } from '../../domain/tokens/data-center.ts';

export type Addresses = {
  /** Where this node is reached from outside, if it was told. */
  publicUrl?: string | undefined;
  /** Domain whose hosts name a data center (decision D1). */
  serviceDomain?: string | undefined;
};

type DescribedServer = {
  url: string;
  description: string;
  variables?: Record<string, { default: string; enum: string[]; description: string }>;
};

/** The host that a family has in each data center (the base addresses of the interface); the others have the second. */
const hosts: Record<string, string> = { Tokens: 'oauth2', Push: 'pushapi' };
const otherHost = 'api';
/** Families that no data center has a host for: they belong to the node. */
const ofTheNode = ['Sandbox', 'Health', 'Interactions'];

/**
 * Where the routes are called: this node at one address, and with a service domain each family at the hosts of its data
 * centers.
 */
export function describeServers({ publicUrl, serviceDomain }: Addresses): {
  servers: DescribedServer[];
  serversOf: (tag: string) => DescribedServer[] | undefined;
} {
  const node = { url: publicUrl?.replace(/\/+$/, '') ?? '/', description: 'This installation' };
  return {
    servers: [node],
    serversOf(tag) {
      if (serviceDomain === undefined || ofTheNode.includes(tag)) return undefined;
      const url = `https://${hosts[tag] ?? otherHost}-{dc}.${serviceDomain}`;
      const dc = { default: '01', enum: [...dataCenters], description: 'Data center of the workspace' };
      return [{ url, description: 'The host of a data center', variables: { dc } }, node];
    },
  };
}
