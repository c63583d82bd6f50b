// A server in TypeScript that is compiled before it starts: a build error keeps the whole suite from running, so each fault has a project
// of its own. Its tests need no browser. The change is a commit.
import process from 'node:process';

const project = {
  '.gitignore': 'node_modules\ntest-results\ndist\n',
  'playwright.config.ts': `
import { defineConfig } from '@playwright/test';
export default defineConfig({
  testDir: 'tests', reporter: 'dot', use: { baseURL: 'http://127.0.0.1:4398' },
  webServer: { command: '"${process.execPath}" node_modules/typescript/bin/tsc && node dist/server.js', url: 'http://127.0.0.1:4398/' },
});`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noImplicitOverride: true,
      noEmitOnError: true,
      module: 'nodenext',
      target: 'es2022',
      types: ['node'],
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
  }),
  'src/money.ts': `export const euros = (cents: number): string => \`€\${(cents / 100).toFixed(2)}\`;

export const withTax = (cents: number): number => Math.round(cents * 1.2);
`,
  'src/order.ts': `export interface Item {
  readonly label: string;
  readonly cents: number;
}

export interface Order {
  readonly id: number;
  readonly items: readonly Item[];
}

export const totalOf = (order: Order): number => order.items.reduce((sum, item) => sum + item.cents, 0);
`,
  'src/store.ts': `import type { Item, Order } from './order.js';

const currency = 'EUR';

function make(id: number, ...items: Item[]): Order {
  return { id, items };
}

const orders = [make(1, { label: 'Pen', cents: 200 }, { label: 'Book', cents: 800 })];

export function load(id: number): Order {
  const order = orders.find((one) => one.id === id);
  if (!order) throw new Error(\`no order \${id} in \${currency}\`);
  return order;
}
`,
  'src/counter.ts': `export class Counter {
  private count = 0;
  title(): string {
    return 'visits';
  }
  add(): number {
    this.count += 1;
    return this.count;
  }
}

export class DailyCounter extends Counter {
  label(): string {
    return 'today';
  }
}
`,
  'src/pages.ts': `import { DailyCounter } from './counter.js';
import { euros, withTax } from './money.js';
import { totalOf } from './order.js';
import { load } from './store.js';

const visits = new DailyCounter();

export async function page(path: string): Promise<string | null> {
  visits.add();
  if (path === '/') return visits.title();
  if (path !== '/total') return null;
  const order = load(1);
  return euros(withTax(totalOf(order)));
}
`,
  'src/server.ts': `import { createServer } from 'node:http';
import { page } from './pages.js';

createServer(async (request, response) => {
  const text = await page(request.url ?? '/');
  response.writeHead(text === null ? 404 : 200).end(text ?? '');
}).listen(4398, '127.0.0.1');
`,
  'tests/total.spec.ts': `import { test, expect } from '@playwright/test';
test('total', async ({ request }) => {
  expect(await (await request.get('/total')).text()).toBe('€12.00');
});`,
};

/** Each change: a file, what it said and what it says; null for a file that is not there. */
const fault = (kind, ...changes) => ({
  kind,
  files: (state) => {
    const files = { ...project };
    if (state === 'was') return files;
    for (const [file, from, to] of changes) {
      if (to === undefined) files[file] = from;
      else if (files[file]?.includes(from)) files[file] = files[file].replaceAll(from, to);
      else throw new Error(`${kind}: ${file} does not say ${from}`);
    }
    return Object.fromEntries(Object.entries(files).filter(([, text]) => text !== null));
  },
});

const asyncLoad = [
  'src/store.ts',
  'export function load(id: number): Order {',
  'export async function load(id: number): Promise<Order> {',
];
const faults = [
  fault('spelling of a variable', ['src/pages.ts', 'totalOf(order)', 'totalOf(ordr)']),
  fault('spelling of a property', ['src/order.ts', 'item.cents', 'item.cent']),
  fault(
    'spelling of an import',
    ['src/pages.ts', '{ euros, withTax }', '{ euros, withTaxes }'],
    ['src/pages.ts', 'withTax(', 'withTaxes('],
  ),
  fault('missing import', ['src/pages.ts', "import { totalOf } from './order.js';\n", '']),
  fault('missing import of a type', ['src/store.ts', '{ Item, Order }', '{ Item }']),
  fault('missing await', asyncLoad),
  fault(
    'await where nothing is async',
    asyncLoad,
    ['src/pages.ts', 'const order = load(1);\n  return euros(withTax(totalOf(order)));', 'return total(1);'],
    [
      'src/pages.ts',
      'const visits',
      'function total(id: number) {\n  const order = await load(id);\n  return euros(withTax(totalOf(order)));\n}\n\nconst visits',
    ],
  ),
  fault('no longer exported', ['src/money.ts', 'export const withTax', 'const withTax']),
  fault('missing this', ['src/counter.ts', 'this.count += 1', 'count += 1']),
  fault('missing override', [
    'src/counter.ts',
    "  label(): string {\n    return 'today';",
    "  title(): string {\n    return 'today';",
  ]),
  fault('missing super', [
    'src/counter.ts',
    "  label(): string {\n    return 'today';\n  }",
    '  constructor(readonly day = 1) {\n    this.day = day;\n  }',
  ]),
];

const traps = [
  // What it did is gone; what is spelt like it does something else, which no test looks at.
  {
    kind: 'trap: taken away beside one like it',
    files: (state) => ({
      ...project,
      'src/notify.ts': `${state === 'was' ? 'export const notifyBuyer = (): void => console.log(1);\n\n' : ''}export const notifyBuyers = (): void => console.log(2);\n`,
      'src/pages.ts': `import { notifyBuyer } from './notify.js';\n${project['src/pages.ts'].replace('visits.add();', 'visits.add();\n  notifyBuyer();')}`,
    }),
  },
  // TypeScript would make a value up.
  fault('trap: a property that nobody knows', [
    'src/order.ts',
    'readonly id: number;',
    'readonly id: number;\n  readonly discount: number;',
  ]),
  {
    kind: 'trap: two modules that export it',
    files: (state) => {
      const pages = project['src/pages.ts'];
      return {
        ...project,
        'src/legacy.ts':
          "import type { Order } from './order.js';\n\nexport const totalOf = (order: Order): number => order.items.length + 999;\n",
        'src/pages.ts':
          state === 'was' ? pages : pages.replace("import { totalOf } from './order.js';\n", ''),
        'tests/total.spec.ts': project['tests/total.spec.ts'].replace("toBe('€12.00')", "toContain('€')"),
      };
    },
  },
];

export const build = { together: false, committed: true, common: {}, faults: [...faults, ...traps] };
