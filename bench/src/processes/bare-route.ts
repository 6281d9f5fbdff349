/**
 * The upper limit of accepting requests: a Fastify route with the shape of the product's own and nothing behind it. Prints its
 * origin, and ends when its input does. Argument: `push` or `token`.
 */
import fastify from 'fastify';
import { pushBodyV21 } from '../../../server/src/http/push/parse-push.ts';

const server = fastify({ logger: false });
server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
  done(null, Object.fromEntries(new URLSearchParams(String(text)))),
);
if (process.argv[2] === 'push')
  server.post('/v2.1/transaction/sendpush', { schema: { body: pushBodyV21 } }, (request) => {
    const { requestId } = request.body as { requestId?: string };
    return { status: 'Success', responseId: requestId, cid: '0'.repeat(24) };
  });
else server.post('/v1/oauth/token', () => ({ access_token: 'x'.repeat(43), token_type: 'Bearer', expires_in: 900 }));
process.stdout.write(`${await server.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.stdin.resume().on('end', () => process.exit(0));
