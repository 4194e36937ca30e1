import { answer } from './claude-program.mjs';
import { last, steps } from './steps.mjs';

await answer(async (_tools, call) => {
  for (const { name, args } of steps) await call(name, args);
  return last;
});
