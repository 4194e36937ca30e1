/** Arithmetic that a model should not do in its head. */
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { checkOptions } from './toolkit-options.js';

const pair = z.object({ a: z.number(), b: z.number() });

/** Names of the tools. */
export interface MathToolkitOptions {
  /** `camel`: the five tools of CAMEL's MathToolkit, which round to `decimal_places`. */
  readonly names?: 'plain' | 'camel';
}

/** Makes tools for arithmetic. */
export function mathToolkit(options: MathToolkitOptions = {}): FunctionTool[] {
  checkOptions('mathToolkit', options, ['names']);
  if (options.names === 'camel') return camelTools();
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

function camelTools(): FunctionTool[] {
  const places = z.int().min(0).max(15);
  const named = (
    name: string,
    description: string,
    compute: (a: number, b: number, places: number) => number | string,
    parameters: z.ZodObject = pair,
  ) =>
    tool({
      name,
      description,
      parameters,
      readOnly: true,
      execute: ({ a, b = 0, decimal_places: digits = 0 }) => compute(Number(a), Number(b), Number(digits)),
    }) as FunctionTool;
  const rounding = pair.extend({ decimal_places: places.default(2) });
  const round = (value: number, digits: number) => Number(value.toFixed(digits));
  return [
    named('math_add', 'Adds two numbers.', (a, b) => a + b),
    named('math_subtract', 'Subtracts b from a.', (a, b) => a - b),
    named('math_multiply', 'Multiplies two numbers.', (a, b, digits) => round(a * b, digits), rounding),
    named(
      'math_divide',
      'Divides a by b.',
      // CAMEL's client expects a text here, not a failure.
      (a, b, digits) => (b === 0 ? 'Error: Cannot divide by zero.' : round(a / b, digits)),
      rounding,
    ),
    named(
      'math_round',
      'Rounds a number to so many decimal places.',
      (a, _b, digits) => round(a, digits),
      z.object({ a: z.number(), decimal_places: places.default(0) }),
    ),
  ];
}
