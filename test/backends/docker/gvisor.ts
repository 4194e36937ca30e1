/** What the contract is on gVisor, whichever backend starts it. */
import type { ContractOptions } from '../../../src/testing/index.js';

const noSignals = 'the terminals of gVisor send no signals for keys';

export const gvisorContract: ContractOptions = {
  traits: ['limited-tree'],
  gaps: {
    'input.interrupt': noSignals,
    'input.suspend': noSignals,
    'input.end': 'the terminals of gVisor know no end of input',
    'input.raw-terminal': 'gVisor does not know a terminal as /dev/tty, by which it would be put right',
  },
  sometimes: {
    'shell.syntax-error':
      'bash may abort on gVisor after a command that ends in the middle: "free(): invalid next size"',
    'limits.output': 'the terminals of gVisor may still hold output when the program that wrote it is gone',
    'limits.timeout-ignored-signals':
      'gVisor may take longer to end a program than a command is given to end',
  },
};
