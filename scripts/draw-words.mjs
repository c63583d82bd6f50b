// Draws comments, names and messages of src/ at random, to be read by somebody who does not know the code:
// `node scripts/draw-words.mjs [count] [seed] [path …]`. The same seed draws the same words from the same sources.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseSync, Visitor } from 'oxc-parser';

const [count = '120', seed = '1', ...roots] = process.argv.slice(2);
const kinds = ['comment', 'name', 'message'];
const found = (roots.length > 0 ? roots : ['src']).flatMap(listFiles).flatMap(readWords);
const random = createRandom(Number(seed));
const drawn = kinds.flatMap((kind, index) => {
  const words = found.filter((word) => word.kind === kind);
  const share = Math.floor((Number(count) + index) / kinds.length);
  return Array.from(
    { length: Math.min(share, words.length) },
    () => words.splice(random(words.length), 1)[0],
  );
});
process.stdout.write(drawn.map(describe).join('\n'));

function listFiles(root) {
  if (statSync(root).isFile()) return [root];
  return readdirSync(root, { recursive: true })
    .map((file) => path.join(root, file))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .sort();
}

function readWords(file) {
  const source = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, source);
  const words = joinLines(comments, source).map(({ start }) => ({ kind: 'comment', start, file, source }));
  const add = (kind, start, text) => words.push({ kind, start, text, file, source });
  const addName = (id) => id?.type === 'Identifier' && add('name', id.start, id.name);
  const addMessage = (start, text) => isProse(text) && add('message', start, text);
  new Visitor({
    FunctionDeclaration: ({ id }) => addName(id),
    MethodDefinition: ({ key }) => addName(key),
    TSMethodSignature: ({ key }) => addName(key),
    TSPropertySignature: ({ key, typeAnnotation }) =>
      /Boolean|Function/.test(typeAnnotation?.typeAnnotation.type ?? '') && addName(key),
    VariableDeclarator: ({ id, init }) => isFunctionOrBoolean(init) && addName(id),
    Literal: ({ start, value }) => typeof value === 'string' && addMessage(start, value),
    TemplateLiteral: ({ start, quasis }) =>
      addMessage(start, quasis.map(({ value }) => value.cooked).join('${…}')),
  }).visit(program);
  return words;
}

/** Joins the line comments of one paragraph. */
function joinLines(comments, source) {
  return comments.filter(({ type, start }, index) => {
    const before = comments[index - 1];
    return type !== 'Line' || before?.type !== 'Line' || source.slice(before.end, start).trim() !== '';
  });
}

/** True for three words in a row, but not for markup, patterns and queries. */
function isProse(text) {
  return /[a-z]{2,}[ ,;:]+[a-z]{2,}[ ,;:]+[a-z]{2,}/i.test(text) && !/^\s*<|\{\d|\(\?|^[A-Z]{4,} /.test(text);
}

function isFunctionOrBoolean(init) {
  return (
    /Function/.test(init?.type) ||
    (init?.type === 'UnaryExpression' && init.operator === '!') ||
    (init?.type === 'BinaryExpression' && /^(?:[=!]==|[<>]=?|in|instanceof)$/.test(init.operator)) ||
    typeof init?.value === 'boolean'
  );
}

function describe({ kind, start, text, file, source }, index) {
  const lines = source.split('\n');
  const at = source.slice(0, start).split('\n').length;
  const context = lines.slice(Math.max(0, at - 3), at + 2).map((line) => `    ${line}`);
  return `${index + 1}. ${kind} ${file}:${at}${text === undefined ? '' : ` ${JSON.stringify(text)}`}\n${context.join('\n')}\n`;
}

/** Mulberry32: a generator with a seed, because Math.random has none. */
function createRandom(state) {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
