import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable that names the directory which all test files of one run share. */
export const TEMPLATES = 'EXPRESS_IDEMPOTENT_TEMPLATES';

/** For jest, before the first file: a place for data directories, until jest has ended. */
export default function makeTemplates(): void {
  const directory = mkdtempSync(join(tmpdir(), 'express-idempotent-templates-'));
  process.env[TEMPLATES] = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
}
