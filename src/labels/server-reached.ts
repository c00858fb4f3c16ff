/** A server, as sentences about it name it. */
export interface NamedServer {
  /** Such as PostgreSQL. */
  readonly name: string;
  readonly url: string;
  /** The variable that the URL is from. */
  readonly variable: string;
}

/**
 * What `connect` comes to. Rejects with one sentence when there is no way to the server; of its URL
 * only the host and the port are in it.
 */
export async function reached<T>(server: NamedServer, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (cause) {
    const { name, url, variable } = server;
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
    const why = typeof message === 'string' && message !== '' ? message : String(code ?? cause);
    throw new Error(
      `${name} at ${new URL(url).host} cannot be used: ${why.replace(/\.$/, '')}. ` +
        `Start it, or set ${variable} to another one.`,
      { cause },
    );
  }
}

/** For how long a server is waited for. */
export const CONNECT_TIMEOUT_MS = 5_000;
