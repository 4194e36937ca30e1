/** Programs that a test's own runtime starts come from the build of this run. */
import { pathToFileURL } from 'node:url';
import { usePrograms } from '../src/backends/programs.js';
import { builtFile } from './built-file.js';

usePrograms(pathToFileURL(builtFile('/')));
