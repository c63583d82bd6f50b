import { execFileSync } from 'node:child_process';
import { writeInto } from './agent-workspace.js';
import { tempDir } from './temp-dir.js';

/** The file and line at which the app throws. */
export const thrownAt = 'src/checkout/submit.ts:14';

/** The files of the app, by their path in it. */
export const appFiles: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop", "type": "module" }',
  'index.html': '<!doctype html><title>shop</title><script type="module" src="/src/main.ts"></script>',
  'src/main.ts': `import { first } from 'left-first';
import { submit, type Form } from './checkout/submit';

interface Later {
  readonly form?: Form;
}

const later: Later = { form: {} };
Object.assign(globalThis, { run: () => first([later.form ?? {}], submit) });
`,
  'src/checkout/submit.ts': `export interface Form {
  readonly order?: { readonly id: string };
}

/** Sends a form. */
export function submit(form: Form): string {
  const lines: string[] = [];
  return send(form, lines);
}

/* A function that is not inlined has a frame of its own. */
function send(form: Form, lines: string[]): string {
  const options = { password: 'hunter2-secret' };
  lines.push(form.order!.id, options.password);
  if (lines.length > 3) return send(form, lines.slice(1));
  return lines.join('');
}
`,
  'node_modules/left-first/package.json': '{ "name": "left-first", "type": "module", "main": "index.js" }',
  'node_modules/left-first/index.js': `export function first(list, use) {
  const [one] = list;
  return use(one);
}
`,
};

/** Writes a small TypeScript app with a package, whose global `run()` throws at `thrownAt`. */
export function bundledApp(more: Record<string, string> = {}): string {
  const dir = tempDir('bundled app');
  writeInto(dir, { ...appFiles, ...more });
  return dir;
}

/**
 * Runs a bundle as V8 runs a page's script with this URL, calls its `run()`, and returns the stack of the error that it throws. Uses a
 * process of its own, since the hooks of a test runner change positions.
 */
export function readThrownStack(bundle: string, address: string): string {
  const program = `
    const vm = require('node:vm');
    const context = vm.createContext({});
    const options = { filename: process.argv[1], displayErrors: false };
    new vm.Script(require('node:fs').readFileSync(0, 'utf8'), options).runInContext(context, options);
    try {
      new vm.Script('run()', { filename: new URL('/run.html', process.argv[1]).href }).runInContext(context, options);
    } catch (error) {
      process.stdout.write(error.stack);
    }`;
  const stack = execFileSync(process.execPath, ['-e', program, address], { input: bundle, encoding: 'utf8' });
  if (!stack.includes('\n    at ')) throw new Error('the bundle threw nothing');
  return stack;
}
