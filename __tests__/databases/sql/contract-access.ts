/** How the stores of a contract reach one server. */
export class ContractAccess<Pool, Client> {
  /** For what the contract does past the stores. */
  readonly pool: Pool;
  readonly prepare: boolean;
  readonly #newClient: () => Client;
  readonly #clients: Client[] = [];

  constructor(pool: Pool, newClient: () => Client, prepare = true) {
    this.pool = pool;
    this.prepare = prepare;
    this.#newClient = newClient;
  }

  /** Each store of a case has its own; cases share them: a connection costs more than a case. */
  clientOf(store: number): Client {
    this.#clients[store] ??= this.#newClient();
    return this.#clients[store];
  }
}
