import mysql from 'mysql2/promise';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { claimAll } from '../claimants.ts';

void claimAll((url) => new MySqlStore({ client: mysql.createPool(url) }));
