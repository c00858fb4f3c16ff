#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';

/** The command `express-idempotent`. */
async function main(): Promise<void> {
  // Whoever reads may have seen enough: `… | head` is no failure.
  process.stdout.on('error', () => process.exit(0));
  const code = await runCommandLine({
    args: process.argv.slice(2),
    env: process.env,
    folder: process.cwd(),
    input: process.stdin,
    print: (line) => process.stdout.write(`${line}\n`),
    complain: (line) => process.stderr.write(`${line}\n`),
  });
  // What a module has opened beside its store would keep the process.
  process.stdout.write('', () => process.exit(code));
}

void main();
