import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { mapEvidence } from '../../../src/evidence/map-evidence.js';
import { MissingEvidence } from '../../../src/evidence/bounded-text.js';
import { anEvidence } from '../../rig/builders.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

const pageUrl = 'http://localhost:3000/';
const thrown = 'TypeError: x';

describe('EV-6: code in compiled languages', () => {
  const tasks = 'src/main/java/com/shop/Tasks.java';
  const files = {
    [tasks]: 'one\ntwo\nthree\n',
    'target/generated/com/shop/Tasks.java': '',
    'src/main/java/com/shop/old/Tasks.java': '',
    'api/main.go': 'one\ntwo\nthree\n',
    'api/vendor/pq/conn.go': '',
    'src/List.java': '',
  };

  function mappedServer(serverOutput: string, written: Record<string, string> = files) {
    const root = tempDir();
    writeInto(root, written);
    const evidence = anEvidence({ rootDir: root, serverOutput: serverOutput.replaceAll('<root>', root) });
    return mapEvidence(evidence, { root, pageUrl, scripts: [] }, new MissingEvidence());
  }

  it.each([
    [
      'a stack of the JVM, by its package',
      'at com.shop.Tasks.all(Tasks.java:3)',
      `at com.shop.Tasks.all(${tasks}:3)`,
    ],
    [
      'a stack of the JVM, in its module',
      'at app//com.shop.Tasks$1.run(Tasks.java:3)',
      `at app//com.shop.Tasks$1.run(${tasks}:3)`,
    ],
    [
      'a library of the JVM, not a file of that name',
      'at java.base/java.util.List.of(List.java:3)',
      'at java.base/java.util.List.of(List.java:3)',
    ],
    ['a stack of Go', '\t<root>/api/main.go:3 +0x1d', '\tapi/main.go:3 +0x1d'],
    [
      'a compiler that ran in a folder of the project',
      './main.go:3:1: undefined: x',
      'api/main.go:3:1: undefined: x',
    ],
    ['a path that two files may have', 'shop/Cart.java:3: error: no', 'shop/Cart.java:3: error: no'],
  ])('EV-6 finds the file that is named by %s', (_, said, expected) => {
    const two = { 'a/shop/Cart.java': '', 'b/shop/Cart.java': '' };
    expect(mappedServer(said, { ...files, ...two }).serverOutput).toBe(expected);
  });

  it('EV-6 keeps the lines around the position', () => {
    expect(mappedServer('\t<root>/api/main.go:2 +0x1d').sources).toEqual([
      {
        at: 'api/main.go:2',
        generated: 'api/main.go:2',
        snippet: '  1 | one\n> 2 | two\n  3 | three\n  4 |',
      },
    ]);
  });

  it('EV-6 names the source of a script that the build only copied', () => {
    const root = tempDir();
    const served = { 'index.html': '', 'app.js': 'one\ntwo\nthree\n' };
    const copies = ['src/main/resources/static', 'target/classes/static'];
    for (const folder of copies)
      writeInto(
        root,
        Object.fromEntries(Object.entries(served).map(([name, text]) => [`${folder}/${name}`, text])),
      );
    const fetched = tempDir();
    writeInto(fetched, served);
    const stack = `${thrown}\n    at f (${pageUrl}app.js:3:1)`;
    const evidence = anEvidence({
      rootDir: root,
      console: [{ time: 0, type: 'pageerror', text: thrown, location: '', stack }],
    });
    const scripts = [{ url: `${pageUrl}app.js`, file: path.join(fetched, 'app.js'), map: null }];
    const mapped = mapEvidence(evidence, { root, pageUrl, scripts }, new MissingEvidence());
    expect(mapped.console[0]?.stack?.split('(')[1]).toBe('src/main/resources/static/app.js:3:1)');
  });
});
