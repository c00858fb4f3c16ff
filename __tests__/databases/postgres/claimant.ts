import { Pool } from 'pg';
import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { claimAll } from '../claimants.ts';

void claimAll((url) => new PostgresStore({ client: new Pool({ connectionString: url }) }));
