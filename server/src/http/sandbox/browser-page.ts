import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readBrowserSettings, registerBrowser } from '../../app/sandbox/sandbox-devices.ts';
import type { BrowserDependencies, RegisterBrowserCommand } from '../../app/sandbox/sandbox-devices.ts';
import { parseDeviceAttributes } from '../../domain/users/device-attributes.ts';
import { customerIdFault } from '../../domain/users/user-attributes.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { guardSandbox, describeSandbox } from './routes.ts';
import type { SandboxGuard } from './routes.ts';
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
  const { clientFolder } = deps;
  return async (server) => {
    guardSandbox(server, deps);
    const own = (name: string) => readFile(join(import.meta.dirname, 'browser', name), 'utf8');
    const page = await own('page.html');
    server.get(
      '/sandbox/browser',
      {
        schema: describeSandbox({
          operationId: 'openBrowserPage',
          summary: 'A page that receives real web pushes in this browser',
          answers: { 200: Type.String() },
          answerType: 'text/html',
        }),
      },
      (_request, reply) => reply.headers(headers).type('text/html; charset=utf-8').send(page),
    );
    const helper = await readFile(join(clientFolder, 'src', 'subscribe-browser.ts'), 'utf8');
    const script = 'text/javascript; charset=utf-8';
    serve(server, { url: '/sandbox/browser/page.css', type: 'text/css; charset=utf-8', text: await own('page.css') });
    serve(server, { url: '/sandbox/browser/page.js', type: script, text: await own('page.js') });
    // The client's own file without its types, so that the page tests what a site would use.
    const url = '/sandbox/browser/subscribe-browser.js';
    serve(server, { url, type: script, text: stripTypeScriptTypes(helper) });
    // The folder of the worker is its scope, and contains the page.
    const worker = await readFile(join(clientFolder, 'browser', 'carillon-service-worker.js'), 'utf8');
    serve(server, { url: '/sandbox/carillon-service-worker.js', type: script, text: worker });

    server.get('/sandbox/browser/settings', { schema: { hide: true } }, () => readBrowserSettings(deps));
    server.post(
      '/sandbox/browser/devices',
      {
        schema: describeSandbox({
          operationId: 'registerBrowser',
          summary: "Make a browser's subscription a device of a customer",
          body: browserDevice,
          answers: { 200: registeredDevice },
          refuses: [404],
        }),
      },
      (request) => registerBrowser(deps, parseBrowser(request)),
    );
  };
}

type ServedFile = { url: string; type: string; text: string };

function serve(server: FastifyInstance, { url, type, text }: ServedFile): void {
  server.get(url, { schema: { hide: true } }, (_request, reply) => reply.headers(headers).type(type).send(text));
}

/** Parses a browser with the rules of the data API. @throws ServiceError PARAMETER_INVALID */
function parseBrowser(request: FastifyRequest): RegisterBrowserCommand {
  const { customerId, subscription } = request.body as Static<typeof browserDevice>;
  const reason = customerIdFault(customerId);
  if (reason !== undefined) throw new ServiceError('PARAMETER_INVALID', { field: 'customerId', reason });
  const parsed = parseDeviceAttributes({ platform: 'web', push_id: subscription }, []);
  if ('device' in parsed) return { customerId, subscription: parsed.device.pushId };
  const fault = 'fault' in parsed ? parsed.fault.reason : 'is missing';
  throw new ServiceError('PARAMETER_INVALID', { field: 'subscription', reason: fault });
}
