/** What our own scripts wrote as `mark: {json}` among whatever else stands in the output. */
export function markedLines(output: string, mark: string): unknown[] {
  return output.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith(`${mark}: `)) return [];
    try {
      return [JSON.parse(line.slice(mark.length + 2)) as unknown];
    } catch {
      return [];
    }
  });
}
