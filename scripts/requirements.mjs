// Keeps docs/requirements.md and the tests consistent: a test's title begins with the ids of the requirements that it shows.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

const item = /^- (?<id>[A-Z]{2}-\d+)(?<open> \(not built\))?/;
/** A longer title names two behaviors, or says too much. */
const MOST_CHARACTERS = 100;
const leadingIds = /^[A-Z]{2}-\d+(?:,? [A-Z]{2}-\d+)*/;

/** Reads the requirements of a document. Each is a list item: `- CL-1 …`, or `- BL-1 (not built) …`. */
export function readRequirements(markdown) {
  return markdown.split('\n').flatMap((text, index) => {
    const { id, open } = item.exec(text)?.groups ?? {};
    return id === undefined ? [] : [{ id, built: open === undefined, line: index + 1 }];
  });
}

/** Reads the tests of a file: `it('…', …)`, `it.each(rows)('…', …)`, also with templates. Interpolated parts of a title become `%s`. */
export function readTests(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const tests = [];
  new Visitor({
    CallExpression({ callee, arguments: [title, ...rest], start }) {
      if (!isTest(callee) || !rest.some(({ type }) => /Function/.test(type))) return;
      tests.push({ file, line: source.slice(0, start).split('\n').length, title: textOf(title) });
    },
  }).visit(program);
  return tests;
}

/** Lists the mismatches between requirements and tests, one line each, which begins with the place. */
export function findMismatches(requirements, { document, tests }) {
  const titles = tests.map(({ file, line, title }) => ({
    place: `${file}:${line}`,
    ids: idsOf(title),
    title,
  }));
  const known = new Set(requirements.map(({ id }) => id));
  const shown = new Set(titles.flatMap(({ ids }) => ids));
  return [
    ...requirements
      .filter(({ id, built }) => built && !shown.has(id))
      .map(({ id, line }) => `${document}:${line}: no test has a title that begins with ${id}`),
    ...requirements
      .filter(({ id, built }) => !built && shown.has(id))
      .map(({ id, line }) => `${document}:${line}: ${id} has a test, and is said not to be built`),
    ...titles
      .filter(({ title }) => title.length > MOST_CHARACTERS)
      .map(
        ({ place, title }) =>
          `${place}: the title has ${title.length} characters, ${MOST_CHARACTERS} at most`,
      ),
    ...titles.flatMap(({ place, ids }) =>
      ids.length === 0
        ? [`${place}: the title does not begin with the id of a requirement`]
        : ids.filter((id) => !known.has(id)).map((id) => `${place}: ${id} is not in ${document}`),
    ),
  ];
}

function idsOf(title) {
  return leadingIds.exec(title)?.[0].split(/,? /) ?? [];
}

/** Whether a callee is `it`, `test`, `it.each(rows)`, `test.runIf(x)` or the like; `test.describe` and `test.step` define no tests. */
function isTest(callee) {
  if (callee.type === 'CallExpression') return isTest(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return isTest(callee.tag);
  if (callee.type === 'MemberExpression')
    return isTest(callee.object) && !['describe', 'step'].includes(callee.property.name);
  return callee.type === 'Identifier' && (callee.name === 'it' || callee.name === 'test');
}

function textOf(title) {
  if (title.type === 'Literal') return String(title.value);
  if (title.type === 'TemplateLiteral') return title.quasis.map(({ value }) => value.cooked).join('%s');
  if (title.type === 'BinaryExpression') return textOf(title.left) + textOf(title.right);
  return '%s';
}

function check() {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  const document = 'docs/requirements.md';
  const tests = readdirSync(path.join(root, 'test'), { recursive: true })
    .filter((file) => /\.(?:test|spec)\.ts$/.test(file))
    .map((file) => path.posix.join('test', file.replaceAll(path.sep, '/')))
    .flatMap((file) => readTests(file, readFileSync(path.join(root, file), 'utf8')));
  const requirements = readRequirements(readFileSync(path.join(root, document), 'utf8'));
  const mismatches = findMismatches(requirements, { document, tests });
  process.stdout.write(mismatches.map((line) => `${line}\n`).join(''));
  process.exitCode = mismatches.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) check();
