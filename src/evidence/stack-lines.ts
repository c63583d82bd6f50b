/** A line of a stack, as engines of JavaScript print it. */
export const frame = /^\s*at |@\S+:\d+:\d+$/;
const ofPackages =
  /[\\/]node_modules[\\/]|(?:^|[\s(@/])(?:node:|wasm:|node_modules[\\/])|[ (]<anonymous>\)?$|\(index \d+\)|\/\.vite\/deps\/|\(\/usr\/(?:local\/)?(?:lib\/)?go\/|\/go\/pkg\/mod\//;

/** Reduces each stack to its first frames of the project, or else to the topmost frame, and counts the others. */
export function ownFrames(lines: readonly string[], most = Infinity): string[] {
  const result: string[] = [];
  let stack: string[] = [];
  const end = () => {
    const own = stack.filter((line) => !ofPackages.test(line)).slice(0, most);
    const frames = own.length > 0 ? own : stack.slice(0, 1);
    const omitted = stack.length - frames.length;
    // The fields of an error follow its last frame.
    const brace = /\s\{$/.exec(stack.at(-1) ?? '')?.[0] ?? '';
    if (omitted === 0) result.push(...frames);
    else result.push(...frames.map((line) => line.replace(/\s\{$/, '')), `    … and ${omitted} more${brace}`);
    stack = [];
  };
  for (const line of lines) {
    if (frame.test(line)) stack.push(line);
    else {
      end();
      result.push(line);
    }
  }
  end();
  return result;
}
