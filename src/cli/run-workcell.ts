import { CommanderError } from 'commander';
import { programFor } from './program-for.js';
import { withSubcommands } from './program-of.js';
import { reportFailure } from './report.js';

/**
 * Runs the command that the arguments of this process name. Loads only what every start needs; a command loads its
 * own parts when it runs.
 */
export async function runWorkcell(): Promise<void> {
  // A reader that has seen enough, such as `head`, is no failure; the command that writes has its own handler for it.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const words = process.argv.slice(2);
  const create = await programFor(words);
  const program = create();
  try {
    if (words[0] === 'help') (await import('./meant-command.js')).checkHelp(program, words);
    // Finding a backend takes time, so do it only for commands that can name one or look for cells of all of them.
    const mayName = words.some((word) => /^-.*b/.test(word));
    if (mayName || words[0] === 'cells') {
      const { addBackendOptions } = await import('./backend-options.js');
      await addBackendOptions(program, words, create);
    }
    await program.parseAsync();
  } catch (error) {
    // Help and version end the same way as mistakes; they carry the exit code 0.
    if (!(error instanceof CommanderError && error.exitCode === 0)) {
      const { meant } = await import('./meant-command.js');
      process.exitCode = await reportFailure(
        meant(program, error),
        withSubcommands(program).some((command) => command.opts().json === true),
      );
    }
  }
  // An open handle that a broken cell left behind must not keep the person waiting.
  process.stdout.write('', () => process.exit());
}
