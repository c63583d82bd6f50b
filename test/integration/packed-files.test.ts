import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

it('PJ-2 the package contains all files that README and its own pages link to', async () => {
  const { stdout } = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
  const files = packed?.files.map((file) => file.path) ?? [];
  const pages = files.filter((file) => /^(?:README|docs\/[\w-]+)\.md$/.test(file));
  expect(pages).toContain('docs/agents.md');
  const missing = pages.flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)]
      .map(([, target = '']) => path.posix.join(path.posix.dirname(page), target))
      .filter((target) => !files.includes(target))
      .map((target) => `${page} → ${target}`),
  );
  expect(missing).toEqual([]);
});
