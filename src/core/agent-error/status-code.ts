/** What precedes a number that is not a status: a line, a port, a position (`chunk.js:404`, `line 503`, `port 4290`). */
const before = String.raw`(?<![\w.:/#$-])(?<!\b(?:lines?|ports?|col|column|pid|row|page|chunk|byte|at)[ :=#]{1,2})`;
/** What follows a number that is a quantity or part of a longer one (`429 ms`, `503 tests`, `4.29`, `500:12`). */
const behind = String.raw`(?![\w%/-]|[.,:]\d| ?(?:ms|s|secs?|seconds?|minutes?|hours?|days?|kb|mb|gb|bytes|tokens?|tests?|lines?|files?|errors?|times|characters|chars|px|items?|records?|rows?)\b)`;
/** `status:429`, `code=429`, `(429)` and `HTTP/1.1 429` are statuses whatever surrounds them. */
const named = String.raw`(?<=\b(?:status|code|http|error)["']?[:=]["']?)`;

/** A pattern that finds these numbers as whole status codes, and not inside or beside other numbers (AG-6). */
export function statusCode(...codes: readonly number[]): string {
  const any = `(?:${codes.join('|')})`;
  return `(?:${before}${any}${behind}|${named}${any}(?!\\d))`;
}
