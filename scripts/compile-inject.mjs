// Bundles the code that runs inside Playwright (src/playwright/inject) as CommonJS.
import { bundle } from './bundle.mjs';

const entries = ['reporter', 'worker-output'];

/** Bundles into a folder, which is created if missing. */
export async function compileInject(to) {
  await bundle({
    input: Object.fromEntries(entries.map((name) => [name, `playwright/inject/${name}.ts`])),
    to,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  });
}
