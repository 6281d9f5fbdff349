import type { ObjectStore } from '../../domain/pictures.ts';
import { makeOutgoingClient } from '../../outgoing/client.ts';
import { makeS3Store } from '../../outgoing/s3-store.ts';
import type { Composition } from './composition.ts';

/** Returns the object store of the settings; undefined if the database has the pictures. The operator chose its host. */
export function openPictureStore({
  config,
  proxy,
  clock,
  started,
}: Pick<Composition, 'config' | 'proxy' | 'clock' | 'started'>): ObjectStore | undefined {
  const { pictureS3Url: bucketUrl, pictureS3KeyId: keyId, pictureS3Secret: secret, pictureS3Region: region } = config;
  if (bucketUrl === undefined || keyId === undefined || secret === undefined) return undefined;
  const client = makeOutgoingClient({ allowedNetworks: [], hosts: 'trusted', proxy });
  started.push({ stop: () => client.close() });
  return makeS3Store({ client, bucketUrl, key: { keyId, secret, region }, now: () => clock.realNow() });
}
