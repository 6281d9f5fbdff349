/**
 * Loaded by `--import` into a node and its threads. Appends every connection that they try to open, and every name that they
 * look up, to the file NOTED_CONNECTIONS, as a line of JSON.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const note = (line) => appendFileSync(process.env.NOTED_CONNECTIONS, `${JSON.stringify(line)}\n`);

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function noted(...words) {
  const [first, second] = Array.isArray(words[0]) ? words[0] : words;
  const { host, port, path } = typeof first === 'object' ? first : { port: first, host: second };
  note(path === undefined || path === null ? { host: host ?? 'localhost', port: Number(port) } : { path });
  return connect.apply(this, words);
};

const { send, connect: connectDatagrams } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function noted(...words) {
  note({ datagram: words.filter((word) => typeof word === 'string' || typeof word === 'number') });
  return send.apply(this, words);
};
dgram.Socket.prototype.connect = function noted(...words) {
  note({ datagram: words.slice(0, 2) });
  return connectDatagrams.apply(this, words);
};

const names = ['lookup', 'lookupService', ...Object.keys(dns).filter((name) => /^(resolve|reverse)/.test(name))];
for (const from of [dns, dns.promises])
  for (const name of names) {
    const original = from[name];
    if (original === undefined) continue;
    from[name] = function noted(...words) {
      note({ name: words[0] });
      return original.apply(this, words);
    };
  }
syncBuiltinESMExports();
