// Bundles src/ into dist/, and writes the JSON Schema of agents.yaml and the licences of the bundled packages. `npm run check` checks types.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import license from 'rollup-plugin-license';
import { bundle } from './bundle.mjs';
import { compileInject } from './compile-inject.mjs';
import { bundleSrc } from './bundle-src.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const notices = license({ thirdParty: { output: path.join(dist, 'THIRD-PARTY-NOTICES.txt') } });

rmSync(dist, { recursive: true, force: true });
// Chunks lie flat in dist/, so that src/own-files.ts finds the package from any of them.
await bundle({
  input: {
    main: 'cli/main.ts',
    index: 'index.ts',
    'after-kill': 'run/after-kill.ts',
    'guard-process': 'guard/guard-process.ts',
    'code-fix-process': 'clients/fixer/code-fix-process.ts',
  },
  to: dist,
  plugins: [notices],
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // Every run loads these modules, so they form two files instead of a hundred.
  codeSplitting: { groups: [chunkOf('cli', 'cli/main.ts'), chunkOf('run', 'cli/run.ts')] },
});
await compileInject(path.join(dist, 'playwright', 'inject'));
await bundle({
  input: { main: 'clients/ui/page/main.ts' },
  to: path.join(dist, 'clients', 'ui', 'page'),
  format: 'iife',
  entryFileNames: '[name].js',
});
for (const name of ['index.html', 'icon.svg']) copy(`clients/ui/page/${name}`);
copy('outputs/html/page.css');
copy('clients/init/templates');
const { createAgentsJsonSchema } = await import(await bundleSrc('config/schema.ts'));
const schema = `${JSON.stringify(createAgentsJsonSchema(), null, 2)}\n`;
writeFileSync(path.join(root, 'schema', 'agents.schema.json'), schema);

// The library's types, with the zod types that they name. Only the package needs them, and they take longer than all the rest.
if (process.argv.includes('--types')) {
  const { dts } = await import('rolldown-plugin-dts');
  const options = { emitDtsOnly: true, resolve: ['zod'], compilerOptions: { rootDir: 'src' } };
  // A `@ts-ignore` holds for the next line, and the plugin prints what follows on the same one.
  const ignoring = { name: 'ts-ignore', renderChunk: breakAfterTsIgnore };
  await bundle({ input: { index: 'index.ts' }, to: dist, plugins: [dts(options), ignoring] });
}

function breakAfterTsIgnore(code) {
  return code.replaceAll(/\/\*\* @ts-ignore\b[^*]*\*\//g, '\n$&\n');
}

/** A chunk with a module and all that it imports, except by `import()`. */
function chunkOf(name, file) {
  const modules = new Set();
  const add = (id, context) => {
    if (modules.has(id)) return;
    modules.add(id);
    for (const one of context.getModuleInfo(id)?.importedIds ?? []) add(one, context);
  };
  const nameOf = (id, context) => {
    add(path.join(root, 'src', file), context);
    return modules.has(id) ? name : null;
  };
  return { name: nameOf, debugName: name };
}

function copy(name) {
  cpSync(path.join(root, 'src', name), path.join(dist, name), { recursive: true });
}
