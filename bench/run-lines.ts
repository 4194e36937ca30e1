/** Measures lines one after the other. */
import { holds, type Line, type Measured } from './line.js';

export interface Telling {
  load(name: string): Promise<Line>;
  measured(line: Line, measured: Measured): void;
  failed(name: string, reason: string): void;
}

/** How many figures missed their bar. A line that cannot run here counts as one, and the others still have their say. */
export async function runLines(
  names: readonly string[],
  { load, measured, failed }: Telling,
): Promise<number> {
  let missed = 0;
  for (const name of names) {
    try {
      const line = await load(name);
      const result = await line.measure();
      missed += result.figures.filter((figure) => !holds(figure)).length;
      measured(line, result);
    } catch (error) {
      missed++;
      failed(name, error instanceof Error ? error.message : String(error));
    }
  }
  return missed;
}
