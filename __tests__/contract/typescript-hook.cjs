// Lets a plain `node` run the sources, on every version of Node: `node -r <this> -e "require(…)"`.
// What was compiled is kept by its content: loading the compiler takes longer than most tests.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const CACHE = join(__dirname, '../../.temp/compiled');
mkdirSync(CACHE, { recursive: true });

require.extensions['.ts'] = (module, path) => {
  const source = readFileSync(path, 'utf8');
  const cached = join(CACHE, `${createHash('sha256').update(source).digest('hex')}.js`);
  module._compile(readOr(cached, () => compile(source)), path);
};

function compile(source) {
  const { ModuleKind, ScriptTarget, transpileModule } = require('typescript');
  const compilerOptions = {
    module: ModuleKind.CommonJS,
    target: ScriptTarget.ES2023,
    esModuleInterop: true,
  };
  return transpileModule(source, { compilerOptions }).outputText;
}

function readOr(path, make) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    const text = make();
    // Several processes may be at it: each moves a whole file into place.
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
    return text;
  }
}
