import type { Logger } from '../../../log.ts';
import type { OutgoingProxy } from '../../outgoing-http/outgoing-proxy.ts';
import type { OutgoingRequest } from './answer-listener.ts';
import type { Http2Target } from './open-socket.ts';

/**
 * A connection that is ready for requests: HTTP/2 of ours (`http2-session.ts`) or of Node (`open-node-session.ts`), or
 * HTTP/1.1 (`http1-session.ts`), which counts as one stream.
 */
export type Session = {
  readonly protocol: 'h2' | 'http/1.1';
  /** There must be a free stream. */
  send(request: OutgoingRequest): void;
  hasFreeStream(): boolean;
  /** A free stream, and the peer takes bytes of a body: what is sent now leaves now. */
  hasSpace(): boolean;
  openStreams(): number;
  /** Takes no new requests: GOAWAY was received or the session is closing. */
  isLeaving(): boolean;
  close(): void;
  closeGracefully(milliseconds: number): Promise<void>;
};

export type SessionOptions = {
  log: Logger;
  allowedNetworks: readonly string[];
  proxy: OutgoingProxy | undefined;
  /** Until requests can be sent: with HTTP/2 until the peer's SETTINGS have come. */
  connectMilliseconds: number;
  requestMilliseconds: number;
  /** Streams ended, or a limit changed. */
  onSpace: () => void;
  onClosed: () => void;
};

/** @throws the connection's error, AddressBlockedError, ProxyError, or a time-out after `connectMilliseconds` */
export type OpenSession = (target: Http2Target, options: SessionOptions) => Promise<Session>;
