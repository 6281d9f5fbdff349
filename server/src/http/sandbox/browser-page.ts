import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readBrowserSettings, registerBrowser } from '../../app/sandbox/sandbox-devices.ts';
import type { BrowserDependencies, RegisterBrowserCommand } from '../../app/sandbox/sandbox-devices.ts';
import { parseDeviceAttributes } from '../../domain/users/device-attributes.ts';
import { customerIdFault } from '../../domain/users/user-attributes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { addRoutes, hiddenRoute, route } from '../route/route.ts';
import type { Call, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { makeSandboxRules } from './routes.ts';
import type { SandboxCaller, SandboxGuard } from './routes.ts';
import { browserDevice, registeredDevice } from './shapes.ts';

export type SandboxBrowserDependencies = BrowserDependencies &
  SandboxGuard & {
    /** Folder of the client package: the page uses its service worker and browser helper. */
    clientFolder: string;
  };

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; worker-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Routes for a page that makes the browser it is opened in a device of the sandbox. Sandbox mode only, without credentials. */
export function sandboxBrowserRoutes(deps: SandboxBrowserDependencies): RouteFamily {
  const dialect: RouteDialect<SandboxCaller> = { ...makeSandboxRules(deps), areShapesChecked: true };
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'GET',
        url: '/sandbox/browser',
        operationId: 'openBrowserPage',
        summary: 'A page that receives real web pushes in this browser',
        answers: { 200: Type.String() },
        answerType: 'text/html',
        handle: makeSendFile('text/html; charset=utf-8', await own('page.html')),
      }),
      ...(await readPageFiles(deps)).map(({ url, type, text }) =>
        hiddenRoute(dialect, { method: 'GET', url, handle: makeSendFile(type, text) }),
      ),
      hiddenRoute(dialect, {
        method: 'GET',
        url: '/sandbox/browser/settings',
        handle: () => readBrowserSettings(deps),
      }),
      route(dialect, {
        method: 'POST',
        url: '/sandbox/browser/devices',
        operationId: 'registerBrowser',
        summary: "Register a browser's subscription as a device of a user",
        body: browserDevice,
        answers: { 200: registeredDevice },
        refuses: [404],
        read: ({ body }) => parseBrowser(body as Static<typeof browserDevice>),
        handle: ({ input }) => registerBrowser(deps, input),
      }),
    ]);
}

type ServedFile = { url: string; type: string; text: string | (() => string) };

/** Returns the files that the page loads. */
async function readPageFiles({ clientFolder }: SandboxBrowserDependencies): Promise<ServedFile[]> {
  const helper = await readFile(join(clientFolder, 'src', 'subscribe-browser.ts'), 'utf8');
  const worker = await readFile(join(clientFolder, 'browser', 'carillon-service-worker.js'), 'utf8');
  let plainHelper: string | undefined;
  const type = 'text/javascript; charset=utf-8';
  return [
    { url: '/sandbox/browser/page.css', type: 'text/css; charset=utf-8', text: await own('page.css') },
    { url: '/sandbox/browser/page.js', type, text: await own('page.js') },
    // The client's own file without its types, so that the page tests what a site would use. The compiler takes a tenth of a
    // second to load, so only the first request of the file waits for it.
    { url: '/sandbox/browser/subscribe-browser.js', type, text: () => (plainHelper ??= stripTypeScriptTypes(helper)) },
    // The folder of the worker is its scope, and contains the page.
    { url: '/sandbox/carillon-service-worker.js', type, text: worker },
  ];
}

const own = (name: string): Promise<string> => readFile(join(import.meta.dirname, 'browser', name), 'utf8');

const makeSendFile =
  (type: string, text: ServedFile['text']) =>
  ({ reply }: Pick<Call, 'reply'>): FastifyReply =>
    reply
      .headers(headers)
      .type(type)
      .send(typeof text === 'string' ? text : text());

/** Parses a browser with the rules of the data API. @throws ServiceError PARAMETER_INVALID */
function parseBrowser({ customerId, subscription }: Static<typeof browserDevice>): RegisterBrowserCommand {
  const reason = customerIdFault(customerId);
  if (reason !== undefined) throw new ServiceError('PARAMETER_INVALID', { field: 'customerId', reason });
  const parsed = parseDeviceAttributes({ platform: 'web', push_id: subscription }, []);
  if ('device' in parsed) return { customerId, subscription: parsed.device.pushId };
  const fault = 'fault' in parsed ? parsed.fault.reason : 'is missing';
  throw new ServiceError('PARAMETER_INVALID', { field: 'subscription', reason: fault });
}
