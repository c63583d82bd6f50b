/** A stack frame, as JavaScript engines print it. */
export const frame = /^\s*at |@\S+:\d+:\d+$/;
const packageFrame =
  /[\\/]node_modules[\\/]|(?:^|[\s(@/])(?:node:|wasm:|node_modules[\\/])|[ (]<anonymous>\)?$|\(index \d+\)|\/\.vite\/deps\/|\(\/usr\/(?:local\/)?(?:lib\/)?go\/|\/go\/pkg\/mod\//;

/** Reduces each stack to its first frames in the project, or else to the topmost frame; counts the omitted frames. */
export function keepProjectFrames(lines: readonly string[], max = Infinity): string[] {
  const result: string[] = [];
  let stack: string[] = [];
  const flushStack = () => {
    const projectFrames = stack.filter((line) => !packageFrame.test(line)).slice(0, max);
    const frames = projectFrames.length > 0 ? projectFrames : stack.slice(0, 1);
    const omitted = stack.length - frames.length;
    // Node prints an error's fields in braces after its last frame.
    const brace = /\s\{$/.exec(stack.at(-1) ?? '')?.[0] ?? '';
    if (omitted === 0) result.push(...frames);
    else result.push(...frames.map((line) => line.replace(/\s\{$/, '')), `    … and ${omitted} more${brace}`);
    stack = [];
  };
  for (const line of lines) {
    if (frame.test(line)) stack.push(line);
    else {
      flushStack();
      result.push(line);
    }
  }
  flushStack();
  return result;
}
