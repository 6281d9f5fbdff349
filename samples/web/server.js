// A shop with a sign-in: serves its pages, and issues identity tokens for the user who is signed in.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';

const {
  CARILLON_URL: host = 'http://127.0.0.1:8080',
  CARILLON_APP_KEY: appKey,
  CARILLON_WORKSPACE_ID: workspaceId,
  // Without a key, the page signs in without a token, which only a sandbox accepts.
  CARILLON_IDENTITY_KID: kid,
  CARILLON_IDENTITY_SECRET: secret,
  PORT: port = '3000',
} = process.env;
if (!appKey) throw new Error('Set CARILLON_APP_KEY: carillon keys create --kind app');

const sdk = (name) =>
  fileURLToPath(import.meta.resolve(`@carillon/web/package.json`).replace('package.json', `dist/${name}`));
const page = (name) => fileURLToPath(new URL(`public/${name}`, import.meta.url));
const files = {
  '/': { path: page('index.html'), type: 'text/html' },
  '/app.js': { path: page('app.js'), type: 'text/javascript' },
  '/carillon.js': { path: sdk('carillon.js'), type: 'text/javascript' },
  // At the top of the site, so that it serves all pages.
  '/carillon-service-worker.js': { path: sdk('carillon-service-worker.js'), type: 'text/javascript' },
};

async function identityToken(userId) {
  if (!secret) return undefined;
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', kid })
    .setSubject(userId)
    .setAudience(workspaceId)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  const json = (value) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  if (pathname === '/settings') return json({ appKey, host });
  // A real shop takes the user from its session. This one has a single customer.
  if (request.method === 'POST' && pathname === '/sign-in')
    return json({ userId: 'ada', token: await identityToken('ada') });
  const file = files[pathname];
  if (!file) return response.writeHead(404).end();
  return response.setHeader('content-type', file.type).end(await readFile(file.path));
});

server.listen(Number(port), '127.0.0.1', () => console.log(`The shop: http://localhost:${server.address().port}`));
