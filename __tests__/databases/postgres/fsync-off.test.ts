import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { failureOf } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';

test.each(['fsync', 'full_page_writes'])('a server with %s off is refused', async (setting) => {
  const server = await PostgresServer.start({ [setting]: 'off' });
  const store = new PostgresStore({ client: server.pool() });
  await store.migrate();
  expect((await failureOf(store.check())).message).toContain(`${setting} is off`);
  await server.stop();
});
