import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of the bytes:
 * - `pass`: nothing happens to them;
 * - `hole`: none arrives, in either direction, and no connection is closed (half-open);
 * - `eat-reply`: what the client says arrives; at the first answer its connection is reset.
 */
export type ProxyMode = 'pass' | 'hole' | 'eat-reply';

/** Connections between a client and a server that can be made to fail. */
export class FaultyProxy {
  readonly port: number;
  mode: ProxyMode = 'pass';
  /** How many answers have been eaten. */
  eaten = 0;
  /** How often clients have said something and waited for the answer. */
  trips = 0;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(target: { readonly port: number }, port = 0): Promise<FaultyProxy> {
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const proxy = new FaultyProxy(server);
    server.on('connection', (client) => proxy.#link(client, connect(target.port, '127.0.0.1')));
    return proxy;
  }

  /** How many connections there are now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #link(client: Socket, server: Socket): void {
    const link = { client, server };
    this.#links.add(link);
    let isAnswered = true;
    client.on('data', (bytes) => {
      if (isAnswered) this.trips += 1;
      isAnswered = false;
      if (this.mode !== 'hole') server.write(bytes);
    });
    server.on('data', (bytes) => {
      isAnswered = true;
      if (this.mode === 'pass') client.write(bytes);
      else if (this.mode === 'eat-reply') {
        this.eaten += 1;
        client.resetAndDestroy();
      }
    });
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const) {
      end.on('error', () => {});
      this.#sockets.add(end);
      end.on('close', () => {
        this.#sockets.delete(end);
        this.#links.delete(link);
        if (this.mode !== 'hole') other.destroy();
      });
    }
  }
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}
