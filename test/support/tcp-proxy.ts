import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a client and a server, with a will of its own. Faults can be changed at any time. */
export interface TcpProxy {
  readonly port: number;
  /** Connections open now. */
  readonly connections: number;
  /** Requests go through and are executed; replies are swallowed until `heal` cuts and renews. */
  loseReplies(): void;
  /** Once: the next reply from the server is swallowed and its connection cut, after the request was executed. */
  cutAtNextReply(): void;
  /** Nothing moves in either direction, and no connection ends. New ones are accepted, and are silent too. */
  blackhole(): void;
  /** Ends every connection at once, with a reset. New ones are welcome. */
  cut(): void;
  /** New connections are reset until `heal`. */
  refuse(): void;
  /** Back to normal. What a blackhole held back arrives now, in order; connections with lost replies are cut. */
  heal(): void;
  stop(): Promise<void>;
}

type Mode = 'pass' | 'lose-replies' | 'blackhole' | 'refuse';

interface Link {
  client: Socket;
  server: Socket;
  /** Bytes are missing from it, so it can never be used again. */
  torn: boolean;
}

export async function startTcpProxy(target: { port: number; host?: string }): Promise<TcpProxy> {
  const links = new Set<Link>();
  let mode: Mode = 'pass';
  let cutNext = false;

  const listener = createServer((client) => {
    if (mode === 'refuse') {
      client.on('error', ignore);
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: target.port, host: target.host ?? '127.0.0.1' });
    const link = { client, server, torn: false };
    links.add(link);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', ignore);
      socket.on('close', () => end(link));
    }
    client.on('data', (chunk: Buffer) => server.write(chunk));
    server.on('data', (chunk: Buffer) => onReply(link, chunk));
    if (mode === 'blackhole') hold(link);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  return {
    port: (listener.address() as AddressInfo).port,
    get connections() {
      return links.size;
    },
    loseReplies: () => {
      mode = 'lose-replies';
    },
    cutAtNextReply: () => {
      cutNext = true;
    },
    blackhole: () => {
      mode = 'blackhole';
      for (const link of links) hold(link);
    },
    cut: () => {
      for (const link of links) end(link);
    },
    refuse: () => {
      mode = 'refuse';
    },
    heal: () => {
      mode = 'pass';
      cutNext = false;
      for (const link of links) {
        if (link.torn) end(link);
        else release(link);
      }
    },
    stop: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const link of links) end(link);
      await closed;
    },
  };

  function onReply(link: Link, chunk: Buffer): void {
    if (cutNext) {
      cutNext = false;
      end(link);
    } else if (mode === 'lose-replies') {
      link.torn = true;
    } else if (!link.torn) {
      link.client.write(chunk);
    }
  }

  function end(link: Link): void {
    if (!links.delete(link)) return;
    for (const socket of [link.client, link.server]) {
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }
}

function hold({ client, server }: Link): void {
  client.pause();
  server.pause();
}

function release({ client, server }: Link): void {
  client.resume();
  server.resume();
}

/** A reset is what these sockets are for; `close` follows. */
function ignore(): void {}
