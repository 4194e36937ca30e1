/** Arithmetic that a model should not do in its head. */
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';

const pair = z.object({ a: z.number(), b: z.number() });

/** Makes tools for arithmetic. */
export function mathToolkit(): FunctionTool[] {
  const binary = (name: string, description: string, compute: (a: number, b: number) => number) =>
    tool({
      name,
      description,
      parameters: pair,
      returns: z.number(),
      readOnly: true,
      execute: ({ a, b }) => compute(a, b),
    }) as FunctionTool;
  return [
    binary('add', 'Adds two numbers.', (a, b) => a + b),
    binary('subtract', 'Subtracts b from a.', (a, b) => a - b),
    binary('multiply', 'Multiplies two numbers.', (a, b) => a * b),
    binary('divide', 'Divides a by b.', (a, b) => {
      if (b === 0) throw new Error('Division by zero has no result.');
      return a / b;
    }),
    tool({
      name: 'round',
      description: 'Rounds a number to so many decimal places.',
      parameters: z.object({ a: z.number(), places: z.int().min(0).max(15).default(0) }),
      returns: z.number(),
      readOnly: true,
      execute: ({ a, places }) => Number(a.toFixed(places)),
    }) as FunctionTool,
  ];
}
