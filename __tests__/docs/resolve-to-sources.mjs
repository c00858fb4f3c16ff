// Loaded before an example runs: the names of the package lead to src/, so that no build is needed
// and an example is never run against an old one.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const root = new URL('../../', import.meta.url);
const { name, exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

registerHooks({
  resolve(specifier, context, nextResolve) {
    const built = exports[specifier.replace(name, '.')]?.import?.default;
    const isOurs = specifier === name || specifier.startsWith(`${name}/`);
    if (!isOurs || built === undefined) return nextResolve(specifier, context);
    const source = built.replace('./dist/esm/', 'src/').replace(/\.js$/, '.ts');
    return nextResolve(new URL(source, root).href, context);
  },
});
