import { constantOf, nameOf, propertyOf } from '../../code/expressions.js';
import { programsIn, template } from '../../code/scripts.js';
import { placeOf, type SourceFile } from '../../code/source-file.js';
import { childrenOf, nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import { chainOf, rootName } from '../../code/test-object.js';
import type { Change } from '../change.js';
import { isUnparsable } from '../edit.js';
import type { Judged } from '../findings.js';
import { type Rule, violationOf } from '../rules.js';
import { wordsIn } from '../without-blamed.js';
import { type Pattern, type Sign, signsOfText, without } from './app.js';
import { refusalsElsewhere } from './other-languages.js';

const rule: Rule = 'restraint-removed';

/**
 * What an app refuses (a thrown error, a failure status, a validator, a guard of a route, a constraint of a table) is counted over all files
 * of a change, so that a check may move, or become another one: with fewer of them, what failed is let pass (HN-3). Several that became one
 * somewhere else are unified; a file that goes takes its own with it; what broke the test may go, but not along with what it replaced. A
 * check that may go for one of these reasons is a note, unless the blamed change renamed it.
 */
export function judgeRestraints({ request: { broke = [] }, ofApp }: Change): Judged {
  const states = ofApp
    .filter((edit) => !isUnparsable(edit))
    .map(({ path, before, after, green }) => {
      const texts = [before?.text, after?.text, green ?? before?.text];
      const [olds = [], news = [], greens = []] = texts.map((text) => restraintsIn(path, text ?? ''));
      const all = after ? without(olds, news) : [];
      const brought = without(olds, greens).slice(0, Math.max(0, olds.length - greens.length));
      return { all, gone: all.filter((one) => !brought.includes(one)), come: without(news, olds) };
    });
  const come = states.flatMap((one) => one.come);
  const isLess = states.reduce((sum, { gone }) => sum + gone.length, 0) > come.length;
  const violations = states.flatMap(({ gone, come: own }) => {
    const [first] = isLess && gone.length > own.length ? without(gone, come) : [];
    return first ? [violationOf(rule, { ...first, before: first.source, detail: first.text })] : [];
  });
  const [was, is] = [broke.flatMap(({ old }) => old), broke.flatMap(({ now }) => now)].map(wordsIn);
  const isRenamed = ({ text }: Sign) => [...wordsIn([text])].some((word) => was?.has(word) && !is?.has(word));
  const gone = without(
    states.flatMap(({ all }) => all),
    come,
  ).filter((one) => !isRenamed(one));
  const told = ({ source }: Sign) => `\`${source}\` was removed, or replaced by another check`;
  const notes = gone.map((one) => ({ file: one.file, line: null, says: told(one) }));
  return { violations, notes };
}

/** Constraints in languages other than JavaScript. */
const patterns: readonly Pattern[] = [
  refusalsElsewhere,
  [rule, /(?<!drop\s+)\bnot\s+null\b|\bunique\b|\bcheck\s*\(|\breferences\b|\bcreate\s+policy\b/i, /\.sql$/],
  [rule, /@@?unique\b|^\s+\w+\s+[A-Z]\w*(?=\s|$)/m, /\.prisma$/],
  [rule, /\s(?:required|pattern|(?:min|max)(?:length)?)(?=[\s=>/])/, template],
];

function restraintsIn(path: string, text: string): Sign[] {
  const refusals = programsIn(path, text).flatMap((source) => refusalsIn(source.program, source));
  return [...signsOfText(path, text, patterns), ...refusals];
}

/** Functions that refuse something, or decide whether it is allowed. */
const guards =
  /^(?:reject|notFound|forbidden|unauthorized|invariant|helmet|jwtVerify|timingSafeEqual|createHmac|(?:un)?authorized|rateLimit\w*|(?:safeParse|parse)(?:Async)?|\w+Or(?:Throw|Fail|404)|(?:use|with)?(?:csrf|xsrf|cors|require|ensure|assert|verify|authenticate|authori[sz]e|validat\w*?|sanitize|guards?|protect)(?:[A-Z]\w*)?)$/i;
/** Methods in a chain that describe what is valid: in schemas of zod, yup, joi and express-validator, and of tables. */
export const constraints =
  /^(?:notNull|unique|references|int|min|max|email|url|uuid|regex|nonempty|positive|nonnegative|refine|superRefine|required|is(?:Float|Int|Email|URL|UUID|Length|In|ISO8601|Numeric|Alpha\w*|String|Number|Boolean|Date\w*|Enum)|matches|length|check)$/i;
/** Objects whose own methods, such as `JSON.parse`, do not count as refusals. */
const builtIn = /^(?:Math|JSON|Date|Number|URL|path|console|Promise|z|dotenv|require|cookie)$/;
/** Attributes of form fields, and keys of schemas that are written as objects. */
const attributes = /^(?:required|unique|pattern|match|validate|(?:min|max)(?:Length)?)$/i;

/** Nodes that make a refusal conditional. A `throw` that every request reaches is the fault itself. */
const deciding = /^(?:If|Conditional|Logical|Switch)/;
const ofError = /^(?:e|err|error|failure)$/;
/** Answers with a status from 400 to below this number are refusals (0: none). Outside of error handlers, 500 and above are the fault itself. */
type Failing = 0 | 500 | 600;

/** Finds refusals. Each counts once, whatever is nested in it; only constraints of one chain count separately. */
function refusalsIn(node: SyntaxNode, source: SourceFile, below: Failing = 0): Sign[] {
  const handles =
    node.type === 'CatchClause' || nodesIn(node, 'params').some((one) => ofError.test(nameOf(one) ?? ''));
  const failing = handles ? 600 : below || (deciding.test(node.type) ? 500 : 0);
  const text = refusalOf(node, failing);
  const found = text === null ? [] : [{ ...placeOf(source, node), rule, text }];
  const isWhole = text !== null && !constraints.test(text);
  const inside = isWhole ? [] : childrenOf(node);
  return [...found, ...inside.flatMap((one) => refusalsIn(one, source, failing))];
}

function refusalOf(node: SyntaxNode, failing: Failing): string | null {
  if (node.type === 'ThrowStatement') return failing ? 'throw' : null;
  const callee = nodeIn(node, 'callee');
  if (!callee) return attributeOf(node);
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const isForeign = builtIn.test(nameOf(rootName(callee)) ?? '');
  if (isForeign && (chainOf(callee).length < 2 || name === 'parse')) return null;
  if (callee.type === 'MemberExpression' && constraints.test(name)) return name;
  const args = nodesIn(node, 'arguments').map((one) => nameOf(one) ?? '');
  const handed = [name, ...args].find((one) => guards.test(one));
  const fails = failing && (name === 'next' ? args.length > 0 : failsBy(node, name, failing));
  return handed ?? (fails ? name : null);
}

/** Returns the constraint that an attribute or a key sets: `required`, `max={9}`, `{ required: true, max: 9 }`. Destructuring a key sets none. */
function attributeOf(node: SyntaxNode): string | null {
  const isKey = node.type === 'Property' && written.test(nodeIn(node, 'value')?.type ?? '');
  const label = nodeIn(node, isKey ? 'key' : 'name');
  const name = isKey || node.type === 'JSXAttribute' ? String(label?.['name']) : '';
  return attributes.test(name) && constantOf(nodeIn(node, 'value') ?? node) !== false ? name : null;
}

const written = /Literal$|^(?:Array|Object)Expression$|Function/;

const answering =
  /^(?:json|send|sendStatus|status|code|text|html|body|end|writeHead|error|fail|Response|redirect|createError|HTTPException|set)$/;

/** Whether a call answers with a failure status or with the error itself, or redirects to a login page. */
function failsBy(node: SyntaxNode, name: string, below: number): boolean {
  const args = nodesIn(node, 'arguments');
  const isRefusal = ({ type, value }: SyntaxNode) =>
    type === 'Literal' &&
    ((Number(value) >= 400 && Number(value) < below) ||
      (name === 'redirect' && /log-?in|sign-?in|auth|denied/i.test(String(value))));
  const isError = args.some((one) => ofError.test(nameOf(one) ?? ''));
  return answering.test(name) && (isError || args.flatMap(nodesOf).some(isRefusal));
}
