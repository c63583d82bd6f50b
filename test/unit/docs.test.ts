import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { commandNames, createProgram } from '../../src/cli/program.js';

const root = path.resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const pages = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md', ...docs()];
/** A requirement that is not built, whose commands do not exist yet. */
const notBuilt = /^- [A-Z]{2}-\d+ \(not built\).*\n(?: {2}.*\n)*/gm;

function docs(): string[] {
  return readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
}

function read(page: string): string {
  return readFileSync(path.join(root, page), 'utf8');
}

/** The lines of all code blocks, and the spans of code between them. */
function codeOf(page: string): string[] {
  const blocks = /^ *```.*\n(?<block>[^]*?)^ *```/gm;
  const text = read(page).replaceAll(notBuilt, '');
  const lines = [...text.matchAll(blocks)].flatMap((found) => (found.groups?.['block'] ?? '').split('\n'));
  const spans = [...text.replaceAll(blocks, '').matchAll(/`(?<span>[^`]+)`/g)];
  return [...lines, ...spans.map((found) => found.groups?.['span'] ?? '')];
}

/** Each self-heal command, and each with one of its flags, such as `self-heal run --json`; arguments for Playwright and comments are left out. */
function commandsIn(page: string): string[] {
  return codeOf(page).flatMap((code) => {
    const [, name, rest = ''] = /(?:^|[ :$]|npx )self-heal ([a-z]+)(?![^ ])(.*)/s.exec(code) ?? [];
    if (name === undefined) return [];
    const flags = rest.replace(/ (?:--|#|\|) .*/s, '').match(/(?<= |\/|\[)--?[a-z][a-z-]*/g) ?? [];
    return [`self-heal ${name}`, ...flags.map((flag) => `self-heal ${name} ${flag}`)];
  });
}

const programs = await Promise.all(commandNames.map((name) => createProgram([name])));
const commands = programs.flatMap((one, at) =>
  one.commands.filter((command) => command.name() === commandNames[at]),
);

function exists(mention: string): boolean {
  const [, name, flag] = mention.split(' ');
  const command = commands.find((one) => one.name() === name);
  const options = [command, ...(command?.commands ?? [])].flatMap((one) => one?.options ?? []);
  return (
    command !== undefined &&
    (flag === undefined || options.some(({ short, long }) => flag === short || flag === long))
  );
}

it.each(pages)('PJ-2 %s names commands and flags that exist', (page) => {
  expect(commandsIn(page).filter((mention) => !exists(mention))).toEqual([]);
});

it('PJ-2 finds the commands of a page, and reports those that do not exist', () => {
  expect(commandsIn('README.md')).toEqual(
    expect.arrayContaining(['self-heal run', 'self-heal report --open']),
  );
  expect(['self-heal rum', 'self-heal run --jsno', 'self-heal run --json'].map(exists)).toEqual([
    false,
    false,
    true,
  ]);
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (?<title>.+)$/gm)].map((found) =>
    (found.groups?.['title'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

it.each(pages)('PJ-2 %s links to headings that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?<to>[^)#\s:]*)#(?<anchor>[^)\s]+)\)/g)];
  const broken = links.filter(({ groups: { to = '', anchor = '' } = {} }) => {
    const target = to === '' ? page : path.join(path.dirname(page), to);
    return !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

it.each(pages)('PJ-2 %s names npm scripts and links to files that exist', (page) => {
  const named = [...read(page).matchAll(/npm run (?:-[^ ]+ )*(?<name>[a-z:]+)/g)].map(
    (found) => found.groups?.['name'] ?? '',
  );
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const links = [...read(page).matchAll(/\]\((?<to>[^)#\s]+)/g)].map((found) => found.groups?.['to'] ?? '');
  const local = links.filter((to) => !/^[a-z]+:/.test(to));
  expect(local.filter((to) => !existsSync(path.join(root, path.dirname(page), to)))).toEqual([]);
});
