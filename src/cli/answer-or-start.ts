/**
 * The first file of the command line of the package. What needs no program is answered here, from text that the
 * bundler wrote: loading the program takes as long as starting Node.
 */
import { type PreparedAnswers, preparedAnswer } from './prepared-answers.js';

/** The bundler sets them. */
declare const preparedAnswers: PreparedAnswers;

const { stdout, argv } = process;
const answer = preparedAnswer(argv.slice(2), preparedAnswers, stdout.columns);
if (answer === undefined) void import('./start-compiled.js');
else {
  // A reader that has seen enough, such as `head`, is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  stdout.write(answer);
}
