// What `npm start` runs: plain JavaScript, so that a Node which cannot run the service says so in
// a sentence, instead of throwing at the first type.
const canRun = process.features.typescript && process.getBuiltinModule?.('node:sqlite');

if (canRun) {
  await import('./main.ts');
} else {
  console.error(
    `labels: Node ${process.versions.node} cannot run TypeScript or has no node:sqlite. ` +
      'Run `npm ci` with install scripts allowed, which brings a Node that can and has, ' +
      'and start with `npm start`; or use Node 22.18 or newer.',
  );
  process.exitCode = 1;
}
