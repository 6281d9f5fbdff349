/** What a browser's page hands over: enough to be read; nothing is encrypted for it. */
export function browserSubscription(name: string, origin = 'https://push.example'): string {
  const p256dh = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  const auth = Buffer.alloc(16, 1).toString('base64url');
  return JSON.stringify({ endpoint: `${origin}/${name}`, keys: { p256dh, auth } });
}
